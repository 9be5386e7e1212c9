import { compact } from "../../util/compact.ts";
import { OPS_DATABASE } from "../ferry/ferryState.ts";
import { bindingFaults, readMovedTables } from "../ferry/movedTables.ts";
import type { DatabaseKind } from "../map/databases.ts";
import { nameOf } from "../map/mapRanges.ts";
import { requireCurrent } from "../map/publish.ts";
import { unknownRecordError } from "../operations/operationRecord.ts";
import {
	isOver,
	needsNoRunner,
	readOperations,
} from "../operations/operations.ts";
import { type MoveFault, moveFaults } from "../preflight/movePreflight.ts";
import { tryRaising } from "../server/raiseLocalIds.ts";
import {
	type AskedMove,
	databaseKind,
	databasesOf,
	type FoundMove,
	findMove,
	parkedName,
} from "./findMove.ts";
import type { MoveOptions } from "./moveRun.ts";
import { MoveServers } from "./moveServers.ts";

/** Rows a second that were measured on two busy cores (bench/results/capacity.md): of a copy, and of its verification. */
const COPIED_ROWS = 30_000;
const VERIFIED_ROWS = 165_000;
/** What a disk of the target needs beside the copy: its binary log has every row too. */
const DISK_TIMES = 2;

export interface PlannedWave {
	readonly range: readonly [number, number];
	/** What the source has, as it estimates it. */
	readonly rows: number;
	readonly bytes: number;
}

/** What a move would do, and everything against it. */
export interface MovePlan {
	readonly found: FoundMove;
	readonly waves: readonly PlannedWave[];
	readonly rows: number;
	readonly bytes: number;
	/** How much disk the target needs: MySQL does not say how much is free. */
	readonly needsBytes: number;
	/** How long copy and verification take, at the measured rate or the given one. */
	readonly seconds: number;
	/** The largest database. */
	readonly largest: {
		readonly database: string;
		readonly bytes: number;
	} | null;
	readonly faults: readonly MoveFault[];
	/** What does not refuse it, and may not be meant. */
	readonly notes: readonly string[];
}

/** Plans a move. Changes nothing. Throws BAD_TOPOLOGY if the map alone refuses it. */
export async function planMove(
	options: Pick<MoveOptions, "store" | "environment">,
	asked: AskedMove & { readonly rate?: number | undefined },
): Promise<MovePlan> {
	const { store, environment } = options;
	const { topology } = await requireCurrent(store);
	const found = findMove(topology, asked);
	const { list, range, from, to } = found;
	const kind: DatabaseKind = databaseKind(list);
	const databases = databasesOf(list, range);
	await using servers = new MoveServers(found, topology, environment);
	const sizes = await sizesOf(servers, databases);
	const rows = sum(sizes.tables.map((table) => table.rows));
	const bytes = sum(sizes.tables.map((table) => table.bytes));
	const rate = Math.min(asked.rate ?? COPIED_ROWS, COPIED_ROWS);
	const seconds = rows / rate + rows / VERIFIED_ROWS;
	const faults = [
		...(await runningOperations(store, [from, to])),
		...(await moveFaults({
			from: { ...servers.from, url: from.url },
			to: { ...servers.to, url: to.url },
			kind,
			databases,
			seconds,
			environment,
			others: [...databases.map(parkedName), OPS_DATABASE],
		})),
		...[...sizes.faults, ...sizes.trial.faults].map((fault) => ({
			check: "tables",
			fault,
		})),
	];
	const byDatabase = Map.groupBy(sizes.tables, ({ database }) => database);
	const bytesOf = (database: string) =>
		sum((byDatabase.get(database) ?? []).map((table) => table.bytes));
	const [largest = null] = databases
		.map((database) => ({ database, bytes: bytesOf(database) }))
		.toSorted((a, b) => b.bytes - a.bytes);
	return {
		found,
		waves: found.waves.map((wave) => {
			const names = databasesOf(list, wave);
			const tables = names.flatMap((name) => byDatabase.get(name) ?? []);
			return {
				range: wave,
				rows: sum(tables.map((table) => table.rows)),
				bytes: sum(tables.map((table) => table.bytes)),
			};
		}),
		rows,
		bytes,
		seconds,
		largest,
		faults,
		needsBytes: bytes * DISK_TIMES,
		notes: compact([
			from.replica !== null &&
				to.replica === null &&
				`${to.name} has no replica: these ${list} would have none. Pass --replica, or add one: corkboard replicas add HOST --of ${to.name}.`,
			...sizes.trial.notes,
		]),
	};
}

async function sizesOf(servers: MoveServers, databases: readonly string[]) {
	const { primary } = servers.from;
	// A fault of its own says that it does not answer.
	if ((await primary.silence(5_000)) !== null) {
		return { tables: [], faults: [], trial: { faults: [], notes: [] } };
	}
	const { tables, faults } = await readMovedTables(primary, databases);
	return {
		tables,
		faults: [...faults, ...(await bindingFaults(primary, databases))],
		// The copies on the other primary have what these have.
		trial: await tryRaising(primary, databases),
	};
}

/** Operations that hold one of the hosts. */
async function runningOperations(
	store: MoveOptions["store"],
	hosts: readonly FoundMove["from"][],
): Promise<readonly MoveFault[]> {
	const names = new Set(
		hosts.flatMap(({ name, replica }) =>
			replica === null ? [name] : [name, nameOf(replica)],
		),
	);
	const { records, unknown } = await readOperations(store);
	const known = records
		.filter(({ step }) => !needsNoRunner(step))
		.filter(({ from, to, alsoLocks = [] }) =>
			[from, to, ...alsoLocks].some((host) => names.has(host)),
		)
		.map(({ id, step }) => ({
			check: "other operations",
			fault: `${id} has one of the hosts, at ${step}. Let it end, or continue it: corkboard operations resume ${id}.`,
		}));
	const others = unknown
		.filter((record) => !isOver(record))
		.filter(({ hosts }) => hosts.some((host) => names.has(host)))
		.map((record) => ({
			check: "other operations",
			fault: unknownRecordError(record).message,
		}));
	return [...known, ...others];
}

function sum(numbers: readonly number[]): number {
	return numbers.reduce((all, each) => all + each, 0);
}
