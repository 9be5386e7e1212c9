import type { AddressInfo } from "node:net";
import { fastifyApolloHandler } from "@as-integrations/fastify";
import type {
	FastifyBaseLogger,
	FastifyInstance,
	FastifyRequest,
} from "fastify";
import type { GraphQLSchema } from "graphql";
import { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import { createApollo, type Execute, type RequestContext } from "./apollo.ts";
import { refusal } from "./clientError.ts";
import { deadlineOf, withinDeadline } from "./deadline.ts";
import { type Demo, serveGraphiql } from "./graphiql/serve.ts";
import { serveHealth } from "./health.ts";
import { createHttp, type HttpLimits } from "./http.ts";
import { identify, type Tokens } from "./identity.ts";

export interface ServerOptions {
	/** The public schema: validation and introspection. */
	readonly schema: GraphQLSchema;
	/** Runs one operation, by plan. */
	readonly execute: Execute;
	/** Whether this id names an active user. */
	readonly isUser: (id: Id) => Promise<boolean>;
	readonly tokens: Tokens;
	readonly mode: "development" | "production";
	readonly graphiql: boolean;
	readonly host: string;
	/** 0 for any that is free. */
	readonly port: number;
	/** Origins of pages that may ask; those of localhost may in development. */
	readonly cors: readonly string[];
	/** Whether, or from which addresses, X-Forwarded-* headers are believed. */
	readonly trustProxy: boolean | string;
	readonly log: FastifyBaseLogger;
	/** Who a visitor of GraphiQL is, and what there is to try. */
	readonly demo?: Demo;
	readonly ready: () => boolean | Promise<boolean>;
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

export interface Server extends AsyncDisposable {
	/** Without a path: `http://127.0.0.1:4000`. */
	readonly url: string;
	/** Stop accepting, let what runs end, cut what does not. Calling it again waits for the same end. */
	close(): Promise<void>;
}

export async function startServer(options: ServerOptions): Promise<Server> {
	const { log } = options;
	const limits: Limits = { ...LIMITS, ...options.limits };
	const apollo = createApollo(options);
	await apollo.start();
	const http = await createHttp({
		log,
		mode: options.mode,
		cors: options.cors,
		trustProxy: options.trustProxy,
		limits,
		allowed: new Map([
			["/graphql", ["GET", "POST"]],
			["/health/live", ["GET"]],
			["/health/ready", ["GET"]],
		]),
	});
	const { app } = http;
	serveHealth(http, options.ready);
	const graphiql = options.graphiql
		? await serveGraphiql(app, options.demo)
		: null;

	const answer = fastifyApolloHandler<RequestContext>(apollo, {
		async context(request, reply) {
			const signal = deadlineOf(reply.raw, limits.executionMs);
			try {
				const viewer = await withinDeadline(
					identify(
						request.headers.authorization,
						options.tokens,
						options.isUser,
					),
					signal,
					0,
				);
				return { viewer, signal };
			} catch (thrown) {
				throw refusal(thrown);
			}
		},
	});
	app.route({
		method: ["GET", "POST"],
		url: "/graphql",
		handler(request, reply) {
			const vary = reply.getHeader("vary");
			reply.header("vary", vary === undefined ? "Accept" : `${vary}, Accept`);
			return graphiql !== null && isBrowser(request)
				? graphiql(reply)
				: answer.call(app, request, reply);
		},
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
				await apollo.stop();
			}
		})();
		return closed;
	};
	return { url, close, [Symbol.asyncDispose]: close };
}

/** A person who opened the address, rather than a program that takes anything. */
function isBrowser(request: FastifyRequest): boolean {
	const accept = request.headers.accept ?? "";
	return (
		request.method === "GET" &&
		/\btext\/html\b/i.test(accept) &&
		!/\bapplication\/(?:graphql-response\+)?json\b/i.test(accept)
	);
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
