import { type Config, embeddedSecret } from "../config.ts";
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
import type { Storage } from "../storage/port.ts";
import type { Topology } from "../topology/types.ts";
import { ownModel } from "./model.ts";
import { type Access, openStore, takeFolders } from "./openStore.ts";
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
	takeFolders(topology, access, opened);
	const secret = config.secret ?? (await embeddedSecret(dataFolder(config)));
	const tokens = createTokens(secret, TOKEN_LIFETIME_S);
	const store = await openStore(
		config,
		access,
		{ model, topology, cursors: createCursors(secret) },
		opened,
	);
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
		storage: store.storage,
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

function dataFolder({ store }: Config): string {
	if (store.kind === "embedded") return store.folder;
	throw new TypeError("expected a secret with a topology, as config demands");
}
