import { type Config, embeddedSecret } from "../config.ts";
import { CorkboardError } from "../errors.ts";
import { createStore } from "../graph/createStore.ts";
import { guardsOf, isLiving } from "../graph/rules.ts";
import type { Store } from "../graph/store.ts";
import { graceOf, Sweeper, sweep } from "../graph/sweeper.ts";
import { createView } from "../graph/view.ts";
import { createWrites } from "../graph/writes.ts";
import type { RequestContext } from "../graphql/context.ts";
import { resolvers } from "../graphql/resolvers/all.ts";
import { applyScalars } from "../graphql/scalars.ts";
import { createCursors } from "../id/cursors.ts";
import type { Id } from "../id/ids.ts";
import type { ReadModel } from "../model/read.ts";
import type { Model } from "../model/types.ts";
import { createPlanner, type Planner } from "../plan/planner.ts";
import type { Execute } from "../server/apollo.ts";
import { createTokens, type Tokens } from "../server/identity.ts";
import { holdsData } from "../sqlite/holdsData.ts";
import { ownFolder } from "../sqlite/ownFolder.ts";
import type { Storage } from "../storage/port.ts";
import { openSqliteStorage } from "../storage/sqlite.ts";
import { parseHostUrl } from "../topology/hostUrl.ts";
import type { Topology } from "../topology/types.ts";
import { ownModel } from "./model.ts";
import { topologyOf } from "./topology.ts";

/** The whole program but its HTTP, opened from its settings. */
export interface Corkboard extends AsyncDisposable {
	readonly config: Config;
	readonly model: Model;
	/** What clients see. */
	readonly schema: ReadModel["schema"];
	readonly topology: Topology;
	readonly storage: Storage;
	readonly store: Store;
	readonly planner: Planner<RequestContext>;
	readonly tokens: Tokens;
	/** A new request's view and what resolvers are given. */
	request(viewer: Id | null): RequestContext;
	readonly execute: Execute;
	/** Whether this id names a user who may be a viewer. */
	isUser(id: Id): Promise<boolean>;
}

/**
 * How the data is held:
 *
 * - `own`: by this process alone; what is missing is made, what an earlier
 *   process left owed is paid, and a sweeper runs.
 * - `read`: beside a process that owns it. Nothing is written, and nothing
 *   kept in memory, which the owner's writes would not reach.
 */
export type Access = "own" | "read";

/** In-process cache. Bytes, about. */
const CACHE_BYTES = 64 * 1024 * 1024;
const MAX_PLANS = 1_000;
/** Tokens given out by `createUser` and `token` live this long. Seconds. */
const TOKEN_LIFETIME_S = 30 * 24 * 3_600;

export async function openCorkboard(
	config: Config,
	access: Access,
): Promise<Corkboard> {
	await using opened = new AsyncDisposableStack();
	const { model, schema } = ownModel();
	applyScalars(schema);
	const topology = topologyOf(config);
	for (const folder of foldersOf(topology)) {
		if (access === "own") opened.use(ownFolder(folder));
		else if (!holdsData(folder)) throw noData(folder);
	}
	const storage = opened.use(
		await openSqliteStorage({ model, topology, readOnly: access === "read" }),
	);
	if (access === "own") await storage.init();

	const secret = config.secret ?? (await embeddedSecret(dataFolder(config)));
	const tokens = createTokens(secret, TOKEN_LIFETIME_S);
	const store = createStore({
		model,
		storage,
		cursors: createCursors(secret),
		cacheBytes: access === "own" ? CACHE_BYTES : 0,
	});
	if (access === "own") {
		await sweep(store, graceOf(store));
		opened.use(new Sweeper(store));
	}
	const planner = createPlanner<RequestContext>({
		schema,
		model,
		resolvers,
		maxPrice: config.maxPrice,
		maxPlans: MAX_PLANS,
		guards: (type) => guardsOf(model, type),
		hideSuggestions: config.mode === "production",
	});

	const request = (viewer: Id | null): RequestContext => {
		const graph = createView(store, viewer);
		return {
			graph,
			writes: createWrites(store, graph.forget),
			viewer,
			signToken: tokens.sign,
			now: () => new Date(),
		};
	};
	const resources = opened.move();
	return {
		config,
		model,
		schema,
		topology,
		storage,
		store,
		planner,
		tokens,
		request,
		execute({ viewer, ...operation }) {
			return planner.execute({ ...operation, context: request(viewer) });
		},
		async isUser(id) {
			const [user] = await store.objects([id]);
			if (user instanceof Error) throw user;
			return user?.type === "User" && isLiving(user);
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

function noData(folder: string): CorkboardError {
	return new CorkboardError(
		"BAD_DATA",
		`expected a data folder made by serve, init or import but got: ${folder}, which holds no data`,
	);
}

function foldersOf({ shards, lookups }: Topology): ReadonlySet<string> {
	return new Set(
		[...shards, ...lookups].flatMap(({ primary }) => {
			const url = parseHostUrl(primary);
			return url?.scheme === "sqlite" ? [url.folder] : [];
		}),
	);
}

function dataFolder({ store }: Config): string {
	if (store.kind === "embedded") return store.folder;
	throw new TypeError("expected a secret with a topology, as config demands");
}
