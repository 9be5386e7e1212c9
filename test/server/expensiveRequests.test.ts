import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { MAX_CHARACTERS } from "../../src/plan/responseState.ts";
import { assertCpuWithin, referenceRequest } from "../helpers/timing.ts";
import { startWhole, type WholeServer } from "../helpers/wholeServer.ts";

/**
 * The CPU time that a hostile request may take, in multiples of
 * `referenceRequest`: 50 ms on a fast core. The server and its client are in this
 * process.
 */
const REFUSED_WITHIN = 12;
/** The same where 10,000 objects are read before the response turns out too long, in multiples of a request that reads them and returns their ids. */
const READ_AND_REFUSED_WITHIN = 10;
/** Characters; what is sent may be a megabyte. */
const LONGEST_REFUSAL = 20_000;

const times = (count: number, text: (index: number) => string) =>
	Array.from({ length: count }, (_, index) => text(index)).join(" ");
const nulls = (count: number) =>
	Object.fromEntries(
		Array.from({ length: count }, (_, index) => [`k${index}`, null]),
	);
const newlines = "\n".repeat(440_000);
const CREATE =
	"mutation ($i: CreateUserInput!) { createUser(input: $i) { token } }";

interface Body {
	readonly query: string;
	readonly variables?: Readonly<Record<string, unknown>>;
	readonly operationName?: string;
}

const HOSTILE: Readonly<Record<string, readonly [Body, RegExp]>> = {
	"440,000 newlines and 1,500 errors": [
		{ query: `${newlines}{ ${times(1_500, (n) => `z${n}`)} }` },
		/^The document has \d+ characters; the limit is 32768\.$/,
	],
	"30,000 newlines and 400 errors": [
		{ query: `${"\n".repeat(30_000)}{ ${times(400, (n) => `z${n}`)} }` },
		/^The document exceeds the limit of 3000 lines\.$/,
	],
	"2,900 newlines and 400 errors": [
		{ query: `${"\n".repeat(2_900)}{ ${times(400, (n) => `z${n}`)} }` },
		/^Cannot query field "z0" on type "Query"\.$/,
	],
	"2,900 newlines and 90 ids that are none": [
		{
			query: `${"\n".repeat(2_900)}{ ${times(90, (n) => `a${n}: node(id: "x") { id }`)} }`,
		},
		/id must be an id/,
	],
	"30,000 newlines and no end": [
		{ query: `${"\n".repeat(30_000)}{` },
		/^Syntax Error/,
	],
	"2,900 newlines and 250 fragments without use": [
		{
			query: `${"\n".repeat(2_900)}{ viewer { id } } ${times(250, (n) => `fragment F${n} on User { id }`)}`,
		},
		/^Fragment "F0" is never used\.$/,
	],
	"390 definitions of a variable": [
		{ query: `query (${times(390, () => "$v: Int")}) { viewer { id } }` },
		/^The document exceeds the limit of 100 variables of one operation\.$/,
	],
	"900 directives on a variable": [
		{ query: `query ($v: Int ${times(900, () => "@x")}) { viewer { id } }` },
		/^The document exceeds the limit of 4 directives at one location\.$/,
	],
	"directives on many variables": [
		{
			query: `query (${times(60, (n) => `$v${n}: Int @a @b @c @d`)}) { viewer { id } }`,
		},
		/^The document exceeds the limit of 200 directives\.$/,
	],
	"70,000 variables": [
		{ query: "{ viewer { id } }", variables: nulls(70_000) },
		/^The variables exceed the limit of 1000 values\.$/,
	],
	"200,000 ids": [
		{
			query: "query ($i: [ID!]!) { nodes(ids: $i) { id } }",
			variables: { i: Array(200_000).fill("1") },
		},
		/^The variables exceed the limit of 1000 values\.$/,
	],
	"a long value beside 60 fields that are not there": [
		{
			query: CREATE,
			variables: { i: { name: '"'.repeat(440_000), ...nulls(60) } },
		},
		/^Variable "\$i" got invalid value an object; Field "username" of required type "String!" was not provided\.$/,
	],
	"60,000 fields that are not there": [
		{ query: CREATE, variables: { i: nulls(60_000) } },
		/^The variables exceed the limit of 1000 values/,
	],
	"900 fields that are not there": [
		{ query: CREATE, variables: { i: nulls(900) } },
		/^Variable "\$i"/,
	],
	"a number of 32,000 digits": [
		{ query: `{ interests(first: ${"1".repeat(32_000)}) { totalCount } }` },
		/^Int cannot represent .{300,400}… \(\d+ characters\)$/,
	],
	"a field's name of 32,000 characters": [
		{ query: `{ ${"k".repeat(32_000)} }` },
		/^Cannot query field .{300,400}… \(\d+ characters\)$/,
	],
	"a variable's field of 900,000 characters": [
		{ query: CREATE, variables: { i: { ["k".repeat(900_000)]: 1 } } },
		/^A name in the variables has 900000 characters; the limit is 1000\.$/,
	],
	"an operation's name of 900,000 characters": [
		{ query: "query A { viewer { id } }", operationName: "x".repeat(900_000) },
		/^Unknown operation named .{300,400}… \(\d+ characters\)$/,
	],
	"the words of a suggestion, 60,000 times": [
		{
			query: "query A { viewer { id } }",
			operationName: " Did you mean x".repeat(60_000),
		},
		/^Unknown operation named .{300,400}… \(\d+ characters\)$/,
	],
	"the words of a suggestion in a document": [
		{
			query: `{ interests(first: "${"Did you mean ".repeat(2_400)}?") { totalCount } }`,
		},
		/^Int cannot represent .{300,400}… \(\d+ characters\)$/,
	],
};

