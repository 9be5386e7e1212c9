import { setTimeout as sleep } from "node:timers/promises";
import type { FleetServer } from "../server/fleetServer.ts";
import { tryRaising } from "../server/raiseLocalIds.ts";
import { grantFaults, NEEDED_GRANTS } from "./operatorGrants.ts";
import { PROMOTION_SETTINGS, settingFaults } from "./serverSettings.ts";

/** The oldest that knows the settings and statements of a promotion by these names. */
const LEAST_VERSION = "8.0.26";
/** Rows of one statement about tables. */
const DATABASES = 500;
/** A transaction that is open for longer may hold the fence up. */
const LONG_TRANSACTION_S = 1;
const LOOK_MS = 100;
/** How long a transaction that is in the binary log of the primary may take to be committed there. */
const COMMIT_MS = 10_000;

interface PreflightLimits {
	/** How far the replica may be behind, in milliseconds: how long it takes to have what the primary has now. */
	readonly maxLagMs: number;
	/** Databases of which the host is the primary. */
	readonly databases: readonly string[];
}

/** Everything that speaks against a planned promotion, each as a sentence; and how far the replica is behind. */
export async function preflight(
	old: FleetServer,
	candidate: FleetServer,
	{ maxLagMs, databases }: PreflightLimits,
): Promise<{
	readonly faults: readonly string[];
	/** What does not stop it, and may take longer than expected. */
	readonly notes: readonly string[];
	readonly lagMs: number;
}> {
	const faults: string[] = [];
	const unsound = { faults, notes: [], lagMs: Number.POSITIVE_INFINITY };
	for (const server of [old, candidate]) {
		faults.push(...(await readVersion(server)).faults);
	}
	if (faults.length > 0) return unsound;
	for (const server of [old, candidate]) {
		faults.push(
			...(await grantFaults(server, NEEDED_GRANTS.promote, databases)),
		);
	}
	// Without them the rest cannot be asked.
	if (faults.length > 0) return unsound;
	for (const server of [old, candidate]) {
		faults.push(...(await settingFaults(server, PROMOTION_SETTINGS)));
	}
	const [uuid, isFenced] = await old.row(
		"identity",
		"SELECT @@server_uuid, @@GLOBAL.super_read_only",
	);
	if (String(isFenced) !== "0") {
		faults.push(
			`${old.name} takes no writes: super_read_only is on. Another operation may have fenced it.`,
		);
	}
	const state = await connectedReplica(candidate, maxLagMs);
	if (state === null) {
		faults.push(`${candidate.name} follows no other server.`);
		return unsound;
	}
	if (state.sourceUuid !== String(uuid)) {
		faults.push(`${candidate.name} follows another server than ${old.name}.`);
	}
	if (!state.isReceiving || !state.isApplying) {
		faults.push(
			`${candidate.name} does not replicate${state.error === "" ? "" : `: ${state.error}`}.`,
		);
	}
	const errant = await errantTransactions(old, candidate);
	if (errant !== "") {
		faults.push(
			`${candidate.name} has transactions that ${old.name} lacks: ${errant}. It was written to, and has to be rebuilt.`,
		);
	}
	faults.push(...(await differentTables(old, candidate, databases)));
	const trial = await tryRaising(candidate, databases);
	faults.push(...trial.faults);
	const open = await longTransactions(old, maxLagMs);
	if (open > 0) {
		faults.push(
			`${old.name} has ${open} transactions that are open for more than ${LONG_TRANSACTION_S} s.`,
		);
	}
	const began = performance.now();
	const isThere = await candidate.has(await old.executed(), maxLagMs);
	const lagMs = performance.now() - began;
	if (!isThere) {
		faults.push(
			`${candidate.name} is more than ${maxLagMs} ms behind ${old.name}: writes would wait as long.`,
		);
	}
	return { faults, notes: trial.notes, lagMs };
}

/**
 * What the replica has and its primary will never have. A primary sends a
 * transaction when it is in the binary log, and says that it has it only when it
 * is committed as well: until then its replica may be ahead of it.
 */
