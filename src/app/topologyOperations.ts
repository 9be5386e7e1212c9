import type { Config } from "../config/config.ts";
import { CorkboardError } from "../errors.ts";
import {
	addShards,
	hasShards,
	placeShards,
	type Shards,
} from "../ops/placeShards.ts";
import { publishTopology } from "../ops/publishTopology.ts";
import { hostProblems } from "../storage/hostReport.ts";
import { openMysqlStorage } from "../storage/mysql/mysqlStorage.ts";
import { type Agreement, agreed } from "../topology/barrier.ts";
import { type HistoryEntry, readCurrent } from "../topology/history.ts";
import { parseHostUrl, redactHostUrl } from "../topology/hostUrl.ts";
import type { TopologyStore } from "../topology/store.ts";
import type { Topology } from "../topology/types.ts";
import { createTables, recordInStore } from "./madeTables.ts";
import { loadOwnModel } from "./model.ts";
import { openTopologyStore } from "./openTopology.ts";

/** Members take milliseconds; one that runs a long call takes 30 s. */
export const AGREEMENT_MS = 40_000;

/** The store of the settings, to change it. Throws BAD_CONFIG for an embedded topology. */
export function storeToChange({ store }: Config): TopologyStore {
	if (store.kind === "topology") return openTopologyStore(store);
	throw new CorkboardError(
		"BAD_CONFIG",
		"An embedded topology does not change. Set CORKBOARD_TOPOLOGY.",
	);
}

/** The current topology. Throws NOT_FOUND where there is none. */
export async function currentTopology(store: TopologyStore): Promise<Topology> {
	const current = await readCurrent(store);
	if (current !== null) return current.topology;
	throw new CorkboardError(
		"NOT_FOUND",
		`${store.name} has no topology yet. Put one there with topology publish.`,
	);
}

/** Shards to open, and where new ones are. */
export interface Opening {
	readonly range: Shards;
	/** Null: they are in the topology. */
	readonly hosts: {
		readonly primary: string;
		readonly replica?: string;
	} | null;
	readonly weight?: number;
	/** Ids of members that are known to be dead. */
	readonly without?: readonly string[];
	readonly agreementMs?: number;
	/** One line of progress. */
	report(line: string): void;
}

/**
 * Opens shards for new users. New shards are published closed first, and opened
 * when all processes know them: one that is behind would answer null for a user that
 * another has just created there. Run again after an interruption, it goes on
 * where it was. Throws UNAVAILABLE where a member does not go over in time: nothing is opened then.
 */
export async function openRange(
	store: TopologyStore,
	{
		range,
		hosts,
		weight,
		without = [],
		agreementMs = AGREEMENT_MS,
		report,
	}: Opening,
): Promise<HistoryEntry> {
	const why = `open ${range.join("-")}`;
	if (hosts !== null) {
		const now = await currentTopology(store);
		await prepareHosts(store, addedTo(now, range, hosts), hosts, report);
		if (!hasShards(now, range, hosts)) {
			const { topology } = await publishTopology(
				store,
				(current) => addedTo(required(current), range, hosts),
				{ why: `${why}, closed` },
			);
			report(`version ${topology.version} has the shards, closed`);
		}
	}
	const { version } = await currentTopology(store);
	requireAgreement(
		await agreed(store, version, agreementMs, { without }),
		version,
		report,
	);
	const change = { open: true, ...(weight !== undefined && { weight }) };
	const opened = await publishTopology(
		store,
		(current) => placeShards(required(current), range, change),
		{ why: weight === undefined ? why : `${why}, weight ${weight}` },
	);
	report(`version ${opened.topology.version} opens them`);
	return opened;
}

/**
 * Looks whether `openRange` can begin, and changes nothing. Throws as it does, for
 * shards that are elsewhere already, and for hosts with problems.
 */
export async function checkOpening(
	store: TopologyStore,
	{
		range,
		hosts,
		weight,
		report,
	}: Pick<Opening, "range" | "hosts" | "weight" | "report">,
): Promise<void> {
	const now = await currentTopology(store);
	const next = hosts === null ? now : addedTo(now, range, hosts);
	if (hosts !== null) {
		await using _ = await inspectHosts(next, hosts, true, report);
	}
	placeShards(next, range, {
		open: true,
		...(weight !== undefined && { weight }),
	});
}

function required(topology: Topology | null): Topology {
	if (topology !== null) return topology;
	throw new CorkboardError("NOT_FOUND", "The topology is gone.");
}

/** The topology with these shards: as they are there, or closed. */
function addedTo(
	topology: Topology,
	range: Shards,
	hosts: { readonly primary: string; readonly replica?: string },
): Topology {
	return hasShards(topology, range, hosts)
		? topology
		: addShards(topology, range, hosts);
}

type Hosts = NonNullable<Opening["hosts"]>;

/** Looks at the hosts and makes the tables. */
async function prepareHosts(
	store: TopologyStore,
	topology: Topology,
	hosts: Hosts,
	report: (line: string) => void,
): Promise<void> {
	await using storage = await inspectHosts(topology, hosts, false, report);
	await createTables(storage, recordInStore(store), {
		mayBeNew: true,
		isPart: true,
	});
	report("every shard has its tables");
}

/** The storage of the hosts; throws BAD_DATA where something is wrong with them. */
async function inspectHosts(
	topology: Topology,
	{ primary, replica }: Hosts,
	readOnly: boolean,
	report: (line: string) => void,
): Promise<Awaited<ReturnType<typeof openMysqlStorage>>> {
	const { model } = loadOwnModel();
	const names = [primary, ...(replica === undefined ? [] : [replica])].map(
		(url) => {
			const parsed = parseHostUrl(url);
			if (parsed?.scheme === "mysql") return parsed.name;
			throw new CorkboardError(
				"BAD_TOPOLOGY",
				`New shards need MySQL hosts, mysql://USER:PASSWORD@HOST:PORT, got ${redactHostUrl(url)}.`,
			);
		},
	);
	const shards = topology.shards.filter((each) => each.primary === primary);
	await using stack = new AsyncDisposableStack();
	const storage = stack.use(
		await openMysqlStorage({
			model,
			topology: { ...topology, shards, queues: [], feeds: [] },
			readOnly,
		}),
	);
	const reports = (await storage.inspectHosts()).filter(({ host }) =>
		names.includes(host),
	);
	const problems = hostProblems(reports);
	if (problems.length > 0) {
		throw new CorkboardError("BAD_DATA", problems.join("\n"));
	}
	report(`${names.join(", ")}: good`);
	stack.move();
	return storage;
}

function requireAgreement(
	{ by, agreed: all, missing, ms }: Agreement,
	version: number,
	report: (line: string) => void,
): void {
	if (missing.length > 0) {
		const names = missing.map(({ id, oldest }) => `${id} at ${oldest}`);
		throw new CorkboardError(
			"UNAVAILABLE",
			`${missing.length} of ${all.length + missing.length} members do not serve version ${version} yet: ${names.join(", ")}. Nothing is opened. Run it again, with --without ID for one that is dead.`,
		);
	}
	const seconds = (ms / 1_000).toFixed(1);
	report(
		by === "time"
			? `waited ${seconds} s for processes to read version ${version}: there are no members to ask`
			: `${all.length} of ${all.length} members serve version ${version} after ${seconds} s`,
	);
}
