import { openTopologyStore } from "../app/openTopology.ts";
import type { Config } from "../config/config.ts";
import { CorkboardError } from "../errors.ts";
import type { Model } from "../model/types.ts";
import { createTables, recordInStore } from "../ops/madeTables.ts";
import { CREATE_TABLES, hostProblems } from "../storage/hostReport.ts";
import { openMysqlStorage } from "../storage/mysql/mysqlStorage.ts";
import { parseHostUrl, redactHostUrl } from "../topology/hostUrl.ts";
import type { TopologyStore } from "../topology/store.ts";
import type { Topology } from "../topology/types.ts";
import { changeProblems } from "./changeProblems.ts";
import { type Agreement, agreed } from "./map/barrier.ts";
import { addShards, hasShards, placeShards, type Shards } from "./map/edits.ts";
import {
	existing,
	type Published,
	type Publishing,
	publish,
	requireCurrent,
} from "./map/publish.ts";

/** Members take milliseconds; one that runs a long call takes 30 s. */
export const AGREEMENT_MS = 40_000;

/** The store of the settings, to change it. Throws BAD_CONFIG for an embedded topology. */
export function storeToChange({ store }: Config): TopologyStore {
	if (store.kind === "topology") return openTopologyStore(store);
	throw new CorkboardError(
		"BAD_CONFIG",
		"An embedded folder has no shard map to show or to change. Set CORKBOARD_TOPOLOGY.",
	);
}

/**
 * Publishes as `publish` does, after everything that may be refused was tried: the
 * rules, and the hosts, unless they are not to be asked. A dry run ends there.
 * Throws BAD_DATA with what hosts say.
 */
export async function publishAsked(
	store: TopologyStore,
	publishing: Publishing,
	{ model, isUnchecked, report }: Asking,
): Promise<Published> {
	const rehearsed = await publish(store, { ...publishing, isDryRun: true });
	if (!rehearsed.isNew) return rehearsed;
	if (!isUnchecked) {
		const { before, topology } = rehearsed;
		const { problems, toCreate } = await changeProblems(
			model,
			before,
			topology,
		);
		if (problems.length > 0) {
			throw new CorkboardError(
				"BAD_DATA",
				[
					...problems,
					"So nothing is published. To publish it all the same: --unchecked.",
				].join("\n"),
			);
		}
		if (toCreate.length > 0) {
			report(`${toCreate.length} tables are new: next, run ${CREATE_TABLES}`);
		}
	}
	return publishing.isDryRun ? rehearsed : publish(store, publishing);
}

export interface Asking {
	/** Says which tables the hosts are to have. */
	readonly model: Model;
	/** Whether the hosts are not asked. */
	readonly isUnchecked: boolean;
	/** One line of progress. */
	report(line: string): void;
}

/** Shards to open, and where new ones are. */
export interface Opening extends Asking {
	readonly range: Shards;
	/** Null: they are in the topology. */
	readonly hosts: {
		readonly primary: string;
		readonly replica?: string;
	} | null;
	readonly weight?: number;
	/** Ids of members that are known to be dead. */
	readonly without?: readonly string[];
}

/**
 * Opens shards for new users. New shards are published closed first, and opened
 * when all processes know them: one that is behind would answer null for a user that
 * another has just created there. Run again after an interruption, it continues
 * where it was. Throws UNAVAILABLE if a member does not switch in time: nothing is opened then.
 */
export async function openRange(
	store: TopologyStore,
	opening: Opening,
): Promise<Topology> {
	const { model, range, hosts, without = [], report } = opening;
	const why = whyOf(opening);
	if (hosts === null) {
		await checkOpening(store, opening);
	} else {
		const adding = {
			edit: existing((now) => addedTo(now, range, hosts)),
			why: `${why}, closed`,
		};
		const next = await publish(store, { ...adding, isDryRun: true });
		await prepareHosts(model, store, next.topology, hosts, report);
		const { topology, isNew } = await publish(store, adding);
		if (isNew) report(`version ${topology.version} has the shards, closed`);
	}
	const { version } = (await requireCurrent(store)).topology;
	requireAgreement(
		await agreed(store, version, AGREEMENT_MS, { without }),
		version,
		report,
	);
	const { topology } = await publish(store, {
		edit: existing((now) => openedIn(now, opening)),
		why,
	});
	report(`version ${topology.version} opens them`);
	return topology;
}

/**
 * Does what `openRange` does before it changes anything. Throws as it does, for
 * shards that are elsewhere already, and for hosts with problems.
 */
export async function checkOpening(
	store: TopologyStore,
	opening: Omit<Opening, "without">,
): Promise<void> {
	const { model, hosts, report } = opening;
	const { topology } = await publishAsked(
		store,
		{
			edit: existing((now) => openedIn(now, opening)),
			why: whyOf(opening),
			isDryRun: true,
		},
		// New ones are looked at below, before they have tables.
		{ model, report, isUnchecked: opening.isUnchecked || hosts !== null },
	);
	if (hosts === null) return;
	await using _ = await inspectHosts(model, topology, hosts, true, report);
}

function whyOf({ range, weight }: Pick<Opening, "range" | "weight">): string {
	const why = `open ${range.join("-")}`;
	return weight === undefined ? why : `${why}, weight ${weight}`;
}

/** The map with these shards open, on new hosts where they are given. */
function openedIn(
	now: Topology,
	{ range, hosts, weight }: Pick<Opening, "range" | "hosts" | "weight">,
): Topology {
	const change = { open: true, ...(weight !== undefined && { weight }) };
	return placeShards(
		hosts === null ? now : addedTo(now, range, hosts),
		range,
		change,
	);
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
	model: Model,
	store: TopologyStore,
	topology: Topology,
	hosts: Hosts,
	report: (line: string) => void,
): Promise<void> {
	await using storage = await inspectHosts(
		model,
		topology,
		hosts,
		false,
		report,
	);
	await createTables(storage.admin, recordInStore(store), {
		mayBeNew: true,
		isPart: true,
	});
	report("every shard has its tables");
}

/** The storage of the hosts; throws BAD_DATA if something is wrong with them. */
async function inspectHosts(
	model: Model,
	topology: Topology,
	{ primary, replica }: Hosts,
	readOnly: boolean,
	report: (line: string) => void,
): Promise<Awaited<ReturnType<typeof openMysqlStorage>>> {
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
	const reports = (await storage.admin.inspectHosts()).filter(({ host }) =>
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
