import type { Config } from "../config.ts";
import { IDENTITY } from "../domain/identity.ts";
import { resolvers } from "../domain/resolvers/resolvers.ts";
import {
	deliverPending,
	gracePeriodOf,
	OutboxWorker,
} from "../graph/outbox/outboxWorker.ts";
import {
	createReadCounter,
	NO_READ_COUNTER,
} from "../graph/read/readCounter.ts";
import { createView, type View } from "../graph/read/view.ts";
import type { Store } from "../graph/store/store.ts";
import { createWrites } from "../graph/write/createWrites.ts";
import type { RequestContext } from "../graphql/context.ts";
import { applyScalars } from "../graphql/scalars.ts";
import { createCursorCodec } from "../id/cursors.ts";
import type { Id } from "../id/ids.ts";
import type { ModelAndSchema } from "../model/read.ts";
import type { Model } from "../model/types.ts";
import { createPlanner, type Planner } from "../plan/planner.ts";
import {
	type AccessTokens,
	createAccessTokens,
	createJwksAccessTokens,
} from "../server/auth/accessTokens.ts";
import type { Execute } from "../server/graphql/operation.ts";
import type { Storage } from "../storage/storage.ts";
import type { Topology } from "../topology/types.ts";
import { embeddedSecret } from "./embeddedSecret.ts";
import { loadOwnModel } from "./model.ts";
import { type AccessMode, lockDataFolders, openStore } from "./openStore.ts";
import { topologyOf } from "./topology.ts";

/** The whole program but its HTTP, opened from its settings. */
export interface Corkboard extends AsyncDisposable {
	readonly config: Config;
	readonly model: Model;
	/** What clients see. */
	readonly schema: ModelAndSchema["schema"];
	readonly topology: Topology;
	readonly storage: Storage;
	readonly store: Store;
	readonly planner: Planner<RequestContext>;
	readonly accessTokens: AccessTokens;
	/** A new request's view and what resolvers are given. */
	createContext(viewer: Id | null): RequestContext;
	readonly execute: Execute;
	/** Whether this id names a user who may be a viewer. */
	isUser(id: Id): Promise<boolean>;
	/** The user linked to this account of whoever else signs tokens. */
	userOfAccount(account: string): Promise<Id | null>;
}

const MAX_PLANS = 1_000;
/** Tokens given out by `createUser` and `token` live this long. Seconds. */
const TOKEN_LIFETIME_S = 30 * 24 * 3_600;

export async function openCorkboard(
	config: Config,
	access: AccessMode,
): Promise<Corkboard> {
	await using opened = new AsyncDisposableStack();
	const { model, schema, domain } = loadOwnModel();
	applyScalars(schema);
	const topology = topologyOf(config);
	lockDataFolders(topology, access, opened);
	const secret = config.secret ?? (await embeddedSecret(dataFolder(config)));
	const { jwks, claims, operators } = config.identity;
	const tokens =
		jwks === null
			? createAccessTokens(secret, TOKEN_LIFETIME_S, claims, operators.claims)
			: createJwksAccessTokens(jwks, claims, operators.claims);
	const store = await openStore(
		config,
		access,
		{ model, domain, topology, cursors: createCursorCodec(secret) },
		opened,
	);
	if (access === "own") {
		await deliverPending(store, gracePeriodOf(store));
		opened.use(new OutboxWorker(store));
	}
	const planner = createPlanner<RequestContext>({
		schema,
		model,
		resolvers,
		maxCost: config.maxCost,
		maxPlans: MAX_PLANS,
		visibility: domain.visibility,
	});

	const contextOf = (viewer: Id | null, graph: View): RequestContext => {
		return {
			graph,
			writes: (call) => createWrites(store, graph.discardReads, call),
			viewer,
			signToken: tokens.signs ? tokens.sign : async () => null,
			now: () => new Date(),
		};
	};
	const request = (viewer: Id | null) =>
		contextOf(viewer, createView(store, viewer));
	const hostOf = (shard: number) => store.storage.hostOf(shard);
	const resources = opened.move();
	return {
		config,
		model,
		schema,
		topology,
		storage: store.storage,
		store,
		planner,
		accessTokens: tokens,
		createContext: request,
		async execute({ viewer, explain, costMeter: meter, ...operation }) {
			const tally = meter.isMetering
				? createReadCounter(model, domain.visibility)
				: NO_READ_COUNTER;
			const graph = createView(store, viewer, tally);
			const executed = await planner.execute({
				...operation,
				context: contextOf(viewer, graph),
				admit: meter.admit,
				...(explain ? { explain: { hostOf } } : {}),
			});
			meter.recordReads(tally.total);
			return executed;
		},
		async isUser(id) {
			const [user] = await store.readObjects([id]);
			if (user instanceof Error) throw user;
			return (
				user?.type === IDENTITY.type && domain.visibility.isVisible(user, id)
			);
		},
		async userOfAccount(account) {
			const [row] = await store.readLookups([
				{ name: IDENTITY.accountLookup, key: account },
			]);
			if (row instanceof Error) throw row;
			return row?.id ?? null;
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

function dataFolder({ store }: Config): string {
	if (store.kind === "embedded") return store.folder;
	throw new TypeError("expected a secret with a topology, as config demands");
}
