import type { MysqlSession } from "../../../storage/mysql/driver/host.ts";
import { isRefusal } from "../../../storage/storageFailure.ts";
import { hourOf } from "../../bucket.ts";
import { type Keep, keptCap, type Span } from "../../rotationStore.ts";
import {
	countKept,
	filesOf,
	filesTogether,
	NOW,
	outBucket,
	outTablesOf,
	partitionsOf,
	type RotatedQueue,
	type Source,
	sizesOf,
	tablesTogether,
} from "./rotationSql.ts";

/**
 * A span is of the past when its last hour ended so long ago: since then nobody
 * stores a job in it, but for one who was paused meanwhile. Microseconds.
 */
const PAST_US = 300_000_000;

/** Spans whose jobs one statement counts. */
const COUNTED_TOGETHER = 24;

interface Found {
	readonly bucket: number;
	readonly isSwappedOut: boolean;
	readonly bytes: number;
	readonly rows: number;
}

export async function listSpans(
	session: MysqlSession,
	tables: RotatedQueue,
	keep: Keep,
): Promise<readonly Span[]> {
	const found = await findSpans(session, tables);
	const spans: Span[] = [];
	for (let at = 0; at < found.length; at += COUNTED_TOGETHER) {
		const some = found.slice(at, at + COUNTED_TOGETHER);
		const rows = await session.rows(
			countKept(
				tables,
				some.map((span) => ({
					source: sourceOf(span),
					cap: keptCap(span.rows) + 1,
				})),
				keep,
			),
		);
		for (const row of rows) {
			const [index, isEmpty, pending, running, succeeded, failed] =
				row.map(Number);
			spans.push({
				...(some[index ?? 0] as Found),
				isEmpty: isEmpty === 1,
				pending: pending ?? 0,
				running: running ?? 0,
				succeeded: succeeded ?? 0,
				failed: failed ?? 0,
			});
		}
	}
	return spans.sort((one, other) => one.bucket - other.bucket);
}

async function findSpans(
	session: MysqlSession,
	tables: RotatedQueue,
): Promise<readonly Found[]> {
	const [now] = await session.rows({
		name: "now",
		text: `SELECT ${NOW}`,
		values: [],
	});
	const present = hourOf(Number(now?.[0]) - PAST_US);
	const partitions = await session.rows(partitionsOf(tables));
	const past = partitions
		.filter(([, end]) => Number(end) <= present)
		.map(([name]) => String(name));
	const sizes =
		past.length === 0 ? [] : await session.rows(sizesOf(tables, past));
	const files = await readFileSizes(session, tables);
	const inPlace = sizes.map(([name, rows, bytes]) => ({
		bucket: Number(String(name).slice(1)),
		isSwappedOut: false,
		rows: Number(rows),
		bytes: files.get(String(name)) ?? Number(bytes),
	}));
	const outTables = await session.rows(outTablesOf(tables));
	const swappedOut = outTables.map(([name, rows, bytes]) => ({
		bucket: outBucket(name),
		isSwappedOut: true,
		rows: Number(rows),
		bytes: files.get(String(name)) ?? Number(bytes),
	}));
	return [...inPlace, ...swappedOut];
}

/** By partition of the jobs' table, or by out table. Empty if the user may not ask: then the server's estimates have to do. */
async function readFileSizes(
	session: MysqlSession,
	tables: RotatedQueue,
): Promise<ReadonlyMap<string, number>> {
	try {
		const files = await session.rows(filesOf(tables, session.product));
		return new Map(
			files.map(([name, bytes]) => [
				// `database/table#p#partition`, in the product's spelling.
				String(name).split(/[#/]/).at(-1) ?? "",
				Number(bytes),
			]),
		);
	} catch (thrown) {
		if (isRefusal(thrown)) {
			return new Map();
		}
		throw thrown;
	}
}

/** The size of all files of the queue, or the server's estimate if the user may not read file sizes. */
export async function readBytes(
	session: MysqlSession,
	tables: RotatedQueue,
): Promise<number> {
	try {
		const [row] = await session.rows(filesTogether(tables, session.product));
		return Number(row?.[0]);
	} catch (thrown) {
		if (!isRefusal(thrown)) throw thrown;
		const [row] = await session.rows(tablesTogether(tables));
		return Number(row?.[0]);
	}
}

function sourceOf({ bucket, isSwappedOut }: Found): Source {
	return isSwappedOut ? { outBucket: bucket } : { partition: `h${bucket}` };
}
