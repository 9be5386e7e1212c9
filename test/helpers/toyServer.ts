import {
	buildSchema,
	type ExecutionResult,
	execute,
	GraphQLError,
} from "graphql";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import { createAccessTokens } from "../../src/server/auth/accessTokens.ts";
import type {
	ExecutedAnswer,
	Operation,
	Reuse,
} from "../../src/server/graphql/operation.ts";
import { createLog } from "../../src/server/log.ts";
import {
	type Server,
	type ServerOptions,
	startServer,
} from "../../src/server/server.ts";
import { ALWAYS_READY } from "./health.ts";

export const ADA = "241294492511762325" as Id;
export const BEN = "241294492511762326" as Id;
export const GONE = "241294492511762327" as Id;
export const tokens = createAccessTokens([new Uint8Array(32).fill(7)], 3_600);

export const toySchema = buildSchema(`
	type Query {
		"Greets."
		hello(name: String = "you"): String
		"The id of who asks."
		viewer: String
		color(is: Color!): String
		"Resolves after ms, or when aborted."
		slow(ms: Int!): String
		"Never resolves."
		stuck: String
		fail(how: String!): String
		must: String!
	}
	enum Color { RED GREEN }
	type Mutation {
		"Sets the number."
		setNumber(to: Int!): Int
	}
`);

/** What a test executes in place of the planner. */
export type ToyExecute = (
	operation: Operation,
) => Promise<ExecutionResult & { readonly reuse?: Reuse }>;

/** graphql-js on a toy schema. */
export const executeToy: ToyExecute = async (operation) => {
	const result = await execute({
		schema: toySchema,
		document: operation.document,
		operationName: operation.operationName,
		variableValues: operation.variables,
		rootValue: rootValue(operation),
	});
	return result;
};

function rootValue({ viewer, deadline }: Operation) {
	return {
		hello: ({ name }: { name: string }) => `Hello ${name}`,
		viewer,
		color: ({ is }: { is: string }) => is,
		slow: ({ ms }: { ms: number }) =>
			new Promise((resolve) => {
				const timer = setTimeout(resolve, ms, "done");
				deadline.signal.addEventListener("abort", () => {
					clearTimeout(timer);
					resolve("stopped");
				});
			}),
		stuck: () => new Promise(() => {}),
		fail: ({ how }: { how: string }) => {
			if (how === "forbidden") {
				throw new CorkboardError("FORBIDDEN", "Only its owner may do this.", {
					details: { secret: "hunter2" },
				});
			}
			if (how === "config") {
				throw new CorkboardError("BAD_CONFIG", "secret of the fleet");
			}
			if (how === "graphql") throw new GraphQLError("secret in a GraphQLError");
			throw new Error("secret: connect ECONNREFUSED 10.0.0.1");
		},
		must: () => null,
		setNumber: ({ to }: { to: number }) => to,
	};
}

export interface Toy extends AsyncDisposable {
	readonly server: Server;
	/** Resolves at the start of the first operation. */
	readonly firstOperation: Promise<void>;
	/** The parsed JSON lines of the log. */
	readonly lines: Record<string, unknown>[];
	post(
		body: unknown,
		headers?: Readonly<Record<string, string>>,
	): Promise<Response>;
}

function toAnswer({
	data,
	errors = [],
	extensions,
	reuse,
}: Awaited<ReturnType<ToyExecute>>): ExecutedAnswer {
	return {
		data: data === undefined ? null : JSON.stringify(data),
		errors,
		...(extensions ? { extensions } : {}),
		...(reuse ? { reuse } : {}),
	};
}

export async function startToy({
	execute: executeGiven = executeToy,
	...options
}: Partial<Omit<ServerOptions, "execute">> & {
	readonly execute?: ToyExecute;
} = {}): Promise<Toy> {
	const lines: Record<string, unknown>[] = [];
	const firstOperation = Promise.withResolvers<void>();
	const server = await startServer({
		schema: toySchema,
		execute(operation) {
			firstOperation.resolve();
			return executeGiven(operation).then(toAnswer);
		},
		isUser: async (id) => id === ADA || id === BEN,
		accessTokens: tokens,
		mode: "development",
		graphiql: "nobody",
		host: "127.0.0.1",
		port: 0,
		cors: [],
		trustProxy: false,
		log: createLog({
			level: "info",
			format: "json",
			destination: { write: (line) => lines.push(JSON.parse(line)) },
		}),
		health: ALWAYS_READY,
		...options,
	});
	return {
		server,
		firstOperation: firstOperation.promise,
		lines,
		post(body, headers = {}) {
			return fetch(`${server.url}/graphql`, {
				method: "POST",
				headers: { "content-type": "application/json", ...headers },
				body: typeof body === "string" ? body : JSON.stringify(body),
			});
		},
		[Symbol.asyncDispose]: () => server.close(),
	};
}
