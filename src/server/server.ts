import type { AddressInfo } from "node:net";
import type { FastifyBaseLogger, FastifyInstance } from "fastify";
import type { GraphQLSchema } from "graphql";
import { CorkboardError } from "../errors.ts";
import type { AccessTokens } from "./auth/accessTokens.ts";
import { type Identity, identify, type Users } from "./auth/identity.ts";
import {
	hasOperators,
	NO_OPERATORS,
	type Operators,
} from "./auth/operators.ts";
import { createDocuments, type Documents } from "./documents/documents.ts";
import {
	type Demo,
	type GraphiqlAccess,
	registerGraphiql,
} from "./graphiql/registerGraphiql.ts";
import { SIGN_IN_PATH, SIGN_OUT_PATH } from "./graphiql/signIn.ts";
import type { DependsOnViewer, Execute } from "./graphql/operation.ts";
import { registerGraphql } from "./graphql/registerGraphql.ts";
import { registerHealth } from "./http/health.ts";
import { createHttpApp, type HttpLimits } from "./http/httpApp.ts";
import type { HttpStatus } from "./http/status.ts";
import type { Budget } from "./limits/budget.ts";
import { type RateLimit, registerRateLimit } from "./limits/rateLimit.ts";

export interface ServerOptions {
	/** The public schema: validation and introspection. */
	readonly schema: GraphQLSchema;
	/** Runs one operation, by plan. */
	readonly execute: Execute;
	/** Whether this id names an active user. */
	readonly isUser: Users["isUser"];
	/** Without it a token's subject is an id of ours or nobody's. */
	readonly userOfAccount?: Users["userOf"];
	readonly accessTokens: AccessTokens;
	/** Without it, whom a token says to be one. */
	readonly operators?: Operators;
	readonly mode: "development" | "production";
	readonly graphiql: GraphiqlAccess;
	readonly host: string;
	/** 0 for any that is free. */
	readonly port: number;
	/** Origins of pages that may ask; those of localhost may in development. */
	readonly cors: readonly string[];
	/** Whose X-Forwarded-* headers are believed: of whoever connects, nobody's, or those of these addresses and networks. */
	readonly trustProxy: boolean | string;
	readonly log: FastifyBaseLogger;
	/** Who a visitor of GraphiQL is, and what there is to try. */
	readonly demo?: Demo;
	readonly ready: () => boolean | Promise<boolean>;
	/** Documents of files, and those that clients register; without it only these, kept in this process. */
	readonly documents?: Documents;
	/** The same for operators, who may run any. */
	readonly operatorDocuments?: Documents;
	/** Without it every answer does. */
	readonly dependsOnViewer?: DependsOnViewer;
	readonly httpStatus?: HttpStatus;
	/** How long (s) others may keep an answer that holds nothing of a viewer's. */
	readonly httpMaxAge?: number;
	readonly compression?: boolean;
	readonly rateLimit?: RateLimit | null;
	readonly requestIdHeader?: string | null;
	/** How much one viewer or address may have read; null for any number. */
	readonly budget?: Budget | null;
	readonly limits?: Partial<Limits>;
}

export interface Limits extends HttpLimits {
	/** An operation is told to stop after this, and refused a second later. */
	readonly executionMs: number;
	/** What still runs this long after `close` was called is cut off. */
	readonly drainMs: number;
}

const LIMITS: Limits = {
	executionMs: 10_000,
	drainMs: 10_000,
	receiveMs: 10_000,
	idleSocketMs: 30_000,
	keepAliveMs: 72_000,
};

/** As long as an entry of the process's own cache lives. */
const HTTP_MAX_AGE_S = 10;

export interface Server extends AsyncDisposable {
	/** Without a path: `http://127.0.0.1:4000`. */
	readonly url: string;
	/** Stop accepting, let what runs end, cut what does not. Calling it again waits for the same end. */
	close(): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<Server> {
	const { log, mode, accessTokens: tokens, isUser } = options;
	const limits: Limits = { ...LIMITS, ...options.limits };
	const operators = options.operators ?? NO_OPERATORS;
	const users: Users = {
		isUser,
		userOf: options.userOfAccount ?? (async () => null),
	};
	const identifyBy = (authorization: string | undefined): Promise<Identity> =>
		identify(authorization, tokens, users, operators);
	const http = await createHttpApp({
		log,
		mode,
		cors: options.cors,
		trustProxy: options.trustProxy,
		compression: options.compression ?? true,
		requestIdHeader: options.requestIdHeader ?? null,
		limits,
		allowedMethods: new Map([
			["/graphql", ["GET", "POST"]],
			["/health/live", ["GET"]],
			["/health/ready", ["GET"]],
			...(options.graphiql === "operators"
				? ([
						[SIGN_IN_PATH, ["POST"]],
						[SIGN_OUT_PATH, ["POST"]],
					] as const)
				: []),
		]),
	});
	const { app } = http;
	if (options.rateLimit) await registerRateLimit(app, options.rateLimit);
	registerHealth(http, options.ready);
	const page =
		options.graphiql === "nobody"
			? null
			: await registerGraphiql(app, {
					access: options.graphiql,
					...(options.demo ? { demo: options.demo } : {}),
					explain: mode === "development" || hasOperators(operators),
					identify: identifyBy,
				});
	await registerGraphql(app, {
		...options,
		identify: identifyBy,
		page,
		documents: options.documents ?? anyDocument(log),
		operatorDocuments: hasOperators(operators)
			? (options.operatorDocuments ?? anyDocument(log))
			: null,
		dependsOnViewer: options.dependsOnViewer ?? (() => true),
		httpStatus: options.httpStatus ?? "audit",
		httpMaxAge: options.httpMaxAge ?? HTTP_MAX_AGE_S,
		budget: options.budget ?? null,
		executionMs: limits.executionMs,
	});

	const url = await listen(app, options.host, options.port);
	let closed: Promise<void> | undefined;
	const close = () => {
		closed ??= (async () => {
			http.drain();
			const cut = setTimeout(() => {
				log.warn("cutting off requests that did not end in time");
				app.server.closeAllConnections();
			}, limits.drainMs);
			try {
				await app.close();
			} finally {
				clearTimeout(cut);
			}
		})();
		return closed;
	};
	return { url, close, [Symbol.asyncDispose]: close };
}

function anyDocument(log: FastifyBaseLogger): Documents {
	return createDocuments({ mode: "off", files: null, shared: null, log });
}

async function listen(
	app: FastifyInstance,
	host: string,
	port: number,
): Promise<string> {
	try {
		await app.listen({ host, port });
	} catch (cause) {
		await app.close();
		const { code } = cause as NodeJS.ErrnoException;
		if (code === "EADDRINUSE") {
			throw new CorkboardError(
				"IN_USE",
				`port ${port} on ${host} is taken by another program: stop it, or set PORT to a free one`,
				{ cause },
			);
		}
		throw new CorkboardError(
			"BAD_CONFIG",
			`cannot listen on ${host} port ${port}: ${code ?? String(cause)}`,
			{ cause },
		);
	}
	const { address, family, port: bound } = app.server.address() as AddressInfo;
	if (address === "0.0.0.0" || address === "::") {
		return `http://localhost:${bound}`;
	}
	return family === "IPv6"
		? `http://[${address}]:${bound}`
		: `http://${address}:${bound}`;
}
