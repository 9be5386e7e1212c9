import type { HomeFeeds } from "../feed/homeFeeds.ts";
import { pageHooksOf, unrecordedFeed } from "../feed/openHomeFeeds.ts";
import {
	createReadCounter,
	NO_READ_COUNTER,
} from "../graph/read/readCounter.ts";
import { View } from "../graph/read/view.ts";
import { hidesNone } from "../graph/read/viewerLists.ts";
import {
	type ReadDependencies,
	RecordedReads,
} from "../graph/store/recordReads.ts";
import type { Store } from "../graph/store/store.ts";
import type { Node } from "../graph/types.ts";
import { createWrites } from "../graph/write/createWrites.ts";
import type { RequestContext } from "../graphql/context.ts";
import { readDocument } from "../graphql/document.ts";
import type { Id } from "../id/ids.ts";
import type { OperationResponse } from "../plan/answer.ts";
import type { Planner } from "../plan/planner.ts";
import type { Jobs } from "../queue/enqueue/jobs.ts";
import type { Execute, Reuse } from "../server/graphql/operation.ts";
import type { CallOptions } from "../trace.ts";
import { andThen, type MaybePromise } from "../util/maybePromise.ts";
import { userByKey } from "./findUser.ts";
import type { AppModel } from "./readApp.ts";

/** How requests of clients run, over HTTP or without. */
export interface Requests {
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

export interface QueryOptions {
	/** null: nobody is signed in. */
	readonly viewer?: Id | null;
	readonly variables?: Readonly<Record<string, unknown>>;
}

/**
 * Its getter is the class's: for one that an object has of its own, V8 makes the object a
 * shape, which refers to it, and all of it stays until old garbage is collected.
 */
class ViewerContext {
	declare readonly graph: View;

	/** As of the view: what a resolver does for this viewer, it may not do for another one. */
	get viewer(): Id | null {
		return this.graph.viewer;
	}
}

export function createRequests({
	app: { identity },
	model,
	schema,
	domain,
	store,
	planner,
	feed,
	jobs,
	signToken,
}: AppModel & {
	readonly store: Store;
	readonly planner: Planner<RequestContext>;
	readonly feed: HomeFeeds | null;
	readonly jobs: Jobs | null;
	/** Null if tokens come from elsewhere. */
	readonly signToken: RequestContext["signToken"] | null;
}): Requests {
	const contextOf = (
		graph: View,
		recorded: RecordedReads | null,
	): RequestContext =>
		Object.assign(new ViewerContext(), {
			graph,
			fields: domain.fields,
			feed: unrecordedFeed(feed, recorded),
			writes: (call?: CallOptions) =>
				createWrites(store, (written) => graph.discardReads(written), call),
			jobs,
			signToken: signToken ?? (async () => null),
			now: () => new Date(),
		});
	const createContext = (viewer: Id | null) =>
		contextOf(
			new View(store, viewer, NO_READ_COUNTER, pageHooksOf(feed, null)),
			null,
		);
	const query: Requests["query"] = (
		source,
		{ viewer = null, variables = {} } = {},
	) =>
		planner.execute({
			document: readDocument(schema, source, "query"),
			variables,
			context: createContext(viewer),
		});
	const hostOf = (shard: number) => store.storage.map.hostOf(shard);
	return {
		query,
		createContext,
		execute({ viewer, explain, costMeter: meter, recordsReads, ...operation }) {
			const recorded = recordsReads ? RecordedReads.of(store) : null;
			const reads = meter.isMetering
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
				context: contextOf(graph, recorded),
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
				user?.type === identity.type && domain.visibility.isVisible(user, id);
			const cached = store.cachedObject(id);
			if (cached !== undefined) return isActive(cached.node);
			return andThen(store.readObjects([id]), ([user]) => {
				if (user instanceof Error) throw user;
				return isActive(user?.node ?? null);
			});
		},
		async userOfAccount(account) {
			const { accountLookup } = identity;
			if (accountLookup === undefined) return null;
			const user = await userByKey(store, accountLookup, account);
			return user?.id ?? null;
		},
	};
}

/** What an id and its place in a set take. Bytes. */
const USER_BYTES = 80;

/** By itself, so that it keeps nothing else of the request in memory. */
function reuseOf(
	store: Store,
	dependencies: ReadDependencies,
	reads: number,
): Reuse {
	const { users, reads: readSet } = dependencies;
	return {
		isValid: () => readSet.isValid(),
		isFor: users === null ? null : (viewer) => hidesNone(store, viewer, users),
		reads,
		bytes: readSet.slots.byteLength + (users?.size ?? 0) * USER_BYTES,
	};
}
