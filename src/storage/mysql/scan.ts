import type { Id } from "../../id/ids.ts";
import { listName } from "../keys.ts";
import { isDescending } from "../order.ts";
import { anyOf, type Clause, namesOf } from "../statements/dialect.ts";
import {
	type Edge,
	type ListRow,
	type Position,
	PRESENT,
	type Scan,
	type ScanResult,
} from "../storage.ts";
import { tableIn } from "./ddl.ts";
import { MYSQL, spelled, spelledList } from "./dialect.ts";
import type { Host } from "./driver/host.ts";
import type { Row, Value } from "./driver/mysql2Connection.ts";
import type { Sql } from "./driver/mysqlConnection.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import type { KeyOnShard, Shard } from "./shards.ts";
import { type Fragment, unionAll } from "./sqlFragment.ts";
import { beatColumn } from "./standby/beats.ts";

/** Instead of a scan's number: the row is a list's own, with its mapping. */
const LIST = -1;
/** The row is the beat of the host, in the place of a sequence. */
const BEAT = -2;

/**
 * All scans of one host in one statement, with the lists' own rows, so that
 * edges and counts are consistent: with READ COMMITTED each statement has its
 * own read view. Rows are edges, lists, or both:
 *
 *     scan or LIST, to_id, sequence, version, count, last_sequence, epoch, from_id, mapping
 */
export async function scanLists(
	host: Host,
	scans: readonly KeyOnShard<Scan>[],
	options: QueryOptions,
	/** Called with the beat of the host, if that is wanted too; null without one. */
	onBeat?: (beat: number | null) => void,
): Promise<readonly ScanResult[]> {
	let beat: number | null = null;
	const rows = await host.rows(
		(product) => statementOf(scans, product === "MySQL", onBeat !== undefined),
		{
			...options,
			countRows: (all) => all.filter(([, to]) => to !== null).length,
		},
	);
	const edges = scans.map((): Edge[] => []);
	const lists = new Map<string, ListRow>();
	const listsOfScans: (ListRow | undefined)[] = [];
	for (const row of rows) {
		const part = Number(row[0]);
		if (part === BEAT) {
			beat = Number(row[2]);
			continue;
		}
		if (part === LIST) {
			const list = listOf(row[FROM_ID] as Id, row);
			lists.set(listName({ name: String(row[MAPPING]) }, list.from), list);
			continue;
		}
		const { from } = (scans[part] as KeyOnShard<Scan>).key;
		if (row[COUNT] !== null) listsOfScans[part] ??= listOf(from, row);
		const to = row[1] as Id | null;
		if (to === null) continue;
		(edges[part] as Edge[]).push({
			from,
			to,
			sequence: Number(row[2]),
			state: PRESENT,
			version: Number(row[3]),
		});
	}
	onBeat?.(beat);
	return scans.map(({ key: scan }, index) => {
		const { mapping, from } = scan;
		return {
			edges: inOrder(edges[index] as Edge[], runsDown(scan) ? higher : lower),
			list: listsOfScans[index] ??
				lists.get(listName(mapping, from)) ?? {
					from,
					count: 0,
					lastSequence: 0,
					epoch: 0,
				},
		};
	});
}

/** A result, and the beat that its host had when it was read; null without one. */
export interface ScanWithBeat {
	readonly result: ScanResult;
	readonly beat: number | null;
}

/** The same, and in the same statement the host's beat (./standby/beats.ts): so each result says how old it is. */
export async function scanListsWithBeat(
	host: Host,
	scans: readonly KeyOnShard<Scan>[],
	options: QueryOptions,
): Promise<readonly ScanWithBeat[]> {
	let beat: number | null = null;
	const results = await scanLists(host, scans, options, (found) => {
		beat = found;
	});
	return results.map((result) => ({ result, beat }));
}

const COUNT = 4;
const FROM_ID = 7;
const MAPPING = 8;

function listOf(from: Id, row: Row): ListRow {
	return {
		from,
		count: Number(row[COUNT]),
		lastSequence: Number(row[COUNT + 1]),
		epoch: Number(row[COUNT + 2]),
	};
}

/**
 * A part of a UNION ALL costs the server 75 to 90 µs (measured on MySQL 9), a row
 * of LATERAL 15 to 20 µs. So scans from an end of their lists, which are most
 * and come in hundreds, are one part for each mapping and shard where the server
 * has LATERAL, as MySQL does; MariaDB gets a part for each scan. Lists of which
 * only the count is wanted are one part for each shard.
 */
function statementOf(
	scans: readonly KeyOnShard<Scan>[],
	hasLateral: boolean,
	withBeat: boolean,
): Sql {
	const parts: Fragment[] = [];
	const groups = new Map<Shard, ScanGroup[]>();
	const counted = new Map<Shard, Scan[]>();
	for (const [part, { key: scan, shard }] of scans.entries()) {
		const { mapping, backward, limit } = scan;
		const isOpen = scan.after === undefined && scan.before === undefined;
		if (limit > 0 && hasLateral && isOpen) {
			let own = groups.get(shard);
			if (own === undefined) {
				own = [];
				groups.set(shard, own);
			}
			const group = own.find(
				([{ scan: other }]) =>
					other.mapping === mapping &&
					other.limit === limit &&
					other.backward === backward,
			);
			if (group === undefined) own.push([{ part, scan, shard }]);
			else group.push({ part, scan, shard });
			continue;
		}
		if (limit > 0) parts.push(edgesOf({ part, scan, shard }));
		const some = counted.get(shard);
		if (some === undefined) counted.set(shard, [scan]);
		else some.push(scan);
	}
	for (const own of groups.values()) {
		for (const group of own) parts.push(headsOf(group));
	}
	for (const [{ database }, some] of counted) {
		const { text, values } = areOf(some);
		parts.push({
			text: `SELECT ${LIST} AS part, NULL AS to_id, NULL AS sequence, NULL AS version,
				count, last_sequence, epoch, from_id, mapping
				FROM ${tableIn(database, "lists")} WHERE ${text}`,
			values,
		});
	}
	if (withBeat) {
		const { value, from } = beatColumn();
		parts.push({
			text: `SELECT ${BEAT} AS part, NULL AS to_id, ${value} AS sequence, NULL AS version,
				NULL AS count, NULL AS last_sequence, NULL AS epoch, NULL AS from_id, NULL AS mapping
				FROM ${from}`,
			values: [],
		});
	}
	return unionAll(
		`scan ${namesOf(scans.map(({ key }) => key.mapping.name))}`,
		parts,
	);
}

