import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { readConfig } from "../../src/config/config.ts";
import { applyScalars } from "../../src/graphql/scalars.ts";
import { theModel } from "../helpers/model.ts";
import { startToy, type Toy } from "../helpers/toyServer.ts";

/**
 * The probes of graphql-cop (github.com/dolevf/graphql-cop, lib/tests), sent as
 * it sends them, to a server in production mode; each with what it takes for a
 * finding. There is none.
 */
describe("the probes of graphql-cop find nothing in production:", () => {
	let toy: Toy;
	const ran: string[] = [];
	before(async () => {
		const { mode, graphiql } = readConfig({ CORKBOARD_MODE: "production" });
		toy = await startToy({
			schema: applyScalars(theModel().schema),
			mode,
			graphiql,
			async execute({ source }) {
				ran.push(source);
				return { data: { __typename: "Query" } };
			},
		});
	});
	after(() => toy[Symbol.asyncDispose]());

	interface Body {
		readonly data?: Readonly<Record<string, unknown>>;
		readonly errors?: readonly {
			readonly message: string;
			readonly extensions?: Readonly<Record<string, unknown>>;
		}[];
		readonly extensions?: Readonly<Record<string, unknown>>;
	}

	async function post(body: unknown): Promise<Body> {
		return (await (await toy.post(body)).json()) as Body;
	}
	const times = (count: number, text: (index: number) => string) =>
		Array.from({ length: count }, (_, index) => text(index)).join(" ");

	it("alias overloading", async () => {
		const query = `query cop { ${times(102, (n) => `alias${n}:__typename`)} }`;
		const { data } = await post({ query, operationName: "cop" });
		assert.equal(data, undefined);
	});

	it("array-based query batching", async () => {
		const one = { query: "query cop { __typename }", operationName: "cop" };
		const body = await post(Array(10).fill(one));
		assert.equal(Array.isArray(body), false);
		assert.equal(body.data, undefined);
	});

	it("directive overloading", async () => {
		const query = `query cop { __typename ${"@aa".repeat(10)} }`;
		const { errors = [] } = await post({ query, operationName: "cop" });
		assert.equal(errors.length, 1);
	});

	it("field duplication", async () => {
		const query = `query cop { ${times(500, () => "__typename \n")} }`;
		const { data } = await post({ query, operationName: "cop" });
		assert.equal(data, undefined);
	});

	it("circular introspection", async () => {
		const query =
			"query cop { __schema { types { fields { type { fields { type { fields { type { fields { type { name } } } } } } } } } }";
		const { data } = await post({ query, operationName: "cop" });
		assert.equal(data, undefined);
	});

	it("field suggestions", async () => {
		const { errors = [] } = await post({
			query: "query cop { __schema { directive } }",
			operationName: "cop",
		});
		const other = await post({ query: "{ vewer { id } }" });
		for (const { message } of [...errors, ...(other.errors ?? [])]) {
			assert.doesNotMatch(message, /Did you mean/);
		}
		assert.ok(errors.length > 0);
	});

	it("introspection", async () => {
		const { data } = await post({
			query: "query cop { __schema { types { name fields { name } } } }",
			operationName: "cop",
		});
		assert.equal(data, undefined);
	});

	it("GraphiQL exposed", async () => {
		for (const path of [
			"",
			"/graphql",
			"/graphiql",
			"/playground",
			"/console",
		]) {
			const response = await fetch(`${toy.server.url}${path}`, {
				headers: { accept: "text/html" },
			});
			assert.doesNotMatch(
				await response.text(),
				/graphiql|GraphQL Playground|Altair|GraphQL Console/i,
			);
		}
	});

	it("trace mode", async () => {
		const answer = await post({
			query: "query cop { __typename }",
			operationName: "cop",
		});
		assert.deepEqual(answer, { data: { __typename: "Query" } });
		for (const header of ["apollo-tracing", "corkboard-explain"]) {
			const response = await toy.post(
				{ query: "query cop { __typename }" },
				{ [header]: "1" },
			);
			const { extensions } = (await response.json()) as Body;
			assert.equal(extensions, undefined);
		}
	});

	it("unhandled errors: no exception, no stack", async () => {
		const { errors = [] } = await post({ query: "qwerty cop { abc }" });
		assert.ok(errors.length > 0);
		for (const { extensions } of errors) {
			assert.deepEqual(Object.keys(extensions ?? {}), ["code"]);
		}
		assert.doesNotMatch(JSON.stringify(errors), /exception|stacktrace|\.js:/i);
	});

	it("a query by GET without a preflight", async () => {
		const url = new URL(`${toy.server.url}/graphql`);
		url.searchParams.set("query", "query cop { __typename }");
		const body = (await (await fetch(url)).json()) as Body;
		assert.equal(body.data, undefined);
	});

	it("a mutation by GET", async () => {
		const before = ran.length;
		const url = new URL(`${toy.server.url}/graphql`);
		url.searchParams.set("query", "mutation cop { __typename }");
		const headers: Record<string, string>[] = [
			{},
			{ "apollo-require-preflight": "1" },
		];
		for (const given of headers) {
			const body = (await (
				await fetch(url, { headers: given })
			).json()) as Body;
			assert.equal(body.data, undefined);
		}
		assert.equal(ran.length, before);
	});

	it("a query in a URL-encoded POST", async () => {
		const response = await fetch(`${toy.server.url}/graphql`, {
			method: "POST",
			headers: { "content-type": "application/x-www-form-urlencoded" },
			body: new URLSearchParams({ query: "query cop { __typename }" }),
		});
		assert.equal(response.status, 415);
		assert.equal(((await response.json()) as Body).data, undefined);
	});
});
