import { writeFile } from "node:fs/promises";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import type { Conflict, Outcome } from "../../fleet/salvage/conflicts.ts";
import type { SalvageSource } from "../../fleet/salvage/findSalvage.ts";
import type { SalvageReport } from "../../fleet/salvage/salvage.ts";
import { createStoredTypes } from "../../model/storedTypes.ts";
import { compact } from "../../util/compact.ts";
import { formatNumber, plural } from "../../util/format.ts";
import { codeOfInterrupt, INTERRUPTED } from "../arguments.ts";
import {
	argument,
	command,
	flag,
	option,
	type Result,
	YES,
} from "../command.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { isConfirmed, withFleet } from "../fleetCommand.ts";
import { createProgressLine } from "../progress.ts";

/** It was brought back, but not all of it. */
const LEFT = 3;

export const { usage, run } = command({
	summary:
		"Brings back what a dead primary had and its replica never got, once its disk is back.",
	arguments: { host: argument("HOST") },
	options: {
		dryRun: flag("only say what would be brought back"),
		newer: flag(
			"where an object was changed on both sides, the greater version wins; without it, what is served stays",
		),
		conflicts: option(
			"FILE",
			"where to write what was changed on both sides, as lines of JSON (default conflicts-HOST.ndjson)",
		),
		yes: YES,
		noVerify: flag("do not verify and repair the shards afterwards"),
	},
	details:
		"HOST is the old primary that hosts promote --dead gave up, host:port. It reads from the binary log of HOST the transactions that the new primary never had, fences HOST, and writes row by row: absent objects under their own ids, edges by version, outbox entries as deliveries. It can be interrupted, and run again. Afterwards HOST is rebuilt by replicas add.",
	exitCodes: {
		1: "refused, or an error: run it again",
		3: "some of it could not be brought back yet, or was changed on both sides, or the shards are not verified",
		...INTERRUPTED,
	},
	async run(given, context) {
		const config = readConfig(context.env);
		// Loaded on demand: the help does not need them.
		const { findSalvage } = await import("../../fleet/salvage/findSalvage.ts");
		const source = await withFleet(context, (fleet) =>
			findSalvage(fleet, given.host),
		);
		if (source.faults.length > 0) {
			throw new CorkboardError("CONFLICT", source.faults.join("\n"));
		}
		const question = `${source.host} is fenced, and what ${source.successor} lacks of it is written there.`;
		if (!given.dryRun && !(await isConfirmed(context, given, question))) {
			return 1;
		}
		const signal = context.interruptSignal();
		await using corkboard = await openForCommand(
			context,
			config,
			given.dryRun ? "readOnly" : "readWrite",
		);
		if (!given.dryRun) await fence(source, context);
		const { salvage } = await import("../../fleet/salvage/salvage.ts");
		const progress = createProgressLine(context);
		try {
			const report = await salvage(
				{
					...{ store: corkboard.store, environment: context.env, signal },
					...{ newer: given.newer, isDryRun: given.dryRun },
					verifying: given.noVerify
						? null
						: { types: createStoredTypes(corkboard.schema) },
					onStep: (what) => progress.update(what),
				},
				source,
			);
			progress.end();
			return await result(source, report, given);
		} catch (thrown) {
			if (!signal.aborted) throw thrown;
			progress.end();
			return {
				lines: [],
				notes: ["interrupted before the end: run it again"],
				code: codeOfInterrupt(signal),
			};
		}
	},
});

/** Nobody writes to it while it is read, nor afterwards. */
async function fence(
	{ url, isFenced }: SalvageSource,
	{ env }: CommandContext,
): Promise<void> {
	if (isFenced) return;
	const { FleetServer } = await import("../../fleet/server/fleetServer.ts");
	await using server = new FleetServer(url, env);
	await server.fence();
}

async function result(
	source: SalvageSource,
	report: SalvageReport,
	given: { readonly dryRun: boolean; readonly conflicts: string | undefined },
): Promise<Result> {
	const { host, successor, operation, missing } = source;
	const { objects, edges, lookups, entries, unreadable, verified } = report;
	const conflicts = [objects, edges, lookups].flatMap(
		(outcome) => outcome.conflicts,
	);
	const file =
		given.conflicts ?? `conflicts-${host.replaceAll(/[^\w.-]/g, "-")}.ndjson`;
	if (conflicts.length > 0) await writeConflicts(file, conflicts);
	const isLeft =
		conflicts.some(({ kept }) => kept === "current") ||
		entries.failures.length + unreadable.length > 0 ||
		(verified !== null && !verified.clean);
	const counted = ({ lost, back, there, conflicts: both }: Outcome) => ({
		...{ lost, back, there },
		conflicts: both.length,
	});
	return {
		value: {
			...{ host, successor, operation, dryRun: given.dryRun },
			...{ gtids: missing, transactions: report.transactions },
			...{ from: report.from, until: report.until },
			objects: counted(objects),
			edges: counted(edges),
			lookups: counted(lookups),
			...{ entries, unreadable },
			...{ shards: report.shards, modShards: report.modShards },
			conflicts: conflicts.length === 0 ? null : file,
			verified: verified && {
				clean: verified.clean,
				repaired: verified.repaired,
				remaining: verified.remaining.length,
			},
		},
		lines: described(source, report, given.dryRun),
		notes: compact([
			conflicts.length > 0 &&
				`${plural(conflicts.length, "row")} changed on both sides: ${file}`,
			...entries.failures,
			...unreadable.map((row) => `${row} cannot be read`),
		]),
		code: isLeft && !given.dryRun ? LEFT : 0,
	};
}

/** With what users wrote: for the operator alone. */
async function writeConflicts(
	file: string,
	conflicts: readonly Conflict[],
): Promise<void> {
	const lines = conflicts.map((conflict) => `${JSON.stringify(conflict)}\n`);
	await writeFile(file, lines.join(""), { mode: 0o600 });
}

function described(
	{ host, successor, missing }: SalvageSource,
	report: SalvageReport,
	isDryRun: boolean,
): readonly string[] {
	const { transactions, from, until, objects, edges, lookups } = report;
	if (missing === "") {
		return [`${host} has nothing that ${successor} lacks`];
	}
	const { entries, verified, shards, modShards } = report;
	const back = isDryRun ? "would come back" : "came back";
	const line = (what: string, outcome: Outcome) =>
		`${what}: ${formatNumber(outcome.lost)} lost, ${formatNumber(outcome.back)} ${back}, ${formatNumber(outcome.there)} there already, ${formatNumber(outcome.conflicts.length)} changed on both sides`;
	return [
		`${host} has ${plural(transactions, "transaction")} that ${successor} never had, from ${from} to ${until}: ${missing}`,
		line("objects", objects),
		line("edges", edges),
		line("lookups", lookups),
		`outbox entries: ${formatNumber(entries.lost)} lost${isDryRun ? "" : `, ${formatNumber(entries.delivered)} delivered`}`,
		...(verified === null
			? isDryRun
				? []
				: [
						`verify the shards: corkboard verify --repair --shards ${shards.join(",")}${modShards.length > 0 ? ` --mod-shards ${modShards.join(",")}` : ""}`,
					]
			: [
					`verified ${plural(shards.length, "shard")} and ${plural(modShards.length, "mod shard")}: ${formatNumber(verified.repaired)} repaired, ${verified.clean ? "everything agrees" : "not everything agrees, run verify"}`,
				]),
	];
}
