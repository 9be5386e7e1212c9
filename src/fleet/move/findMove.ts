import { CorkboardError } from "../../errors.ts";
import { parseHostUrl } from "../../topology/hostUrl.ts";
import type { Topology } from "../../topology/types.ts";
import { databaseName } from "../map/databases.ts";
import type { Shards } from "../map/edits.ts";
import { allRanges, namedSo, nameOf } from "../map/mapRanges.ts";
import { withHost } from "../map/replicaHosts.ts";
import {
	type MOVED_LISTS,
	type MoveHost,
	moveFactsIn,
	type Wave,
} from "../operations/moveFacts.ts";
import type { OperationRecord } from "../operations/operationRecord.ts";
import { needsNoRunner } from "../operations/operations.ts";

export type MovedList = (typeof MOVED_LISTS)[number];

/** What of a map moves where, as somebody asks for it. */
export interface AskedMove {
	readonly list: MovedList;
	readonly range: Shards;
	/** A primary as the map names it; or of a new host its `host:port` or its URL. */
	readonly to: string;
	/** The replica of a new host. */
	readonly replica?: string | undefined;
	/** How many switch together. */
	readonly wave: number;
}

/** Both ends of a move, and its waves. */
export interface FoundMove {
	readonly list: MovedList;
	readonly range: Shards;
	readonly from: MoveHost;
	readonly to: MoveHost;
	/** Whether the map does not name `to` yet. */
	readonly isNew: boolean;
	readonly waves: readonly Shards[];
}

const KINDS: Readonly<Record<MovedList, "db" | "mod" | "feed" | "pool">> = {
	shards: "db",
	lookups: "mod",
	feeds: "feed",
	pools: "pool",
};

/** What a move is by the map alone. Throws BAD_TOPOLOGY, with what was expected. */
export function findMove(topology: Topology, asked: AskedMove): FoundMove {
	const { list, range, wave } = asked;
	const [first, last] = range;
	const parts = (topology[list] ?? []).filter(
		(each) => each.range[0] <= last && first <= each.range[1],
	);
	const covered = parts.reduce(
		(sum, { range: [low, high] }) =>
			sum + Math.min(high, last) - Math.max(low, first) + 1,
		0,
	);
	if (covered < last - first + 1) {
		throw refused(
			`the topology has ${covered} of the ${last - first + 1} ${list} from ${first} to ${last}.`,
		);
	}
	const hosts = new Map(parts.map(({ primary }) => [nameOf(primary), primary]));
	const [[, fromUrl] = ["", ""]] = hosts;
	if (hosts.size > 1) {
		throw refused(
			`${list} ${first} to ${last} are on ${[...hosts.keys()].join(" and ")}: move the part of each host by itself.`,
		);
	}
	if (parseHostUrl(fromUrl)?.scheme !== "mysql") {
		throw refused(
			`${list} ${first} to ${last} are in a folder of SQLite files, which does not move.`,
		);
	}
	const from = pairOf(topology, fromUrl);
	const { to, isNew } = findTarget(topology, from, asked);
	if (to.name === from.name) {
		throw refused(`${list} ${first} to ${last} are on ${to.name} already.`);
	}
	return { list, range, from, to, isNew, waves: wavesOf(range, wave) };
}

