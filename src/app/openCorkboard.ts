import { RedisServers } from "../cache/redis/redisServers.ts";
import type { Config } from "../config/config.ts";
import { embeddedSecrets } from "../config/embeddedSecrets.ts";
import type { Secrets } from "../config/secrets.ts";
import { CorkboardError } from "../errors.ts";
import { feedEvents } from "../feed/events.ts";
import type { FeedModel } from "../feed/feedModel.ts";
import type { HomeFeeds } from "../feed/homeFeeds.ts";
import type { FeedWork } from "../feed/jobs/feedContext.ts";
import { forgetUser } from "../feed/jobs/forgetUser.ts";
import { lookCostsOf, openHomeFeeds } from "../feed/openHomeFeeds.ts";
import { openPools } from "../feed/pools/openPools.ts";
import { OutboxWorker } from "../graph/outbox/outboxWorker.ts";
import { createJobQueue } from "../graph/store/createJobQueue.ts";
import type { Store } from "../graph/store/store.ts";
import { WritePipeline } from "../graph/write/pipeline.ts";
import type { RequestContext } from "../graphql/context.ts";
import { applyScalars } from "../graphql/scalars.ts";
import { createCursorCodec } from "../id/cursorCodec.ts";
import type { Id } from "../id/ids.ts";
import type { ModelAndSchema } from "../model/read.ts";
import { createStoredTypes } from "../model/storedTypes.ts";
import type { Model } from "../model/types.ts";
import { purgeEdges, startPurging } from "../ops/jobs/purgeEdges.ts";
import { PLAN_CACHE_LEVELS } from "../plan/diagnostics.ts";
import { createPlanner, type Planner } from "../plan/planner.ts";
import { type OpenedJobs, openJobs } from "../queue/openJobs.ts";
import {
	type AccessTokens,
	createAccessTokens,
	createJwksAccessTokens,
} from "../server/auth/accessTokens.ts";
import type { Storage, StorageAdmin } from "../storage/storage.ts";
import type { Topology } from "../topology/types.ts";
import type { WorkerLimits } from "../worker/limits.ts";
import { Worker } from "../worker/worker.ts";
import type { App } from "./defineApp.ts";
import {
	compareWithFleet,
	olderModel,
	requireNoContradiction,
} from "./fleetModel.ts";
import type { JobContext } from "./jobContext.ts";
import { jobKindsOf, jobQueuesOf } from "./jobKinds.ts";
import { type AccessMode, lockDataFolders, openStore } from "./openStore.ts";
import { openTopology, type TopologySource } from "./openTopology.ts";
import {
	type AppModel,
	modelFingerprint,
	readApp,
	requireLockKept,
} from "./readApp.ts";
import { createRequests, type Requests } from "./requests.ts";

/** Everything but HTTP, opened from the settings. */
export interface Corkboard extends AsyncDisposable, Requests {
	/** What it serves. */
	readonly app: App;
	readonly config: Config;
	readonly model: Model;
	/** What clients see. */
	readonly schema: ModelAndSchema["schema"];
	/** The version in use. */
	readonly topology: Topology;
	/** Why the topology in use is not the file's, but its kept copy; null if it is the file's. */
	readonly topologyProblem: CorkboardError | null;
	/** A sentence if the fleet's tables were made for a newer model than this program's; else null. */
	readonly modelProblem: string | null;
	readonly storage: Storage;
	/** What operations do with the shards. */
	readonly admin: StorageAdmin;
	/** The queues of jobs; null if the topology has none, or nothing may be written. */
	readonly queues: OpenedJobs | null;
	/**
	 * Runs jobs in this process until the worker is disposed of. Throws BAD_CONFIG
	 * if there are no queues, or one that no handler is for.
	 */
	startWorker(options: WorkerStart): Promise<Worker<JobContext>>;
	/** The Redis of the map, or that of the settings, shared by everything that uses them; null without one. */
	readonly redis: RedisServers | null;
	readonly store: Store;
	/** What the app's home feed is made of; null for an app without one. */
	readonly feedModel: FeedModel | null;
	/** Null for an app without one, or if there are no pools, or nothing may be written. */
	readonly feed: HomeFeeds | null;
	/** Deletes what is kept of a deleted object outside the graph. */
	readonly forget: (id: Id) => Promise<void>;
	readonly planner: Planner<RequestContext>;
	readonly accessTokens: AccessTokens;
}

