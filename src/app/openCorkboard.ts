import { RedisConnections } from "../cache/redisConnections.ts";
import type { Config } from "../config/config.ts";
import { CHANNELS, type Levels } from "../diagnostics.ts";
import { IDENTITY } from "../domain/identity.ts";
import type { JobContext } from "../domain/jobContext.ts";
import { resolvers } from "../domain/resolvers/resolvers.ts";
import { CorkboardError } from "../errors.ts";
import { feedEvents } from "../feed/events.ts";
import { forgetUser } from "../feed/forgetUser.ts";
import type { HomeFeeds } from "../feed/homeFeeds.ts";
import { OutboxWorker } from "../graph/outbox/outboxWorker.ts";
import {
	createReadCounter,
	NO_READ_COUNTER,
} from "../graph/read/readCounter.ts";
import { View } from "../graph/read/view.ts";
import type {
	ReadDependencies,
	RecordedReads,
	Store,
} from "../graph/store/store.ts";
import type { Node } from "../graph/types.ts";
import { createWrites } from "../graph/write/createWrites.ts";
import { WritePipeline } from "../graph/write/pipeline.ts";
import type { RequestContext } from "../graphql/context.ts";
import { readDocument } from "../graphql/document.ts";
import { applyScalars } from "../graphql/scalars.ts";
import { createCursorCodec } from "../id/cursorCodec.ts";
import type { Id } from "../id/ids.ts";
import type { ModelAndSchema } from "../model/read.ts";
import { createStoredTypes } from "../model/storedTypes.ts";
import type { Model } from "../model/types.ts";
import { purgeEdges, startPurging } from "../ops/jobs/purgeEdges.ts";
import type { OperationResponse } from "../plan/answer.ts";
import { createPlanner, type Planner } from "../plan/planner.ts";
import {
	type AccessTokens,
	createAccessTokens,
	createJwksAccessTokens,
} from "../server/auth/accessTokens.ts";
import type { Execute, Reuse } from "../server/graphql/operation.ts";
import type { Storage, StorageAdmin } from "../storage/storage.ts";
import type { Topology } from "../topology/types.ts";
import { andThen, type MaybePromise } from "../util/maybePromise.ts";
import type { WorkerLimits } from "../worker/limits.ts";
import { Worker } from "../worker/worker.ts";
import { embeddedSecret } from "./embeddedSecret.ts";
import {
	compareWithFleet,
	olderModel,
	requireNoContradiction,
} from "./fleetModel.ts";
import { jobKindsOf } from "./jobKinds.ts";
import { createJobQueue } from "./jobQueue.ts";
import { loadOwnModel, modelFingerprint } from "./model.ts";
import {
	LOOK_COSTS,
	openHomeFeeds,
	pageHooksOf,
	unrecordedFeed,
} from "./openHomeFeeds.ts";
import { type OpenedJobs, openJobs } from "./openJobs.ts";
import { openPools } from "./openPools.ts";
import { type AccessMode, lockDataFolders, openStore } from "./openStore.ts";
import { openTopology, type TopologySource } from "./openTopology.ts";
import { userByKey } from "./userByKey.ts";

/** Everything but HTTP, opened from the settings. */
export interface Corkboard extends AsyncDisposable {
	readonly config: Config;
	readonly model: Model;
	/** What clients see. */
	readonly schema: ModelAndSchema["schema"];
	/** The version in use. */
	readonly topology: Topology;
	/** Why the topology in use is not the file's, but its kept copy; null where it is the file's. */
	readonly topologyProblem: CorkboardError | null;
	/** A sentence where the fleet's tables were made for a newer model than this program's; else null. */
	readonly modelProblem: string | null;
	readonly storage: Storage;
	/** What operations do with the shards. */
	readonly admin: StorageAdmin;
	/** The queues of jobs; null where the topology has none, or nothing may be written. */
	readonly queues: OpenedJobs | null;
	/**
	 * Runs jobs in this process until the worker is disposed of. Throws BAD_CONFIG
	 * where there are no queues, or one that no handler is for.
	 */
	startWorker(options: WorkerStart): Promise<Worker<JobContext>>;
	/** The Redis of the settings, shared by everything that uses it; null without one. */
	readonly redis: RedisConnections | null;
	readonly store: Store;
	/** Null where there are no pools, or nothing may be written. */
	readonly feed: HomeFeeds | null;
	readonly planner: Planner<RequestContext>;
	readonly accessTokens: AccessTokens;
	/** Runs one GraphQL operation, as HTTP would. Cost limits apply; budgets do not. */
	query(source: string, options?: QueryOptions): Promise<OperationResponse>;
	/** What resolvers get for a new request of this viewer. */
	createContext(viewer: Id | null): RequestContext;
	/** Runs an operation for the server, which sends the text of its data as it is. */
	readonly execute: Execute;
	/** Whether the id names a user who can be a viewer. */
	isUser(id: Id): MaybePromise<boolean>;
	/** The user linked to this account of an external token issuer. */
	userOfAccount(account: string): Promise<Id | null>;
}