describe("a hostile request", () => {
	let server: WholeServer;
	before(async () => {
		server = await startWhole({ CORKBOARD_MODE: "production" });
		// The server's code as it is after its first requests.
		for (let n = 0; n < 20; n++) {
			await server.ask({ query: `{ viewer { id nope${n} } }` });
			await server.ask({ query: CREATE, variables: { i: {} } });
		}
	});
	after(() => server[Symbol.asyncDispose]());

	for (const [what, [body, message]] of Object.entries(HOSTILE)) {
		it(`with ${what} is refused with little CPU time`, async () => {
			// The text differs each time: a known one is not looked at again.
			const sent = (round: number) =>
				JSON.stringify({ ...body, query: `${body.query} #${round}` });
			const reference = (round: number) => referenceRequest(sent(round));
			await assertCpuWithin(REFUSED_WITHIN, reference, async (round) => {
				const { text } = await server.ask(sent(round));
				const { errors } = JSON.parse(text);
				assert.match(errors[0].message, message);
				for (const { message } of errors) assert.ok(message.length <= 400);
				assert.match(
					errors[0].extensions.code,
					/^(GRAPHQL_(PARSE|VALIDATION)_FAILED|BAD_USER_INPUT|OPERATION_RESOLUTION_FAILURE)$/,
				);
				assert.ok(text.length < LONGEST_REFUSAL, `${text.length} characters`);
			});
		});
	}

	it("gets at most ten errors of a document or of variables, and one that says there are more", async () => {
		const document = await server.ask({
			query: `{ ${times(50, (n) => `z${n}`)} }`,
		});
		const variables = await server.ask({
			query: CREATE,
			variables: { i: nulls(50) },
		});
		const [ofDocument, ofVariables] = [document, variables].map(
			({ text }) => JSON.parse(text).errors,
		);
		assert.equal(ofDocument.length, 11);
		assert.match(ofDocument[10].message, /^Too many validation errors/);
		assert.equal(ofVariables.length, 11);
		assert.match(ofVariables[10].message, /^More errors are omitted\.$/);
	});

	it("gets no names of the schema, also in errors of variables", async () => {
		const input = { username: "ada", name: "Ada", emial: "ada@example.org" };
		const { text } = await server.ask({
			query: CREATE,
			variables: { i: input },
		});
		const { message, extensions } = JSON.parse(text).errors[0];
		assert.equal(extensions.code, "BAD_USER_INPUT");
		assert.match(message, /Field "emial" is not defined/);
		assert.doesNotMatch(text, /Did you mean|email/);
	});
});

