import { writeFile } from "node:fs/promises";
import { type Config, readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import type { FleetCheck } from "../../fleet/fleetCheck.ts";
import { databasesByHost } from "../../fleet/map/databases.ts";
import { namedSo } from "../../fleet/map/mapRanges.ts";
import type { PromotionHosts } from "../../fleet/map/promotionHosts.ts";
import { requireCurrent } from "../../fleet/map/publish.ts";
import {
	acceptLoss,
	checkAcceptance,
	describeAcceptance,
} from "../../fleet/operations/acceptLoss.ts";
import { checkPromotion, promote } from "../../fleet/operations/promote.ts";
import {
	checkDeadPromotion,
	describeLostTransactions,
	promoteDead,
} from "../../fleet/operations/promoteDead.ts";
import { type RaisedIds, raiseIds } from "../../fleet/operations/raiseIds.ts";
import type { Conflict, Outcome } from "../../fleet/salvage/conflicts.ts";
import type { SalvageSource } from "../../fleet/salvage/findSalvage.ts";
import type { SalvageReport } from "../../fleet/salvage/salvage.ts";
import { createStoredTypes } from "../../model/storedTypes.ts";
import { compact } from "../../util/compact.ts";
import { formatNumber, plural } from "../../util/format.ts";
import { codeOfInterrupt, INTERRUPTED, UsageError } from "../arguments.ts";
import {
	argument,
	command,
	flag,
	type Given,
	option,
	type Result,
	YES,
} from "../command.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { describeWrites } from "../describeOperation.ts";
import {
	describeEvidence,
	FLEET_CODES,
	isConfirmed,
	lossAccepter,
	MAX_LAG,
	MAX_PAUSE,
	operateAsChecked,
	withFleet,
} from "../fleetCommand.ts";
import { hostsIn, readMap } from "../mapLists.ts";
import { createProgressLine } from "../progress.ts";
import { table } from "../table.ts";
import { GTIDS, integer, present, SHARD_RANGES } from "../values.ts";

const check = command({
	summary: "Finds everything that would stop an operation on the fleet.",
	options: {
		databases: option(
			"HOST",
			"print the databases that the topology has on this server, for its backup, and check nothing",
		),
	},
	details:
		"It checks what status checks, and also: settings and versions of all MySQL servers, which server each replica follows and what only it has, databases that are read-only, processes that are behind, and operations that nobody runs. It takes up to eight seconds and changes nothing. With CORKBOARD_ADMIN_FILE it uses the operator's account.",
	exitCodes: {
		1: "a fault, each in a sentence; or an error",
		3: "no fault was found, but not everything could be checked",
	},
	async run({ databases }, context) {
		const config = readConfig(context.env, { secret: "unneeded" });
		if (databases !== undefined) {
			const names = await databasesOn(config, databases);
			return { value: names, lines: names };
		}
		// Loaded on demand: the help does not need it.
		const { checkFleet } = await import("../../fleet/fleetCheck.ts");
		const checked = await checkFleet(await context.app(), config, context.env);
		const { faults, notes, unchecked, status } = checked;
		const { topology, hosts, members } = status;
		const code = faults.length > 0 ? 1 : unchecked.length > 0 ? 3 : 0;
		return {
			value: {
				healthy: code === 0,
				faults,
				notes,
				unchecked,
				version: topology.version,
				hosts: hosts.length,
				members: members?.length ?? null,
				settings: hosts.map(({ host, settings }) => ({ host, settings })),
			},
			lines: printed(checked),
			code,
		};
	},
});

function printed({
	faults,
	notes,
	unchecked,
	status,
}: FleetCheck): readonly string[] {
	const { topology, hosts, members } = status;
	const looked = `${plural(hosts.length, "MySQL server")}, ${
		members === null
			? "processes not known"
			: plural(members.length, "process", "processes")
	}, topology version ${topology.version}`;
	return [
		`${faults.length === 0 ? "no fault" : plural(faults.length, "fault")}: ${looked}`,
		...faults.flatMap(indented),
		...(notes.length > 0 ? ["to know", ...notes.flatMap(indented)] : []),
		...(unchecked.length > 0
			? [`not looked at: ${unchecked.length}`, ...unchecked.flatMap(indented)]
			: []),
		...settingsTable(hosts),
	];
}

/** What servers need for their tables, and have. Those with the same numbers share a row. */
function settingsTable(
	hosts: FleetCheck["status"]["hosts"],
): readonly string[] {
	const rows = new Map<string, { cells: readonly string[]; on: string[] }>();
	for (const { host, settings } of hosts) {
		const known = (settings ?? []).map(({ name, least, value }) => [
			name,
			String(least),
			String(value),
		]);
		for (const cells of known.length > 0 ? known : [["not known", "", ""]]) {
			const row = rows.get(cells.join()) ?? { cells, on: [] };
			row.on.push(host);
			rows.set(cells.join(), row);
		}
	}
	if (rows.size === 0) return [];
	return table([
		["setting", "needed", "there is", "on"],
		...[...rows.values()]
			.toSorted((a, b) => String(a.cells[0]).localeCompare(String(b.cells[0])))
			.map(({ cells, on }) => [
				...cells,
				on.length === hosts.length ? "all servers" : on.join(", "),
			]),
	]);
}

/** By `host:port`, or by its host if that is unique. Throws BAD_TOPOLOGY for a server that the topology does not name. */
async function databasesOn(
	config: Config,
	host: string,
): Promise<readonly string[]> {
	const { readConfiguredTopology } = await import("../../app/openTopology.ts");
	const hosts = databasesByHost(await readConfiguredTopology(config));
	const names = [...hosts.keys()];
	const matching = namedSo(names, host);
	const [name] = matching;
	if (name !== undefined && matching.length === 1) return hosts.get(name) ?? [];
	throw new CorkboardError(
		"BAD_TOPOLOGY",
		`The topology names ${name === undefined ? "no server" : "several servers"} ${host}: it has ${names.join(", ")}.`,
	);
}

function indented(sentence: string): readonly string[] {
	return sentence.split("\n").map((line) => `  ${line}`);
}

const OPTIONS = {
	dryRun: flag("only check whether it can be done"),
	yes: YES,
	dead: flag("the primary is dead: state what is lost, and promote"),
	acceptLoss: flag("with --dead: give up what the replica has not received"),
	force: flag(
		"with --dead: also if the primary answers, or processes reach it",
	),
	maxLag: MAX_LAG,
	maxPause: MAX_PAUSE,
};

const promoteHost = command({
	summary:
		"Makes the replica of a MySQL primary the primary, while both live or after the primary has died.",
	arguments: { host: argument("HOST") },
	options: OPTIONS,
	details:
		"HOST is the primary as the topology names it, host:port. Writes to its shards wait for a moment; reads do not. If the command ends half-way, operations resume continues it, and operations abort undoes it.",
	exitCodes: FLEET_CODES,
	async run(given, context) {
		if (given.dead) return runDead(given, context);
		if (given.acceptLoss) throw new UsageError("--accept-loss needs --dead.");
		if (given.force) throw new UsageError("--force needs --dead.");
		return runLive(given, context);
	},
});

type GivenToPromote = Given<Record<never, never>, typeof OPTIONS> & {
	readonly host: string;
	readonly json: boolean;
};

async function runLive(
	given: GivenToPromote,
	context: CommandContext,
): Promise<Result | number> {
	const { host, maxLag, maxPause } = given;
	return withFleet(context, async (fleet) => {
		const options = {
			...fleet,
			...present({ maxLagMs: maxLag, maxPauseMs: maxPause }),
		};
		const { hosts, faults, notes, lagMs } = await checkPromotion(options, host);
		const { from, to, fromUrl: _, toUrl: __, ...numbers } = hosts;
		return operateAsChecked(
			context,
			fleet,
			given,
			{
				value: { from, to, ...numbers, faults, notes },
				faults,
				lines: [`${from} → ${to}: ${describeHosts(hosts)}`, ...notes],
				sound: [
					`it can be promoted: the replica had everything within ${Math.round(lagMs)} ms`,
				],
				question: `Promote ${to} in the place of ${from}? Writes to ${describeHosts(hosts)} wait meanwhile.`,
			},
			(onStep) => promote({ ...options, onStep }, host),
		);
	});
}

/** How long what was found counts. Milliseconds. */
const CHECKED_MS = 30_000;

async function runDead(
	given: GivenToPromote,
	context: CommandContext,
): Promise<Result | number> {
	const { host } = given;
	return withFleet(context, async (fleet) => {
		const options = { ...fleet, force: given.force };
		const checked = await checkDeadPromotion(options, host);
		const checkedAt = performance.now();
		const { hosts, evidence, faults, notes, loss } = checked;
		const { from, to, fromUrl: _, toUrl: __, ...numbers } = hosts;
		const reasons = describeEvidence(hosts, evidence);
		if (faults.length === 0 && !given.dryRun) {
			for (const line of reasons) context.stderr(line);
		}
		const acceptLoss = lossAccepter(given.acceptLoss, context, hosts);
		return operateAsChecked(
			context,
			fleet,
			given,
			{
				value: { from, to, ...numbers, faults, notes, evidence, loss },
				lines: [
					`${from} → ${to}: ${describeHosts(hosts)}`,
					...reasons,
					...(loss === null ? [] : [describeLostTransactions(loss, hosts)]),
					...notes,
				],
				faults,
				sound: ["it can be promoted"],
				question: `Promote ${to}, and give ${from} up? It is not attached again as it is.`,
			},
			(onStep) => {
				// If the operator took long to confirm it, the host may be back.
				const isNew = performance.now() - checkedAt < CHECKED_MS;
				return promoteDead(
					{ ...options, onStep, acceptLoss },
					host,
					isNew ? checked : undefined,
				);
			},
		);
	});
}

/** `2 shards, 2 mod shards` */
function describeHosts(hosts: PromotionHosts): string {
	const counts = {
		shards: hosts.shards.length,
		"mod shards": hosts.modShards.length,
		"queue shards": hosts.queues.length,
		"feed shards": hosts.feeds.length,
		"pool shards": hosts.pools.length,
	};
	return Object.entries(counts)
		.filter(([, count]) => count > 0)
		.map(
			([name, count]) => `${count} ${count === 1 ? name.slice(0, -1) : name}`,
		)
		.join(", ");
}

const acceptHostLoss = command({
	summary:
		"Accepts what a failover has lost, so that processes write there again.",
	arguments: { host: argument("HOST") },
	options: {
		dryRun: flag("only show what is lost"),
		gtids: option(
			GTIDS,
			"give up these transactions at most, as --dry-run printed them; if more is lost, nothing is accepted",
		),
		yes: YES,
	},
	details:
		"HOST is the primary as the topology names it, host:port. Only what is shown is accepted: if the loss grows meanwhile, nothing is. Local ids are raised by a million, so that no id is given twice. The generation of its shards is raised, so that nothing that was cached of them is read again. If the command ends half-way, operations resume continues it.",
	exitCodes: FLEET_CODES,
	async run({ host, gtids = null, ...given }, context) {
		return withFleet(context, async (fleet) => {
			const found = await checkAcceptance(fleet, host, gtids);
			const { faults, notes, hosts, loss, server, recorded } = found;
			const { from } = hosts;
			const reasons = [describeAcceptance(found), ...describeWrites(loss)];
			return operateAsChecked(
				context,
				fleet,
				given,
				{
					value: { host: from, server, stopped: recorded, faults, notes, loss },
					faults,
					reasons,
					sound: ["it can be accepted"],
					lines: [...reasons, ...notes],
					question: `Give this up, and write to ${from} again?`,
				},
				(onStep) => acceptLoss({ ...fleet, onStep }, host, found),
			);
		});
	},
});

/** It was brought back, but not all of it. */
const LEFT = 3;

const salvage = command({
	summary:
		"Brings back what a dead primary had and its replica never got, once its disk is back.",
	arguments: { host: argument("HOST") },
	options: {
		dryRun: flag("only say what would be brought back"),
		newer: flag(
			"if an object was changed on both sides, the greater version wins; without it, what is served stays",
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
					store: corkboard.store,
					environment: context.env,
					signal,
					newer: given.newer,
					isDryRun: given.dryRun,
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
		lost,
		back,
		there,
		conflicts: both.length,
	});
	return {
		value: {
			host,
			successor,
			operation,
			dryRun: given.dryRun,
			gtids: missing,
			transactions: report.transactions,
			from: report.from,
			until: report.until,
			objects: counted(objects),
			edges: counted(edges),
			lookups: counted(lookups),
			entries,
			unreadable,
			shards: report.shards,
			modShards: report.modShards,
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

/** More than one table of a shard gets between two backups. 36 bits hold 6,871 such margins. */
const MARGIN = 10_000_000;
const MAX_MARGIN = 1_000_000_000;
const SHOWN_TABLES = 10;

const raiseHostIds = command({
	summary:
		"Raises the local ids of a restored host above those given out since its backup.",
	arguments: { host: argument("HOST") },
	options: {
		by: option(
			integer(1, MAX_MARGIN),
			`how many local ids each table skips (default ${MARGIN}): more than one got since the backup`,
			MARGIN,
		),
		shards: option(
			SHARD_RANGES,
			"only the tables of these shards, such as 0-255,512",
		),
		dryRun: flag("only say what would be done"),
	},
	details:
		"HOST is host:port of a MySQL server that takes writes; the topology need not name it yet. It is asked with the account of CORKBOARD_ADMIN_FILE, or that of the topology. Run before any process writes there. If it is interrupted, run it again: tables that were raised are raised once more, which costs nothing but ids.",
	exitCodes: {
		1: "refused, or an error: some tables may be raised, and it can be run again",
	},
	async run({ host, by, shards = null, dryRun }, context) {
		return withFleet(context, async ({ store, environment }) => {
			const { topology } = await requireCurrent(store);
			const raised = await raiseIds({
				topology,
				environment,
				host,
				shards,
				by,
				isDryRun: dryRun,
			});
			return {
				value: { ...raised, dryRun },
				lines: describe(raised, dryRun),
			};
		});
	},
});

function describe(
	{ host, by, tables, notes }: RaisedIds,
	isDryRun: boolean,
): readonly string[] {
	const more = tables.length - SHOWN_TABLES;
	return [
		`${host}: the local ids of ${plural(tables.length, "table")} ${isDryRun ? "would be" : "are"} raised by ${formatNumber(by)}`,
		...tables
			.slice(0, SHOWN_TABLES)
			.map(
				({ table, before, after }) =>
					`  ${table}: the next ${isDryRun ? "would be" : "is"} ${formatNumber(after)}, ${isDryRun ? "is" : "was"} ${formatNumber(before)}`,
			),
		...(more > 0 ? [`  and ${more} more`] : []),
		...notes,
	];
}

const list = command({
	isWatched: true,
	summary: "Lists the servers that the map names, and what each is there for.",
	details:
		"What a host is the primary of is counted. No host is asked: status says whether they answer, and hosts check what they lack.",
	async run(_given, context) {
		const hosts = hostsIn(await readMap(context));
		return {
			value: hosts,
			lines: table([
				[
					"host",
					"role",
					"shards",
					"open",
					"lookups",
					"feeds",
					"queues",
					"pools",
				],
				...hosts.map(({ host, roles, ...counts }) =>
					[
						host,
						roles.join(", "),
						...[counts.shards, counts.openShards, counts.lookups],
						...[counts.feeds, counts.queues, counts.pools],
					].map(String),
				),
			]),
		};
	},
});

export const verbs = {
	list,
	check,
	promote: promoteHost,
	"accept-loss": acceptHostLoss,
	salvage,
	"raise-ids": raiseHostIds,
};
