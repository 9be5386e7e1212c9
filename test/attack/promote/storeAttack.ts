import { setTimeout as sleep } from "node:timers/promises";
import { listVersions, readCurrent } from "../../../src/topology/history.ts";
import { readMembers } from "../../../src/topology/members.ts";
import type { TopologyStore } from "../../../src/topology/store.ts";
import { openZookeeperStore } from "../../../src/topology/zookeeper/zookeeperStore.ts";
import { startProgram } from "../../helpers/program.ts";
import type { Server } from "../../services/server.ts";
import { median } from "./evidence.ts";
import { type Fleet, startFleet } from "./fleet.ts";
import { type LoadReport, OpenLoad } from "./load.ts";

export interface StoreAttackOptions {
	/** A second, over all servers. */
	readonly reads: number;
	readonly writes: number;
	/** Server processes. */
	readonly servers: number;
	/** How often a publisher is killed. */
	readonly kills: number;
	/** The load without a fault, between two of them. Milliseconds. */
	readonly betweenMs: number;
}

export interface StoreReport extends LoadReport {
	/** One for each time that ZooKeeper servers were stopped or killed. */
	readonly faults: readonly {
		readonly fault: string;
		/** Until every server was listed as a member again, from the end of the fault. Milliseconds. */
		readonly listedMs: number;
	}[];
	/** From the publication of a version until all servers serve it. Milliseconds. */
	readonly adoptedMs: { readonly p50: number; readonly max: number };
	readonly publications: number;
	readonly kills: number;
	/** Killed publishers whose version is there. */
	readonly publishedByKilled: number;
	/** Versions without an entry in the history, and entries without their version. */
	readonly torn: readonly string[];
	readonly isBroken: boolean;
}

/** Longer than a session lives. */
const EXPIRED_MS = 12_000;
/** How long one ZooKeeper server is stopped or dead. */
const AWAY_MS = 5_000;
const LISTED_MS = 10_000;
const ADOPTED_MS = 1_000;
/** Longer than a write of the store that a killed publisher has sent. */
const SENT_MS = 1_000;
const LOOK_MS = 20;
const PUBLICATIONS = 20;
const WAIT_MS = 30_000;

/**
 * Stops and kills the servers of a ZooKeeper ensemble, one after the other and all
 * at once until all sessions have expired, and kills publishers at random
 * moments, while servers of the fleet read and write.
 */
