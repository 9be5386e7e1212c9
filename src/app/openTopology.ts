import type { Config } from "../config/config.ts";
import { CorkboardError } from "../errors.ts";
import { CacheAgreement } from "../freshness/cacheAgreement.ts";
import { STORAGE_CHANNELS } from "../storage/diagnostics.ts";
import { AcknowledgedWrites } from "../storage/mysql/driver/acknowledgedWrites.ts";
import type { HostWriteGuard } from "../storage/mysql/driver/commitProtocol.ts";
import { answerAsks } from "../topology/asks.ts";
import { DumpWatch } from "../topology/dumps.ts";
import { openFileStore } from "../topology/file/fileStore.ts";
import { openLastGood } from "../topology/guards/lastGood.ts";
import { ServerGuard } from "../topology/guards/serverGuard.ts";
import { WriteGuard } from "../topology/guards/writeGuard.ts";
import { type MemberIdentity, Membership } from "../topology/members.ts";
import { MoveWatch } from "../topology/moves.ts";
import { embeddedTopology, parseTopology } from "../topology/parseTopology.ts";
import {
	type ReadableStore,
	TOPOLOGY,
	type TopologyStore,
} from "../topology/store.ts";
import type { Topology } from "../topology/types.ts";
import { openZookeeperStore } from "../topology/zookeeper/zookeeperStore.ts";
import { readTextFileSync } from "../util/textFile.ts";

const NONE: ReadonlySet<string> = new Set();

/** The topology a process starts with, and where its later versions come from. */
export interface TopologySource extends AsyncDisposable {
	/** The version in use. */
	readonly topology: Topology;
	/** Why the version in use is not the stored one, or is not known to be; null if it is. */
	readonly problem: CorkboardError | null;
	/** Where it comes from; null for an embedded one, which nobody else sees. */
	readonly store: ReadableStore | null;
	/** Asked before each COMMIT on MySQL, from `follow` on; null if the topology never changes. */
	readonly writeGuard: HostWriteGuard | null;
	/** Hosts whose failover lost what was acknowledged: nothing is written there, and caches of their shards hold what is lost. */
	readonly stoppedHosts: ReadonlySet<string>;
	/** Keeps the fleet on the same shared caches; null if processes cannot be announced, or nobody else is there. */
	readonly cacheAgreement: CacheAgreement | null;
	/** Calls it when these are others. */
	followStops(onChange: (hosts: ReadonlySet<string>) => void): void;
	/**
	 * From now on calls `onChange` with each newer version, and reports to the other
	 * processes what this one serves. `oldest` is the oldest version that a call still runs on.
	 */
	follow(
		onChange: (topology: Topology) => Promise<void>,
		oldest?: () => number,
	): void;
	/** Call it when `oldest` may have risen. */
	oldestChanged(): void;
}

/** Roles of processes whose metrics say what moves do, and what became of dumps. */
const WATCHING = ["serve", "worker"];

/**
 * Reads the topology once, for the whole process: the stored one, or its kept copy
 * if that cannot be used. A process that follows it is announced to the fleet before it reads.
 */
