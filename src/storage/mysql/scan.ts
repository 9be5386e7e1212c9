import { PRESENT, type Scan, type ScanResult } from "../rows.ts";
import { namesOf } from "../statements/dialect.ts";
import {
	type NumberedScan,
	partsOf,
	resultsOf,
	runsDown,
	scanColumns,
} from "../statements/scans.ts";
import { tableIn } from "./ddl.ts";
import {
	type Fragment,
	MYSQL,
	spelled,
	spelledList,
	unionAll,
} from "./dialect.ts";
import type { Host } from "./driver/host.ts";
import type { Value } from "./driver/mysql2Connection.ts";
import type { Sql } from "./driver/mysqlConnection.ts";
import type { QueryOptions } from "./driver/queryOptions.ts";
import type { KeyOnShard, Shard } from "./shards.ts";
import { beatColumn } from "./standby/beats.ts";

/** Instead of a scan's number: the row is the beat of the host, in the place of a sequence. */
const BEAT = -2;

/**
 * All scans of one host in one statement, so that edges and counts are
 * consistent: with READ COMMITTED each statement has its own read view.
 */
export async function scanListsOnHost(
	host: Host,
	scans: readonly KeyOnShard<Scan>[],
	options: QueryOptions,
	/** Called with the beat of the host, if that is wanted too; null without one. */
	onBeat?: (beat: number | null) => void,
): Promise<readonly ScanResult[]> {
	const rows = await host.rows(
		(product) => statementOf(scans, product === "MySQL", onBeat !== undefined),
		{
			...options,
			countRows: (all) => all.filter(([, to]) => to !== null).length,
		},
	);
	if (onBeat !== undefined) {
		const beat = rows.find(([part]) => Number(part) === BEAT);
		onBeat(beat === undefined ? null : Number(beat[2]));
	}
	return resultsOf(scans, rows);
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
	const results = await scanListsOnHost(host, scans, options, (found) => {
		beat = found;
	});
	return results.map((result) => ({ result, beat }));
}

/**
 * A part of a UNION ALL costs the server 75 to 90 µs (measured on MySQL 9), a row
 * of LATERAL 15 to 20 µs. So scans from an end of their lists, which are most
 * and come in hundreds, are one part for each mapping and shard if the server
 * has LATERAL, as MySQL does; MariaDB gets a part for each scan. Lists of which
 * only the count is wanted are one part for each shard.
 */
function statementOf(
	scans: readonly KeyOnShard<Scan>[],
	hasLateral: boolean,
	withBeat: boolean,
): Sql {
	const groups = new Map<Shard, ScanGroup[]>();
	const others: NumberedScan<Shard>[] = [];
	for (const [part, { key: scan, shard }] of scans.entries()) {
		const { mapping, backward, limit } = scan;
		const one = { part, scan, shard };
		const isOpen = scan.after === undefined && scan.before === undefined;
		if (limit === 0 || !hasLateral || !isOpen) {
			others.push(one);
			continue;
		}
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
		if (group === undefined) own.push([one]);
		else group.push(one);
	}
	const parts = [
		...[...groups.values()].flatMap((own) => own.map(headsOf)),
		...partsOf(MYSQL, others).map(({ text, values }) => ({
			text,
			values: values as readonly Value[],
		})),
	];
	if (withBeat) {
		const { value, from } = beatColumn();
		const columns = scanColumns({ part: BEAT, sequence: value });
		parts.push({ text: `SELECT ${columns} FROM ${from}`, values: [] });
	}
	return unionAll(
		`scan ${namesOf(scans.map(({ key }) => key.mapping.name))}`,
		parts,
	);
}

type ScanGroup = [NumberedScan<Shard>, ...NumberedScan<Shard>[]];

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

function keyOrder(scan: Scan): string {
	return runsDown(scan)
		? "from_id DESC, state DESC, sequence DESC, to_id DESC"
		: "from_id, state, sequence, to_id";
}