export async function attackStore(
	options: StoreAttackOptions,
	say: (line: string) => void,
): Promise<StoreReport> {
	await using stack = new AsyncDisposableStack();
	const fleet = stack.use(
		await startFleet({ ...options, shards: 4, store: "ensemble" }),
	);
	const { clients, writers, zookeepers } = fleet;
	const store = stack.use(
		openZookeeperStore({
			name: "zk",
			servers: zookeepers.map(({ address }) => address),
			root: "/corkboard",
		}),
	);
	const load = new OpenLoad({ ...options, clients, writers });
	stack.defer(() => load.end());
	const failures: string[] = [];

	const faults: { readonly fault: string; readonly listedMs: number }[] = [];
	const during = async (
		fault: string,
		begin: () => Promise<void>,
		end: () => Promise<void>,
		awayMs: number,
	) => {
		say(fault);
		await begin();
		await sleep(awayMs);
		await end();
		const listedMs = await untilListed(store, options.servers);
		faults.push({ fault, listedMs });
		if (listedMs > LISTED_MS) {
			failures.push(`${fault}: servers were listed after ${listedMs} ms`);
		}
		await sleep(options.betweenMs);
	};
	await sleep(options.betweenMs);
	for (const [nth, server] of zookeepers.entries()) {
		const name = `ZooKeeper ${nth + 1}`;
		await during(
			`${name} stopped`,
			async () => server.pause(),
			async () => server.resume(),
			AWAY_MS,
		);
		await during(
			`${name} killed`,
			() => server.kill(),
			() => server.restart(),
			AWAY_MS,
		);
	}
	await during(
		"all stopped until every session has expired",
		() => each(zookeepers, async (server) => server.pause()),
		() => each(zookeepers, async (server) => server.resume()),
		EXPIRED_MS,
	);
	await during(
		"all killed",
		() => each(zookeepers, (server) => server.kill()),
		() => each(zookeepers, (server) => server.restart()),
		EXPIRED_MS,
	);

	const adopted: number[] = [];
	const published: number[] = [];
	for (let nth = 1; nth <= PUBLICATIONS; nth++) {
		const took = untilAdopted(store, options.servers);
		const began = performance.now();
		const { code, out, err } = await fleet.run(...weighing(nth));
		if (code !== 0) failures.push(`shards weigh: ${out}${err}`);
		published.push(performance.now() - began);
		adopted.push(await took);
	}
	const max = Math.max(...adopted);
	if (max > ADOPTED_MS) failures.push(`a version was adopted after ${max} ms`);

	say(`${options.kills} publishers killed`);
	let publishedByKilled = 0;
	const torn: string[] = [];
	for (let nth = 1; nth <= options.kills; nth++) {
		const before = await currentVersion(store);
		await killPublisher(fleet, PUBLICATIONS + nth, median(published));
		let half = await halfPublished(store);
		if (half.length > 0) {
			// The store took it between two looks.
			await sleep(SENT_MS);
			half = await halfPublished(store);
		}
		const after = await currentVersion(store);
		if (after > before) publishedByKilled++;
		if (after > before + 1) torn.push(`${after} follows ${before}`);
		torn.push(...half.map((version) => `kill ${nth}: ${version} of ${after}`));
	}
	await untilListed(store, options.servers);
	await load.end();
	const report = load.report(failures);
	return {
		...report,
		faults,
		adoptedMs: { p50: median(adopted), max },
		publications: PUBLICATIONS,
		kills: options.kills,
		publishedByKilled,
		torn,
		isBroken: report.failed + torn.length > 0,
	};
}

/** Each time another weight than the last. */
function weighing(nth: number): readonly string[] {
	return ["shards", "weigh", "0-3", String(1 + (nth % 2))];
}

async function each(
	servers: readonly Server[],
	act: (server: Server) => Promise<void>,
): Promise<void> {
	await Promise.all(servers.map(act));
}

/** At a moment at which it starts, publishes, or waits for the servers: it takes about `publishedMs` for all. */
async function killPublisher(
	fleet: Fleet,
	nth: number,
	publishedMs: number,
): Promise<void> {
	await using publisher = startProgram(weighing(nth), { env: fleet.env });
	await sleep(Math.random() * publishedMs);
	publisher.send("SIGKILL");
	await publisher.ended;
}

async function currentVersion(store: TopologyStore): Promise<number> {
	return (await readCurrent(store))?.topology.version ?? 0;
}

/** Versions that lack their entry in the history, or are in it and were never current. */
async function halfPublished(store: TopologyStore): Promise<readonly number[]> {
	const current = await currentVersion(store);
	const entries = await listVersions(store);
	const due = Array.from({ length: current }, (_, n) => n + 1);
	return [
		...due.filter((version) => !entries.includes(version)),
		...entries.filter((version) => version > current),
	];
}

/** Milliseconds until every server of the fleet is a member. */
async function untilListed(
	store: TopologyStore,
	servers: number,
): Promise<number> {
	const began = performance.now();
	while (performance.now() - began < WAIT_MS) {
		const members = await readMembers(store).catch(() => []);
		if (members.length === servers) break;
		await sleep(LOOK_MS);
	}
	return performance.now() - began;
}

/** Milliseconds from when the next version is there until all servers serve it. */
async function untilAdopted(
	store: TopologyStore,
	servers: number,
): Promise<number> {
	const old = await currentVersion(store);
	const limit = performance.now() + WAIT_MS;
	while ((await currentVersion(store)) === old && performance.now() < limit) {
		await sleep(LOOK_MS);
	}
	const began = performance.now();
	while (performance.now() < limit) {
		const members = await readMembers(store);
		const there = members.filter(({ version }) => version > old);
		if (there.length === servers) break;
		await sleep(LOOK_MS);
	}
	return performance.now() - began;
}
