import { openPoolsOf } from "../feed/pools/openPools.ts";
import type { Model } from "../model/types.ts";
import { openJobStoreOf } from "../queue/openJobStore.ts";
import {
	CREATE_TABLES,
	hostProblems,
	NAMED_TABLES,
} from "../storage/hostReport.ts";
import { parseHostUrl, redactHostUrl } from "../topology/hostUrl.ts";
import { shardsOf } from "../topology/ranges.ts";
import type { HostRange, ShardRange, Topology } from "../topology/types.ts";
import { compact } from "../util/compact.ts";
import { inspectTopology } from "./fleetStatus.ts";
import {
	type DatabaseKind,
	databaseName,
	rangesByKind,
} from "./map/databases.ts";
import { askTables } from "./tablesBeside.ts";

/** What hosts say of a map before it is published. */
interface ChangeProblems {
	/** A sentence for each thing that stands against it. */
	readonly problems: readonly string[];
	/** Tables of databases that no earlier map has: `init` makes them once the map is published. */
	readonly toCreate: readonly string[];
}

const NOTHING = { missing: [], failure: null };

/**
 * Asks the hosts that a map names for what it changes, as `map check` asks
 * all: whether they serve, and whether what was elsewhere before is there. A range
 * that stays where it is, or is closed, is not asked, so that a host that is away
 * hinders no change of others. Nothing is asked for the first map of a fleet:
 * it serves nobody, and `init` is what asks next. Embedded folders are not asked.
 */
export async function changeProblems(
	model: Model,
	before: Topology | null,
	next: Topology,
): Promise<ChangeProblems> {
	const none = { problems: [], toCreate: [] };
	if (before === null || !isOnMysql(next)) return none;
	const changed = changedRanges(before, next);
	const hosts = hostsOf(changed);
	if (hosts.size === 0) return none;
	const { db, mod, feed, queue: queues, pool: pools } = changed;
	const [graph, ofQueues, ofPools] = await Promise.all([
		// Whole, because mod shards are found by their number among all.
		db.length + mod.length + feed.length === 0
			? []
			: inspectTopology(model, next).then(({ reports }) => reports),
		queues.length === 0
			? NOTHING
			: askTables(openJobStoreOf({ queues }, { readOnly: true })),
		pools.length === 0
			? NOTHING
			: askTables(openPoolsOf(pools, { readOnly: true })),
	]);
	const reports = graph.filter(({ host }) => hosts.has(host));
	const silent = reports.filter(
		({ role, error, missingTables }) =>
			role === "primary" && error === null && missingTables === null,
	);
	const named = databasesOf(changed);
	const known = databasesOf(rangesByKind(before));
	const missing = [
		...reports.flatMap(({ missingTables }) => missingTables ?? []),
		...ofQueues.missing,
		...ofPools.missing,
	].filter((table) => named.has(databaseOf(table)));
	const isKnown = (table: string) => known.has(databaseOf(table));
	return {
		problems: [
			...hostProblems(reports),
			...silent.map(({ host }) => `${host} did not say which tables it has.`),
			...[ofQueues, ofPools].flatMap(({ failure }) =>
				failure === null
					? []
					: [
							failure.host === null
								? failure.message
								: `${failure.host} cannot be used: ${failure.message}`,
						],
			),
			...describeMissing(
				missing.filter(isKnown),
				(table) =>
					known.get(databaseOf(table)) === named.get(databaseOf(table)),
			),
		],
		toCreate: missing.filter((table) => !isKnown(table)),
	};
}

/** Ranges of one number each, so that ranges need not begin and end where they did. */
type Changed = Readonly<Record<DatabaseKind, readonly HostRange[]>>;

function changedRanges(before: Topology, next: Topology): Changed {
	const [old, now] = [rangesByKind(before), rangesByKind(next)];
	const of = (kind: DatabaseKind) => {
		const known = new Map(singles(old[kind]));
		return singles(now[kind]).flatMap(([number, range]) => {
			const then = known.get(number);
			const isSame = then !== undefined && !isAsked(then, range);
			return isSame ? [] : [{ ...range, range: [number, number] } as HostRange];
		});
	};
	return {
		db: of("db"),
		mod: of("mod"),
		feed: of("feed"),
		queue: of("queue"),
		pool: of("pool"),
	};
}

/** Whether a host takes the place of another, or gets new users, or more of them. */
function isAsked(then: HostRange, now: HostRange): boolean {
	const url = (text: string | undefined) =>
		text === undefined ? null : redactHostUrl(text);
	const isReplacing =
		url(now.replica) !== null && url(now.replica) !== url(then.replica);
	const placement = ({ open, weight = 1 }: Partial<ShardRange>) =>
		open === true ? weight : 0;
	return (
		url(then.primary) !== url(now.primary) ||
		isReplacing ||
		placement(now) > placement(then)
	);
}

function singles(
	ranges: readonly HostRange[],
): readonly (readonly [number, HostRange])[] {
	return ranges.flatMap((range) =>
		shardsOf([range]).map((number) => [number, range] as const),
	);
}

function hostsOf(changed: Changed): ReadonlySet<string> {
	const urls = Object.values(changed)
		.flat()
		.flatMap(({ primary, replica }) => [primary, replica ?? primary]);
	return new Set(
		urls.flatMap((url) => {
			const parsed = parseHostUrl(url);
			return parsed?.scheme === "mysql" ? [parsed.name] : [];
		}),
	);
}

/** Databases, and the primary of each. */
function databasesOf(ranges: Changed): ReadonlyMap<string, string> {
	return new Map(
		Object.entries(ranges).flatMap(([kind, some]) =>
			singles(some).map(([number, { primary }]) => [
				databaseName(kind as DatabaseKind, number),
				redactHostUrl(primary),
			]),
		),
	);
}

function databaseOf(table: string): string {
	return table.split(".")[0] ?? table;
}

function describeMissing(
	tables: readonly string[],
	isWhereItWas: (table: string) => boolean,
): readonly string[] {
	const { moved = [], stayed = [] } = Object.groupBy(tables, (table) =>
		isWhereItWas(table) ? "stayed" : "moved",
	);
	const count = (some: readonly string[]) =>
		`${some.length}, such as ${some.slice(0, NAMED_TABLES).join(", ")}`;
	return compact([
		stayed.length > 0 &&
			`Tables are missing on hosts that had them: ${count(stayed)}. status says what to do about them.`,
		moved.length > 0 &&
			`Tables of databases that are elsewhere now are missing: ${count(moved)}. Is it the right host? Otherwise copy them there first; those of queues and pools alone may be made empty, by ${CREATE_TABLES}.`,
	]);
}

function isOnMysql({ lookups: [first] }: Topology): boolean {
	return first !== undefined && parseHostUrl(first.primary)?.scheme === "mysql";
}