export interface WorkerStart {
	/** Whose jobs it runs; null: all. */
	readonly queues: readonly string[] | null;
	/** Jobs that run at the same time. */
	readonly concurrency: number;
	readonly limits?: Partial<WorkerLimits>;
}

export interface QueryOptions {
	/** null: nobody is signed in. */
	readonly viewer?: Id | null;
	readonly variables?: Readonly<Record<string, unknown>>;
}

/** Of the plan cache. */
const MAX_PLANS = 1_000;
/** Lifetime of the tokens that `createUser` and `token` issue. Seconds. */
const TOKEN_LIFETIME_S = 30 * 24 * 3_600;

/**
 * Opens Corkboard in this process: the schema, the shards, the caches, the
 * planner. `startCorkboardServer` serves it over HTTP; `query` needs no HTTP.
 *
 *     await using corkboard = await openCorkboard(readConfig(process.env));
 *     const { data } = await corkboard.query("{ interests(first: 5) { nodes { name } } }");
 *
 * Disposing of it ends all connections and timers. Throws BAD_CONFIG,
 * BAD_TOPOLOGY, BAD_DATA, IN_USE or UNAVAILABLE, and then leaves nothing open.
 */
export async function openCorkboard(
	config: Config,
	access: AccessMode = "readWrite",
	/** What it is for the rest of the fleet: `serve`, `worker`, or a command. */
	role = "embedded",
): Promise<Corkboard> {
	await using opened = new AsyncDisposableStack();
	const { model, schema, domain } = loadOwnModel();
	applyScalars(schema);
	const topology = opened.use(
		await openTopology(
			config,
			access === "readWrite" ? { role, model: modelFingerprint(model) } : null,
		),
	);
	lockDataFolders(topology.topology, access, opened);
	const modelProblem =
		access === "readWrite" ? await checkFleetModel(topology) : null;
	const secret = config.secret ?? (await embeddedSecret(dataFolder(config)));
	const { jwks, claims, operators } = config.identity;
	const tokens =
		jwks === null
			? createAccessTokens(secret, TOKEN_LIFETIME_S, claims, operators.claims)
			: createJwksAccessTokens(jwks, claims, operators.claims);
	const { memcached, cacheBytes } = config;
	const redis =
		config.redis === null ? null : new RedisConnections(config.redis);
	const cursors = createCursorCodec(secret);
	const queues = await openJobs(
		{
			topology: topology.topology,
			redis,
			access,
			writeGuard: topology.writeGuard,
			onRetired: () => topology.oldestChanged(),
		},
		opened,
	);
	const pools =
		access === "readWrite"
			? opened.use(
					await openPools(
						topology.topology,
						config.feed,
						access,
						topology.writeGuard,
					),
				)
			: null;
	const { store, admin } = await openStore(
		{
			model,
			domain,
			topology,
			cursors,
			access,
			memcached,
			redis,
			cacheBytes,
			jobQueue: queues && createJobQueue(queues.jobs, queues.store),
			writeEvents: pools && feedEvents,
			async onTopology(version) {
				queues?.switchTopology(version);
				pools?.switchTopology(version);
			},
			oldestBeside: () => queues?.oldestVersion ?? null,
		},
		opened,
	);
	const homeFeeds =
		pools &&
		(await openHomeFeeds(
			config,
			{ store, pools, jobs: queues?.jobs ?? null },
			opened,
		));
	const feed = homeFeeds?.feeds ?? null;
	if (access === "readWrite") {
		// Its first pass runs in the background: readers are right without it.
		opened.use(new OutboxWorker(new WritePipeline(store)));
	}
	const planner = createPlanner<RequestContext>({
		schema,
		model,
		resolvers,
		maxCost: config.maxCost,
		maxPlans: MAX_PLANS,
		visibility: domain.visibility,
		...(feed && { lookCosts: LOOK_COSTS }),
	});

	const reportLevel = (message: unknown) =>
		(message as Levels).planCache?.(planner.level());
	CHANNELS.levels.subscribe(reportLevel);
	opened.defer(() => void CHANNELS.levels.unsubscribe(reportLevel));

	const contextOf = (
		viewer: Id | null,
		graph: View,
		recorded: RecordedReads | null,
	): RequestContext => {
		return {
			graph,
			feed: unrecordedFeed(feed, recorded),
			writes: (call) =>
				createWrites(store, (written) => graph.discardReads(written), call),
			jobs: queues?.jobs ?? null,
			viewer,
			signToken: tokens.signs ? tokens.sign : async () => null,
			now: () => new Date(),
		};
	};
	const createContext = (viewer: Id | null) =>
		contextOf(
			viewer,
			new View(store, viewer, NO_READ_COUNTER, pageHooksOf(feed, null)),
			null,
		);
	const query: Corkboard["query"] = (
		source,
		{ viewer = null, variables = {} } = {},
	) =>
		planner.execute({
			document: readDocument(schema, source, "query"),
			variables,
			context: createContext(viewer),
		});
	const hostOf = (shard: number) => store.storage.map.hostOf(shard);
	const ended = new AbortController();
	opened.defer(() => ended.abort());
	const resources = opened.move();
	return {
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
		feed,
		planner,
		accessTokens: tokens,
		query,
		queues,
		async startWorker({ queues: names, ...options }) {
			if (queues === null) throw noQueues();
			const kinds = jobKindsOf(names);
			const { jobs } = queues;
			if (kinds.includes(purgeEdges)) {
				// The queue may not answer yet: nobody waits for it.
				void startPurging(jobs, ended.signal);
			}
			const storedTypes = createStoredTypes(schema);
			const work = homeFeeds?.work ?? null;
			queues.levels.report();
			return Worker.start<JobContext>({
				...queues,
				...options,
				kinds,
				context: {
					store,
					storedTypes,
					jobs,
					query,
					feed: work,
					forget: async (id) => {
						if (work !== null) await forgetUser(store, work.pools, id);
					},
				},
			});
		},
		createContext,
		execute({ viewer, explain, costMeter: meter, recordsReads, ...operation }) {
			const recorded = recordsReads ? store.recordReads() : null;
			const reads =
				meter.isMetering || recorded !== null
					? createReadCounter(model, domain.visibility)
					: NO_READ_COUNTER;
			const graph = new View(
				recorded?.store ?? store,
				viewer,
				reads,
				pageHooksOf(feed, recorded),
			);
			const answered = planner.answer({
				...operation,
				context: contextOf(viewer, graph, recorded),
				admit: meter.admit,
				...(explain ? { explain: { hostOf } } : {}),
			});
			return andThen(answered, (answer) => {
				meter.recordReads(reads.total);
				const dependencies = recorded?.dependencies() ?? null;
				if (dependencies === null) return answer;
				return { ...answer, reuse: reuseOf(store, dependencies, reads.total) };
			});
		},
		isUser(id) {
			const isActive = (user: Node | null) =>
				user?.type === IDENTITY.type && domain.visibility.isVisible(user, id);
			const cached = store.cachedObject(id);
			if (cached !== undefined) return isActive(cached.node);
			return andThen(store.readObjects([id]), ([user]) => {
				if (user instanceof Error) throw user;
				return isActive(user?.node ?? null);
			});
		},
		async userOfAccount(account) {
			const user = await userByKey(store, IDENTITY.accountLookup, account);
			return user?.id ?? null;
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

/** What an older program has to say at its start. Throws BAD_MODEL where it would misread what is stored. */
async function checkFleetModel({
	store,
	problem,
}: TopologySource): Promise<string | null> {
	if (store === null || problem?.code === "UNAVAILABLE") return null;
	try {
		const difference = await compareWithFleet(store);
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

/** By itself, so that it keeps nothing else of the request in memory. */
function reuseOf(
	store: Store,
	dependencies: ReadDependencies,
	reads: number,
): Reuse {
	return {
		isValid: () => store.isValid(dependencies),
		reads,
		bytes: dependencies.slots.byteLength,
	};
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
