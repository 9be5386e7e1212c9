import { KeptEntries } from "../cache/keptEntries.ts";
import { openRedisTokenBuckets } from "../cache/redis/redisTokenBuckets.ts";
import { openDocuments } from "../server/documents/openDocuments.ts";
import type { Demo } from "../server/graphiql/registerGraphiql.ts";
import { createHealthChecks } from "../server/healthChecks.ts";
import { createBudget } from "../server/limits/budget.ts";
import { createRateLimit } from "../server/limits/rateLimit.ts";
import type { SharedTokenBuckets } from "../server/limits/tokenBuckets.ts";
import { createLog } from "../server/log.ts";
import { type Server, startServer } from "../server/server.ts";
import type { Traces } from "../traces/openTraces.ts";
import { openUsage } from "../usage/openUsage.ts";
import type { Corkboard } from "./openCorkboard.ts";

interface CorkboardServerOptions {
	/** Default: as `CORKBOARD_LOG` says, to stdout. */
	readonly log?: ReturnType<typeof createLog>;
	/** The demo user and queries that GraphiQL starts with. */
	readonly demo?: Demo;
	/** Default: there are no traces. */
	readonly traces?: Traces | null;
}

/**
 * Serves an open Corkboard over HTTP, with the settings it was opened with.
 * Dispose of the server before the Corkboard: it drains its requests first.
 * Throws IN_USE if the port is taken.
 */
export async function startCorkboardServer(
	corkboard: Corkboard,
	{ log: givenLog, demo, traces }: CorkboardServerOptions = {},
): Promise<Server> {
	const { config } = corkboard;
	const { http, budgetLimit } = config;
	const log = givenLog ?? createLog(config.log);
	await using opened = new AsyncDisposableStack();
	const documents = await openDocuments(config, corkboard, log, opened);
	// Before the server, whose last requests it counts.
	openUsage(corkboard, log, opened);
	const buckets = openSharedBuckets(corkboard, opened);
	const server = opened.use(
		await startServer({
			schema: corkboard.schema,
			execute: corkboard.execute,
			isUser: corkboard.isUser,
			userOfAccount: corkboard.userOfAccount,
			accessTokens: corkboard.accessTokens,
			operators: config.identity.operators,
			mode: config.mode,
			graphiql: config.graphiql,
			host: config.host,
			port: config.port,
			cors: config.cors,
			trustProxy: config.trustProxy,
			...(demo && { demo }),
			...documents,
			dependsOnViewer: corkboard.planner.dependsOnViewer,
			usesOf: corkboard.planner.usesOf,
			inputProblems: corkboard.planner.inputProblems,
			httpStatus: http.status,
			httpMaxAge: http.maxAge,
			answersIn: corkboard.store.keepsReads
				? new KeptEntries(config.answerCacheBytes)
				: null,
			compression: http.compression,
			rateLimit: http.rateLimit && createRateLimit(http.rateLimit, buckets),
			maxRequestsInProgress: http.maxRequestsInProgress,
			requestIdHeader: http.requestIdHeader,
			budget: budgetLimit && createBudget(budgetLimit, buckets),
			log,
			startSpan: traces?.start ?? null,
			recordsRequests: config.slowMs !== null,
			health: opened.use(createHealthChecks(corkboard)),
		}),
	);
	const resources = opened.move();
	return {
		url: server.url,
		readiness: server.readiness,
		leave: server.leave,
		close: server.close,
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

/** Token buckets that all processes share; null without Redis, where each process has its own. */
function openSharedBuckets(
	{ config: { budgetLimit, http }, redis }: Corkboard,
	resources: AsyncDisposableStack,
): SharedTokenBuckets | null {
	const isLimited = budgetLimit !== null || http.rateLimit !== null;
	return redis !== null && isLimited
		? resources.use(openRedisTokenBuckets({ redis }))
		: null;
}
