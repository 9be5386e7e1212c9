import { availableParallelism, loadavg } from "node:os";
import { type Id, shardOf } from "../../../src/id/ids.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { runProgram } from "../../helpers/program.ts";
import { caughtUp } from "../../services/mysql.ts";
import { judge, percentile, slowest } from "../promote/evidence.ts";
import { type LoadReport, readTitles } from "../promote/load.ts";
import type { Fenced } from "./fenceWatch.ts";
import type { MoveFleet } from "./moveFleet.ts";
import type { Happened } from "./runner.ts";

/** What the load's own list and the servers say in the end. */
export interface Judgement extends LoadReport {
	readonly acknowledged: number;
	readonly lost: readonly string[];
	readonly repeated: readonly string[];
	/** What `verify` said. */
	readonly verified: number | null;
	/** Databases of moves that are left on the four servers. */
	readonly left: readonly string[];
	/** The load average of the last five minutes. */
	readonly loadAverage: number;
}

/** What requests took between two moments. Milliseconds. */
export interface Served {
	readonly slowestWriteMs: number;
	readonly movedReadP99Ms: number;
	readonly otherReadP99Ms: number;
	readonly movedWriteP99Ms: number;
	readonly otherWriteP99Ms: number;
}

const LIMIT_MS = 3 * 3_600_000;

/** Ends the load, and compares its list with what is there. */
export async function judgeAll(
	{ fleet, pairs, load }: MoveFleet,
	say: (line: string) => void,
): Promise<Judgement> {
	await load.end();
	const { acknowledged } = load;
	const found = await readTitles(
		fleet.clients,
		acknowledged.map(({ id }) => id),
	);
	const verified = await runProgram(["verify", "--json"], {
		env: fleet.env,
		limitMs: LIMIT_MS,
	});
	if (verified.code !== 0) say(verified.out + verified.err);
	const left: string[] = [];
	for (const pair of pairs) {
		await caughtUp(pair);
		for (const server of [pair.primary, pair.replica]) {
			const rows = await ask(
				server,
				"SELECT schema_name AS name FROM information_schema.schemata_extensions WHERE schema_name LIKE 'park\\_%' OR schema_name = 'corkboard_ops' OR options LIKE '%READ ONLY=1%'",
			);
			left.push(...rows.map(({ name }) => `${server.address} ${name}`));
		}
	}
	return {
		...load.report(),
		acknowledged: acknowledged.length,
		...judge(acknowledged, found),
		verified: verified.code,
		left,
		loadAverage: loadavg()[1] ?? 0,
	};
}

/** What is broken whatever happened to servers. */
export function faultsOf({
	lost,
	repeated,
	verified,
	left,
}: Judgement): readonly string[] {
	return [
		...(lost.length > 0 ? [`${lost.length} acknowledged writes are lost`] : []),
		...(repeated.length > 0 ? [`${repeated.length} ids came twice`] : []),
		...(verified === 0 ? [] : [`verify ended with ${verified}`]),
		...(left.length > 0 ? [`left behind: ${left.join(", ")}`] : []),
	];
}

export function judgementLines({
	reads,
	writes,
	failed,
	refused,
	acknowledged,
	lost,
	repeated,
	verified,
	failures,
	loadAverage,
}: Judgement): readonly string[] {
	return [
		`${reads} reads, ${writes} writes: ${failed} failed, ${refused} more were refused at once for load`,
		`${acknowledged} acknowledged: ${lost.length} lost, ${repeated.length} ids twice; verify ended with ${verified}`,
		`${availableParallelism()} cores, load average ${loadAverage.toFixed(1)}`,
		...failures,
	];
}

/** What requests took, apart for shards that move and others. */
export function servedBetween(
	{ load }: Pick<MoveFleet, "load">,
	moved: number,
	from: number,
	to: number,
): Served {
	const isMoved = ({ id }: { readonly id: string | null }) =>
		id !== null && shardOf(id as Id) < moved;
	const [reads, otherReads] = apart(load.answered, isMoved);
	const [writes, otherWrites] = apart(load.acknowledged, isMoved);
	return {
		slowestWriteMs: slowest(load.acknowledged, from, to),
		movedReadP99Ms: percentile(reads, 0.99, from, to),
		otherReadP99Ms: percentile(otherReads, 0.99, from, to),
		movedWriteP99Ms: percentile(writes, 0.99, from, to),
		otherWriteP99Ms: percentile(otherWrites, 0.99, from, to),
	};
}

/** For how long writes waited for a fence after something had happened and was over. Milliseconds. */
export function fencedAfter(
	fenced: readonly Fenced[],
	{ at, backAt, until }: Happened & { readonly until: number },
): number {
	return fenced
		.filter(({ from, to }) => to > at && from < until)
		.reduce(
			(most, { from, to }) => Math.max(most, to - Math.max(from, backAt)),
			0,
		);
}

function apart<T>(
	all: readonly T[],
	isFirst: (one: T) => boolean,
): readonly [readonly T[], readonly T[]] {
	return [all.filter(isFirst), all.filter((one) => !isFirst(one))];
}