function findTarget(
	topology: Topology,
	from: MoveHost,
	{ to, replica }: AskedMove,
): { readonly to: MoveHost; readonly isNew: boolean } {
	const isUrl = to.startsWith("mysql:");
	if (isUrl && parseHostUrl(to)?.scheme !== "mysql") {
		throw refused(
			"--to must be a primary of the topology, host:port, or mysql://[USER:PASSWORD@]HOST:PORT.",
		);
	}
	const given = isUrl ? nameOf(to) : to;
	const primaries = new Map(
		allRanges(topology).map(({ primary }) => [nameOf(primary), primary]),
	);
	const [known, another] = namedSo(primaries.keys(), given);
	if (another !== undefined) {
		throw refused(`--to names several primaries: ${known} and ${another}.`);
	}
	if (known !== undefined) {
		const pair = pairOf(topology, primaries.get(known) as string);
		const same = replica === undefined || pair.replica === replicaUrl();
		if (same) return { to: pair, isNew: false };
		throw refused(
			`${known} is in the topology, with ${pair.replica === null ? "no replica" : `the replica ${nameOf(pair.replica)}`}: leave --replica out.`,
		);
	}
	const url = isUrl ? accountOf(to, from) : withHost(from.url, given);
	const name = nameOf(url);
	const taken = allRanges(topology).find(
		(each) => each.replica !== undefined && nameOf(each.replica) === name,
	);
	if (taken !== undefined) {
		throw refused(
			`${name} is the replica of ${nameOf(taken.primary)}, which takes no writes.`,
		);
	}
	return { to: { name, url, replica: replicaUrl() ?? null }, isNew: true };

	function replicaUrl(): string | undefined {
		if (replica === undefined) return undefined;
		const url = replica.startsWith("mysql:")
			? accountOf(replica, from)
			: withHost(from.url, replica);
		if (parseHostUrl(url)?.scheme === "mysql") return url;
		throw refused(
			"--replica must be host:port, or mysql://[USER:PASSWORD@]HOST:PORT.",
		);
	}
}

/** A URL without an account has that of the source: servers of a fleet share it. */
function accountOf(url: string, from: MoveHost): string {
	const parsed = URL.parse(url);
	return parsed === null ||
		parsed.host === "" ||
		parsed.username !== "" ||
		parsed.search !== ""
		? url
		: withHost(from.url, parsed.host);
}

function pairOf(topology: Topology, url: string): MoveHost {
	const name = nameOf(url);
	const named = allRanges(topology).filter(
		({ primary }) => nameOf(primary) === name,
	);
	const replica = named.find((each) => each.replica !== undefined)?.replica;
	return { name, url, replica: replica ?? null };
}

/** `256-271, 272-287, …` */
export function wavesOf(
	[first, last]: Shards,
	size: number,
): readonly Shards[] {
	const waves: Shards[] = [];
	for (let low = first; low <= last; low += size) {
		waves.push([low, Math.min(last, low + size - 1)]);
	}
	return waves;
}

export function databaseKind(list: MovedList): "db" | "mod" | "feed" | "pool" {
	return KINDS[list];
}

/** `db00256`, … of a wave. */
export function databasesOf(
	list: MovedList,
	[first, last]: Shards,
): readonly string[] {
	return numbers(first, last).map((number) =>
		databaseName(KINDS[list], number),
	);
}

/** Where a former copy of a database is kept: `park_db00256`. */
export function parkedName(database: string): string {
	return `park_${database}`;
}

function numbers(first: number, last: number): readonly number[] {
	return Array.from({ length: last - first + 1 }, (_, at) => first + at);
}

/** A wave as it begins. */
export function newWave([first, last]: Shards): Wave {
	return {
		range: [first, last],
		state: "waiting",
		at: "from",
		switches: 0,
		left: null,
		back: null,
		version: null,
		pauses: [],
		tries: 0,
		late: [],
	};
}

/** The databases that a move may have fenced, each after the names of both servers of either pair: replicas have the fence, too. */
export function fencedBy(record: OperationRecord): readonly string[] {
	if (record.kind !== "move" || needsNoRunner(record.step)) return [];
	const { list, waves, from, to } = moveFactsIn(record);
	const names = [from, to].flatMap(({ name, replica }) =>
		replica === null ? [name] : [name, nameOf(replica)],
	);
	return waves.flatMap(({ range }) =>
		databasesOf(list, range).flatMap((database) =>
			names.map((name) => `${name} ${database}`),
		),
	);
}

function refused(message: string): CorkboardError {
	return new CorkboardError("BAD_TOPOLOGY", `This cannot move: ${message}`);
}