/** A condition on `lists` that uses its primary key. */
function areOf(scans: readonly Scan[]): Clause {
	return anyOf(
		[...Map.groupBy(scans, ({ mapping }) => mapping.name)].map(
			([name, some]) => {
				const froms = some.map(({ from }) => from);
				const { text, values } = MYSQL.isOneOf("from_id", froms);
				return { text: `mapping = ${spelled(name)} AND ${text}`, values };
			},
		),
	);
}

interface NumberedScan {
	readonly part: number;
	readonly scan: Scan;
	readonly shard: Shard;
}

type ScanGroup = [NumberedScan, ...NumberedScan[]];

/**
 * Scans of one mapping on one shard from the same end. The ORDER BY names the
 * whole primary key, because the optimizer does not take `from_id` for constant
 * here: it would sort whole lists. (A key with descending columns would be read
 * forward, but MySQL does not read a range of one backward.)
 */
function headsOf(group: ScanGroup): Fragment {
	const [{ scan, shard }] = group;
	const { mapping, limit } = scan;
	return {
		// The numbers of scans, ids and the limit are integers that the program made.
		text: `SELECT scans.part, edges.to_id, edges.sequence, edges.version,
				lists.count, lists.last_sequence, lists.epoch, NULL AS from_id, NULL AS mapping
			FROM (VALUES ${group.map(({ part, scan: { from } }) => `ROW(${part}, ${spelledList([from])})`).join(", ")})
				AS scans (part, from_id)
			LEFT JOIN ${tableIn(shard.database, "lists")} AS lists
				ON lists.from_id = scans.from_id AND lists.mapping = ${spelled(mapping.name)}
			LEFT JOIN LATERAL (
				SELECT to_id, sequence, version
				FROM ${tableIn(shard.database, mapping.table)} FORCE INDEX (PRIMARY)
				WHERE from_id = scans.from_id AND state = ${PRESENT}
				ORDER BY ${keyOrder(scan)} LIMIT ${limit}) AS edges ON TRUE`,
		values: [],
	};
}

function edgesOf({ part, scan, shard }: NumberedScan): Fragment {
	const { mapping, from, after, before, limit } = scan;
	const [high, low] = isDescending(mapping) ? [after, before] : [before, after];
	const bounds = [bound(high, "<"), bound(low, ">")];
	return {
		// The limit is a checked integer; some servers refuse it as a parameter.
		text: `SELECT ${part} AS part, to_id, sequence, version, NULL AS count,
				NULL AS last_sequence, NULL AS epoch, NULL AS from_id, NULL AS mapping
			FROM ${tableIn(shard.database, mapping.table)} FORCE INDEX (PRIMARY)
			WHERE from_id = ? AND state = ${PRESENT}${bounds.map(({ text }) => text).join("")}
			ORDER BY ${sequenceOrder(scan)} LIMIT ${limit}`,
		values: [BigInt(from), ...bounds.flatMap(({ values }) => values)],
	};
}

/** Spelled out, because the optimizer does not use the key for a comparison of row values. */
function bound(at: Position | undefined, under: "<" | ">"): Fragment {
	if (at === undefined) return { text: "", values: [] };
	const values: readonly Value[] = [at.sequence, at.sequence, BigInt(at.to)];
	return {
		text: ` AND sequence ${under}= ? AND (sequence ${under} ? OR to_id ${under} ?)`,
		values,
	};
}

function sequenceOrder(scan: Scan): string {
	return runsDown(scan) ? "sequence DESC, to_id DESC" : "sequence, to_id";
}

function keyOrder(scan: Scan): string {
	return runsDown(scan)
		? "from_id DESC, state DESC, sequence DESC, to_id DESC"
		: "from_id, state, sequence, to_id";
}

function runsDown({ mapping, backward }: Scan): boolean {
	return isDescending(mapping) !== backward;
}

/** UNION ALL promises no order, though it keeps that of its parts. */
function inOrder(
	edges: Edge[],
	compare: (a: Edge, b: Edge) => number,
): readonly Edge[] {
	for (let at = 1; at < edges.length; at++) {
		if (compare(edges[at - 1] as Edge, edges[at] as Edge) > 0) {
			return edges.sort(compare);
		}
	}
	return edges;
}

function lower(a: Edge, b: Edge): number {
	return (
		a.sequence - b.sequence ||
		// Canonical decimals: the longer one is greater.
		a.to.length - b.to.length ||
		(a.to < b.to ? -1 : 1)
	);
}

function higher(a: Edge, b: Edge): number {
	return lower(b, a);
}