describe("in development, an error of variables", () => {
	it("suggests names of the schema", async () => {
		await using server = await startWhole({ CORKBOARD_MODE: "development" });
		const { text } = await server.ask({
			query: CREATE,
			variables: { i: { username: "ada", name: "Ada", emial: "a" } },
		});
		assert.match(
			JSON.parse(text).errors[0].message,
			/"emial" is not defined by type "CreateUserInput"\. Did you mean "email"/,
		);
	});
});

describe("a response", () => {
	const PINS = 100;
	const DETAILS = 1_000;
	let server: WholeServer;
	let board: string;
	before(async () => {
		server = await startWhole({ CORKBOARD_MODE: "production" });
		const headers = { authorization: "" };
		const mutate = async (field: string, input: object, of: string) => {
			const type = `${field[0]?.toUpperCase()}${field.slice(1)}Input`;
			const { text } = await server.ask(
				{
					query: `mutation ($input: ${type}!) { ${field}(input: $input) { ${of} } }`,
					variables: { input },
				},
				headers.authorization === "" ? {} : headers,
			);
			return JSON.parse(text).data[field];
		};
		const user = { username: "ada", name: "Ada", email: "ada@example.org" };
		const { token } = await mutate("createUser", user, "token");
		headers.authorization = `Bearer ${token}`;
		const created = await mutate("createBoard", { name: "B" }, "board { id }");
		board = created.board.id;
		for (let pin = 0; pin < PINS; pin++) {
			const details = `${pin} `.padEnd(DETAILS, "x");
			await mutate("createPin", { boardId: board, details }, "pin { id }");
		}
	});
	after(() => server[Symbol.asyncDispose]());

	const pins = (fields: string) =>
		`query ($ids: [ID!]!) { nodes(ids: $ids) { ... on Board { pins(first: 100) { nodes { ${fields} } } } } }`;
	const ask = async (fields: string, boards: number) => {
		const { text, response } = await server.ask({
			query: pins(fields),
			variables: { ids: Array(boards).fill(board) },
		});
		return { text, status: response.status };
	};

	it("of maximum length, a hundred pages of a hundred pins, is sent", async () => {
		const { text, status } = await ask(
			"id details createdAt owner { name }",
			100,
		);
		assert.equal(status, 200);
		assert.equal(JSON.parse(text).errors, undefined);
		assert.ok(text.length > PINS * 100 * DETAILS);
	});

	for (const [what, fields] of [
		["the same text 45 times", times(45, (n) => `a${n}: details`)],
		["the same text 95 times", times(95, (n) => `a${n}: details`)],
		["a name of 20,000 characters", `${"k".repeat(20_000)}: id`],
	] as const) {
		it(`with ${what} in each of 10,000 objects is rejected before it is printed`, async () => {
			const reference = () => ask("id", 100);
			await assertCpuWithin(READ_AND_REFUSED_WITHIN, reference, async () => {
				const { text, status } = await ask(fields, 100);
				const { data, errors } = JSON.parse(text);
				assert.equal(status, 400);
				assert.equal(data, undefined);
				assert.equal(errors.length, 1);
				assert.equal(errors[0].extensions.code, "TOO_EXPENSIVE");
				assert.match(
					errors[0].message,
					new RegExp(`longer than ${MAX_CHARACTERS} characters`),
				);
			});
		});
	}

	it("with the same error at each of 10,000 objects has a thousand of them, and the number of the others", async () => {
		const wrong = times(5, (n) => `a${n}: comments(first: 101) { totalCount }`);
		const { text, status } = await ask(`details ${wrong}`, 100);
		assert.equal(status, 200);
		const { data, errors } = JSON.parse(text);
		const { details, ...others } = data.nodes[99].pins.nodes[99];
		assert.equal(details.length, DETAILS);
		assert.deepEqual(Object.values(others), Array(5).fill(null));
		assert.equal(errors.length, 1_001);
		assert.match(errors[999].message, /^first must be between/);
		assert.match(errors[1_000].message, / 49000 errors are omitted\.$/);
		assert.equal(errors[1_000].extensions.code, "TOO_EXPENSIVE");
	});
});
