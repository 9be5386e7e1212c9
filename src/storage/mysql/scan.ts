import type { Id } from "../../id/ids.ts";
import { listName } from "../keys.ts";
import { isDescending } from "../order.ts";
import {
	type Edge,
	type ListRow,
	type Position,
	PRESENT,
	type Scan,
	type ScanResult,
} from "../storage.ts";
import { tableIn } from "./ddl.ts";
import type { Host, QueryOptions } from "./driver/host.ts";
import type { Value } from "./driver/mysql2Connection.ts";
import { isOneOf, listOf } from "./lists.ts";
import type { KeyOnShard } from "./shards.ts";
import { type Fragment, namesOf, unionAll } from "./sqlFragment.ts";

/** Instead of a scan's number: the row is a list's own. */
const LIST = -1;

/**
 * All scans of one host in one statement, with the lists' own rows, so that
 * edges and counts are consistent: with READ COMMITTED each statement has its
 * own read view. Rows are either edges, `(scan, to, sequence, version, 0, '')`,
 * or lists, `(LIST, from, count, last sequence, epoch, mapping)`.
 */
export async function scanLists(
	host: Host,
	scans: readonly KeyOnShard<Scan>[],
	options: QueryOptions,
): Promise<readonly ScanResult[]> {
	const shards = Map.groupBy(scans, ({ shard }) => shard);
	const rows = await host.rows(
		unionAll(`scan ${namesOf(scans.map(({ key }) => key.mapping.name))}`, [
			...scans.map(edgesOf),
			...[...shards].map(([{ database }, some]): Fragment => {
				const { text, values } = isOneOf(some.map(({ key }) => key));
				return {
					text: `SELECT ${LIST}, from_id, count, last_sequence, epoch, mapping
						FROM ${tableIn(database, "lists")} WHERE ${text}`,
					values,
				};
			}),
		]),
		{
			...options,
			countRows: (all) => all.filter(([part]) => Number(part) !== LIST).length,
		},
	);
	const edges = scans.map((): Edge[] => []);
	const lists = new Map<string, ListRow>();
	for (const [first, second, third, fourth, fifth, mapping] of rows) {
		const part = Number(first);
		if (part === LIST) {
			const list = listOf([second, mapping, third, fourth, fifth]);
			lists.set(listName({ name: String(mapping) }, list.from), list);
			continue;
		}
		edges[part]?.push({
			from: (scans[part] as KeyOnShard<Scan>).key.from,
			to: second as Id,
			sequence: Number(third),
			state: PRESENT,
			version: Number(fourth),
		});
	}
	return scans.map(({ key: scan }, index) => {
		const { mapping, from } = scan;
		return {
			// UNION ALL promises no order, though it keeps that of its parts.
			edges: (edges[index] as Edge[]).sort(runsDown(scan) ? higher : lower),
			list: lists.get(listName(mapping, from)) ?? {
				from,
				count: 0,
				lastSequence: 0,
				epoch: 0,
			},
		};
	});
}

function edgesOf(
	{ key: scan, shard }: KeyOnShard<Scan>,
	part: number,
): Fragment {
	const { mapping, from, after, before, limit } = scan;
	const [high, low] = isDescending(mapping) ? [after, before] : [before, after];
	const order = runsDown(scan) ? "DESC" : "ASC";
	const bounds = [bound(high, "<"), bound(low, ">")];
	return {
		// The limit is a checked integer; some servers refuse it as a parameter.
		text: `SELECT ${part} AS part, to_id, sequence, version, 0 AS epoch, '' AS mapping
			FROM ${tableIn(shard.database, mapping.table)} FORCE INDEX (PRIMARY)
			WHERE from_id = ? AND state = ${PRESENT}${bounds.map(({ text }) => text).join("")}
			ORDER BY sequence ${order}, to_id ${order} LIMIT ${limit}`,
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

function runsDown({ mapping, backward }: Scan): boolean {
	return isDescending(mapping) !== backward;
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