interface WorkerStart {
	/** Whose jobs it runs; null: all. */
	readonly queues: readonly string[] | null;
	/** Jobs that run at the same time. */
	readonly concurrency: number;
	readonly limits?: Partial<WorkerLimits>;
}

/** The size of the plan cache. */
const MAX_PLANS = 1_000;
/** Lifetime of the tokens that `createUser` and `tokens create` issue. Seconds. */
const TOKEN_LIFETIME_S = 30 * 24 * 3_600;

/**
 * Opens an app in this process, in eight steps: the model, the map, the keys,
 * Redis, queues and pools, the graph, the feed, and how requests run.
 * `startCorkboardServer` serves it over HTTP; `query` needs no HTTP.
 *
 *     await using corkboard = await openCorkboard(app, readConfig(process.env));
 *     const { data } = await corkboard.query("{ viewer { id } }");
 *
 * Disposing of it ends all connections and timers. Throws BAD_CONFIG,
 * BAD_TOPOLOGY, BAD_DATA, IN_USE or UNAVAILABLE, and then leaves nothing open.
 */
export async function openCorkboard(
	/** Or what was read of it already. */
	given: App | AppModel,
	config: Config,
	access: AccessMode = "readWrite",
	/** What it is for the rest of the fleet: `serve`, `worker`, or a command. */
	role = "embedded",
): Promise<Corkboard> {
	await using opened = new AsyncDisposableStack();
	const own = "app" in given ? given : readApp(given);
	const { app, model, schema, domain, feedModel } = own;
	const opening: Opening = { app, config, access, opened };
	requireLockKept({ app, model });
	applyScalars(schema);
	const { topology, modelProblem } = await openMap(
		opening,
		{ app, model },
		role,
	);
	const { tokens, cursors } = await openKeys(config);
	const redis = await openRedis(config, topology.topology);
	const { queues, pools } = await openQueuesAndPools(
		opening,
		feedModel,
		topology,
		redis,
	);
	const { memcached, cacheBytes } = config;
	const { store, admin, outboxes } = await openStore(
		{
			model,
			domain,
			topology,
			cursors,
			access,
			memcached,
			redis,
			// Answers are made of what is kept.
			cacheBytes,
			jobQueue: queues && createJobQueue(queues.jobs, queues.store),
			writeEvents: feedModel && pools && feedEvents(feedModel),
			beside: [queues, pools].filter((one) => one !== null),
		},
		opened,
	);
	const jobs = queues?.jobs ?? null;
	const home =
		feedModel &&
		pools &&
		(await openHomeFeeds(
			config,
			{ model: feedModel, store, pools, jobs },
			opened,
		));
	const feed = home?.feeds ?? null;
	if (access === "readWrite") {
		// Its first pass runs in the background: readers are right without it.
		opened.use(new OutboxWorker(new WritePipeline(store), outboxes));
	}
	const planner = openPlanner(config, own, feed, opened);
	const requests = createRequests({
		...own,
		store,
		planner,
		feed,
		jobs,
		signToken: tokens.signs ? tokens.sign : null,
	});
	const work = home?.work ?? null;
	const forget = async (id: Id) => {
		if (work !== null) await forgetUser(store, work, id);
	};
	const ended = new AbortController();
	opened.defer(() => ended.abort());
	const resources = opened.move();
	return {
		app,
		config,
		model,
		schema,
		get topology() {
			return topology.topology;
		},
		get topologyProblem() {
			return topology.problem;
		},
		modelProblem,
		storage: store.storage,
		admin,
		redis,
		store,
		feedModel,
		feed,
		forget,
		planner,
		queues,
		accessTokens: tokens,
		...requests,
		startWorker: (options) =>
			startWorker(options, {
				app,
				queues,
				schema,
				store,
				ended: ended.signal,
				query: requests.query,
				work,
				forget,
			}),
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

/** What each step is opened with. */
interface Opening {
	readonly app: App;
	readonly config: Config;
	readonly access: AccessMode;
	/** Closes what was opened, the last first. */
	readonly opened: AsyncDisposableStack;
}

/** The map and, for who writes, its folders and its place in the fleet. */
async function openMap(
	{ config, access, opened }: Opening,
	own: Pick<AppModel, "app" | "model">,
	role: string,
) {
	const isWriting = access === "readWrite";
	const identity = { role, model: modelFingerprint(own.model) };
	const topology = opened.use(
		await openTopology(config, isWriting ? identity : null),
	);
	lockDataFolders(topology.topology, access, opened);
	const modelProblem = isWriting ? await checkFleetModel(own, topology) : null;
	return { topology, modelProblem };
}

/** Throws BAD_CONFIG if one is a node of a cluster. */
async function openRedis(
	{ redis }: Config,
	{ caches }: Topology,
): Promise<RedisServers | null> {
	if (redis === null && caches === undefined) return null;
	const opened = new RedisServers(redis, caches);
	await Promise.all(opened.all.map((each) => each.requireNoCluster()));
	return opened;
}

/** What tokens and cursors are signed with. */
async function openKeys(config: Config) {
	const secrets = config.secrets ?? (await embeddedSecrets(dataFolder(config)));
	return {
		tokens: createTokens(config, secrets),
		cursors: createCursorCodec(...secrets),
	};
}

/** The queues and pools, of who writes. */
async function openQueuesAndPools(
	{ app, config, access, opened }: Opening,
	feedModel: FeedModel | null,
	source: TopologySource,
	redis: RedisServers | null,
) {
	if (access === "readOnly") return { queues: null, pools: null };
	const { topology, writeGuard } = source;
	const following = { writeGuard, onRetired: () => source.oldestChanged() };
	const queues = await openJobs(
		{ topology, redis, queues: jobQueuesOf(app), ...following },
		opened,
	);
	const pools =
		feedModel &&
		(await openPools(topology, config.feed.isOn, {
			sources: feedModel.sources,
			...following,
		}));
	if (pools !== null) opened.use(pools);
	return { queues, pools };
}

/** How the tokens of clients are read, and made where Corkboard signs them itself. */
function createTokens({ identity }: Config, secrets: Secrets): AccessTokens {
	const { jwks, jwksMaxAgeMs, claims, operators } = identity;
	return jwks === null
		? createAccessTokens(secrets, TOKEN_LIFETIME_S, claims, operators.claims)
		: createJwksAccessTokens(
				{ url: jwks, maxAgeMs: jwksMaxAgeMs },
				claims,
				operators.claims,
			);
}

/** `opened` ends the report of its level. */
function openPlanner(
	{ maxCost }: Config,
	{ model, schema, domain, resolvers }: AppModel,
	feed: HomeFeeds | null,
	opened: AsyncDisposableStack,
): Planner<RequestContext> {
	const planner = createPlanner<RequestContext>({
		schema,
		model,
		resolvers,
		maxCost,
		fields: domain.fields,
		maxPlans: MAX_PLANS,
		visibility: domain.visibility,
		...(feed && { lookCosts: lookCostsOf(feed.parts.model) }),
	});
	opened.use(PLAN_CACHE_LEVELS.add(() => planner.level()));
	return planner;
}

async function startWorker(
	{ queues: names, ...options }: WorkerStart,
	{
		app,
		queues,
		schema,
		store,
		query,
		forget,
		work,
		ended,
	}: Pick<
		Corkboard,
		"app" | "queues" | "schema" | "store" | "query" | "forget"
	> & {
		readonly work: FeedWork | null;
		/** Ends what nobody waits for. */
		readonly ended: AbortSignal;
	},
): Promise<Worker<JobContext>> {
	if (queues === null) throw noQueues();
	const kinds = jobKindsOf(app, names);
	const { jobs } = queues;
	if (kinds.includes(purgeEdges)) {
		// The queue may not answer yet: nobody waits for it.
		void startPurging(jobs, ended);
	}
	queues.levels.report();
	return Worker.start<JobContext>({
		...queues,
		...options,
		kinds,
		context: {
			store,
			jobs,
			query,
			feed: work,
			storedTypes: createStoredTypes(schema),
			forget,
		},
	});
}

/** What an older program has to say at its start. Throws BAD_MODEL if it would misread what is stored. */
async function checkFleetModel(
	own: Pick<AppModel, "app" | "model">,
	{ store, problem }: TopologySource,
): Promise<string | null> {
	if (store === null || problem?.code === "UNAVAILABLE") return null;
	try {
		const difference = await compareWithFleet(own, store);
		requireNoContradiction(difference);
		return olderModel(difference);
	} catch (error) {
		// No start depends on the store.
		if (error instanceof CorkboardError && error.code === "UNAVAILABLE") {
			return null;
		}
		throw error;
	}
}

function dataFolder({ store }: Config): string {
	if (store.kind === "embedded") return store.folder;
	throw new TypeError("expected a secret with a topology, as config demands");
}

function noQueues(): CorkboardError {
	return new CorkboardError(
		"BAD_CONFIG",
		"The topology has no queues, so there are no jobs to run. Give it `queues`, and run init.",
	);
}