async function errantTransactions(
	old: FleetServer,
	candidate: FleetServer,
): Promise<string> {
	const executed = await candidate.executed();
	if (await old.has(executed, COMMIT_MS)) return "";
	return candidate.subtract(executed, await old.executed());
}

/** Its state, after it had the time to connect, as after a promotion just before. */
async function connectedReplica(server: FleetServer, ms: number) {
	const until = performance.now() + ms;
	for (;;) {
		const state = await server.replica();
		// It says that it is connected a moment before it knows to whom.
		const isConnecting =
			state?.isApplying === true &&
			(!state.isReceiving || state.sourceUuid === "") &&
			state.error === "";
		if (!isConnecting || performance.now() > until) return state;
		await sleep(LOOK_MS);
	}
}

/** How many are there still, after a disk that stood may have moved on. */
async function longTransactions(
	server: FleetServer,
	ms: number,
): Promise<number> {
	const until = performance.now() + ms;
	for (;;) {
		const [open] = await server.row(
			"long transactions",
			"SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_started < NOW() - INTERVAL ? SECOND",
			[LONG_TRANSACTION_S],
		);
		if (Number(open) === 0 || performance.now() > until) return Number(open);
		await sleep(LOOK_MS);
	}
}

/** The version of a server, and what speaks against it. */
export async function readVersion(
	server: FleetServer,
): Promise<{ readonly version: string; readonly faults: readonly string[] }> {
	const [found] = await server.row("version", "SELECT VERSION()");
	const version = String(found);
	const isFit =
		/^\d+\.\d+\.\d+(?!.*mariadb)/i.test(version) &&
		compareVersions(version, LEAST_VERSION) >= 0;
	return {
		version,
		faults: isFit
			? []
			: [
					`${server.name} is ${version}: this needs MySQL ${LEAST_VERSION} or later. Promote by hand (docs/how-to/replicas.md).`,
				],
	};
}

/** Negative if the first is older. */
export function compareVersions(first: string, second: string): number {
	const numbers = (text: string) =>
		(/^\d+(\.\d+)*/.exec(text)?.[0] ?? "0").split(".").map(Number);
	const [a, b] = [numbers(first), numbers(second)];
	for (let at = 0; at < 3; at++) {
		const difference = (a[at] ?? 0) - (b[at] ?? 0);
		if (difference !== 0) return difference;
	}
	return 0;
}

/** Tables that the replica lacks, or has with other columns. One that is being created now may be among them. */
async function differentTables(
	old: FleetServer,
	candidate: FleetServer,
	databases: readonly string[],
): Promise<readonly string[]> {
	const [wanted, own] = await Promise.all(
		[old, candidate].map((server) => readTables(server, databases)),
	);
	const names = [...(wanted ?? [])].flatMap(([name, columns]) =>
		own?.get(name) === columns ? [] : [name],
	);
	return names.length === 0
		? []
		: [
				`${candidate.name} lacks ${names.length} tables of ${old.name}, or has them with other columns, such as ${names.slice(0, 3).join(", ")}.`,
			];
}

/** The columns of each table as one number, by `database.table`. */
async function readTables(
	server: FleetServer,
	databases: readonly string[],
): Promise<ReadonlyMap<string, string>> {
	const tables = new Map<string, string>();
	for (let at = 0; at < databases.length; at += DATABASES) {
		const rows = await server.rows(
			"tables",
			`SELECT table_schema, table_name, CONCAT(COUNT(*), ' ',
					SUM(CRC32(CONCAT_WS(' ', ordinal_position, column_name, column_type, is_nullable, extra))))
				FROM information_schema.columns WHERE table_schema IN (?)
				GROUP BY table_schema, table_name`,
			[databases.slice(at, at + DATABASES)],
		);
		for (const [schema, table, columns] of rows) {
			tables.set(`${schema}.${table}`, String(columns));
		}
	}
	return tables;
}