export async function openTopology(
	config: Config,
	identity: MemberIdentity | null = null,
	/** How long a store may take to answer. Milliseconds; null: as long as a server waits. */
	waitMs: number | null = null,
): Promise<TopologySource> {
	const { store: configured } = config;
	if (configured.kind === "embedded") {
		return fixedTopology(embeddedTopology(configured.folder));
	}
	await using opened = new AsyncDisposableStack();
	const store = opened.use(openTopologyStore(configured, waitMs));
	const member =
		identity === null ? null : opened.use(new Membership(store, identity));
	let servers: ServerGuard | null = null;
	if (member !== null) {
		const writes = opened.use(new AcknowledgedWrites());
		opened.use(
			answerAsks(store, member.id, (question) => {
				const { host, server } = question;
				if (server !== undefined) {
					STORAGE_CHANNELS.foundElsewhere.publish({
						host,
						server,
					});
				}
				return writes.answer(question);
			}),
		);
		servers = opened.use(
			new ServerGuard(
				store,
				(host) => writes.answer({ host, missing: null }).acknowledged,
			),
		);
		await member.say(0, 0);
		if (identity !== null && WATCHING.includes(identity.role)) {
			opened.use(new MoveWatch(store));
			opened.use(new DumpWatch(store));
		}
	}
	const source = opened.use(
		await openLastGood(store, {
			keptCopy: configured.copy,
			keeps: member !== null,
		}),
	);
	// Beside the topology, which takes as long if the store does not answer.
	await servers?.ready;
	const resources = opened.move();
	let guard: WriteGuard | null = null;
	let oldest = () => source.topology.version;
	let serving: number | null = null;
	const say = () => {
		if (serving === null) return Promise.resolve();
		return (
			member?.say(serving, Math.min(serving, oldest())) ?? Promise.resolve()
		);
	};
	return {
		store,
		get topology() {
			return source.topology;
		},
		get problem() {
			return source.problem;
		},
		writeGuard: {
			begin: () => guard?.begin(),
			refusal(host) {
				const refusal = servers?.refusal(host) ?? null;
				const next = () => guard?.refusal(host) ?? null;
				if (refusal === null) return next();
				return typeof refusal === "string"
					? refusal
					: refusal.then((reason) => reason ?? next());
			},
			found: (server) => servers?.found(server),
			isStopped: (host) => servers?.stopped.has(host) ?? false,
		},
		cacheAgreement:
			member !== null && store.hasMembers
				? resources.use(new CacheAgreement(store, member))
				: null,
		get stoppedHosts() {
			return servers?.stopped ?? NONE;
		},
		followStops(onChange) {
			if (servers !== null) servers.onStopped = onChange;
		},
		follow(onChange, oldestInUse) {
			guard = resources.use(new WriteGuard(source));
			if (oldestInUse !== undefined) oldest = oldestInUse;
			serving = source.topology.version;
			void say();
			source.follow(async (topology) => {
				await onChange(topology);
				serving = topology.version;
				// Not waited for: the version is in use whether the store knows it or not.
				void say();
			});
		},
		oldestChanged: () => void say(),
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

/** The store that a topology is kept in. It connects in the background. */
export function openTopologyStore(
	configured: Extract<Config["store"], { kind: "topology" }>,
	waitMs: number | null = null,
): TopologyStore {
	const { location } = configured;
	if (location.scheme === "file") return openFileStore(location.file);
	const { servers, path: root, authFile } = location;
	return openZookeeperStore({
		name: configured.name,
		servers,
		root,
		auth: authFile === null ? null : readAuth(authFile),
		...(waitMs !== null && { waitMs }),
	});
}

/** What is off because nothing can be written beside the file of the map; null: nothing is. */
export async function protectionsOff({
	store: configured,
}: Config): Promise<string | null> {
	if (configured.kind === "embedded" || configured.location.scheme !== "file")
		return null;
	await using store = openTopologyStore(configured);
	return store.hasMembers
		? null
		: "Nothing can be written beside the file of the map, so processes cannot announce themselves: nobody compares their caches and models, nobody knows which tables were created once, and after a failover that lost writes each stops by itself.";
}

function readAuth(file: string): string {
	try {
		return readTextFileSync(file).trim();
	} catch (cause) {
		throw new CorkboardError(
			"BAD_CONFIG",
			`CORKBOARD_TOPOLOGY_AUTH_FILE cannot be read: ${(cause as Error).message}`,
			{ cause },
		);
	}
}

/** A topology that never changes. */
export function fixedTopology(topology: Topology): TopologySource {
	return {
		topology,
		problem: null,
		store: null,
		writeGuard: null,
		stoppedHosts: NONE,
		cacheAgreement: null,
		followStops() {},
		follow() {},
		oldestChanged() {},
		async [Symbol.asyncDispose]() {},
	};
}

/** The topology as it is configured now. Throws if the stored one cannot be used, whatever its kept copy holds: for commands that check it. */
export async function readConfiguredTopology({
	store: configured,
}: Config): Promise<Topology> {
	if (configured.kind === "embedded")
		return embeddedTopology(configured.folder);
	await using store = openTopologyStore(configured);
	const found = await store.get(TOPOLOGY);
	if (found === null) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`${configured.name}: expected a topology but got: nothing. Put one there with map publish.`,
		);
	}
	return parseTopology(configured.name, found.text);
}
