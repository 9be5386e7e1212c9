import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
	getIntrospectionQuery,
	parse,
	specifiedRules,
	validate,
} from "graphql";
import {
	documentLimitError,
	documentLimits,
} from "../../../src/server/limits/documentLimits.ts";
import { theModel } from "../../helpers/model.ts";
import { assertCpuWithin, referenceRequest } from "../../helpers/timing.ts";
import { startToy, type Toy } from "../../helpers/toyServer.ts";

/**
 * The CPU time that a hostile document may take, in multiples of
 * `referenceRequest`: 50 ms on a fast core. The server and its client are in this
 * process.
 */
const REFUSED_WITHIN = 12;

const times = (count: number, text: (index: number) => string) =>
	Array.from({ length: count }, (_, index) => text(index)).join(" ");
const nested = (depth: number, inner: string) =>
	`${"followers { nodes { ".repeat(depth)}${inner}${" } }".repeat(depth)}`;

const HOSTILE: Readonly<Record<string, readonly [string, RegExp]>> = {
	"10,000 aliases": [
		`{ ${times(10_000, (n) => `a${n}: __typename`)} }`,
		/the limit is 32768/,
	],
	"2,100 tokens": [
		`{ ${times(700, (n) => `a${n}: __typename`)} }`,
		/more that 2000 tokens/,
	],
	"101 aliases": [
		`{ ${times(101, (n) => `a${n}: __typename`)} }`,
		/limit of 100 aliases/,
	],
	"500 times one field": [
		`{ ${times(500, () => "__typename")} }`,
		/limit of 20 repetitions of a field/,
	],
	"26 levels": [
		`{ viewer { ${nested(12, "id")} } }`,
		/limit of 25 levels of fields/,
	],
	"26 levels in fragments": [
		`{ viewer { ...F0 } } ${times(12, (n) => `fragment F${n} on User { followers { nodes { ...F${n + 1} } } }`)} fragment F12 on User { id }`,
		/limit of 25 levels of fields/,
	],
	"fragments that double at each step": [
		`{ ...F0 } ${times(60, (n) => `fragment F${n} on Query { ...F${n + 1} ...F${n + 1} }`)} fragment F60 on Query { __typename }`,
		/limit of 5000 fields with fragments expanded/,
	],
	"a fragment within itself": [
		"{ viewer { ...F } } fragment F on User { followers { nodes { ...G } } } fragment G on User { followers { nodes { ...F } } }",
		/within itself/,
	],
	"fields that overlap": [
		`{ ${times(19, () => `viewer { ${times(19, () => "boards { totalCount }")} }`)} }`,
		/limit of 20000 pairs/,
	],
	"fragments side by side": [
		`{ viewer { ${times(190, (n) => `...F${n}`)} } } ${times(190, (n) => `fragment F${n} on User { id }`)}`,
		/limit of 20000 pairs/,
	],
	"inline fragments side by side": [
		`{ viewer { ${times(200, () => "... { boards { totalCount } }")} } }`,
		/limit of 20000 pairs/,
	],
	"10 directives at one place": [
		"{ __typename @aa@aa@aa@aa@aa@aa@aa@aa@aa@aa }",
		/limit of 4 directives at one location/,
	],
	"600 directives": [
		`{ ${times(75, (n) => `viewer { f${n}: id @aa @aa @aa @aa }`)} }`,
		/exceeds the limit of/,
	],
	"11 mutations": [
		`mutation { ${times(11, (n) => `m${n}: unlikePin(input: {pinId: "1"}) { pin { id } }`)} }`,
		/limit of 10 mutations/,
	],
	"11 mutations in a fragment": [
		`mutation { ...F } fragment F on Mutation { ${times(11, (n) => `m${n}: unlikePin(input: {pinId: "1"}) { pin { id } }`)} }`,
		/limit of 10 mutations/,
	],
	"900 fields that are not there": [
		`{ ${times(900, (n) => `x${n}`)} }`,
		/Cannot query field/,
	],
	"arguments that are not there": [
		`{ viewer { followers(${times(480, (n) => `a${n}: 1`)}) { totalCount } } }`,
		/Unknown argument/,
	],
	"a value 900 lists deep": [
		`{ nodes(ids: ${"[".repeat(900)}${"]".repeat(900)}) { id } }`,
		/ID cannot represent/,
	],
	"380 operations": [
		times(380, (n) => `query q${n} { a }`),
		/Cannot query field/,
	],
};

describe("a hostile document", () => {
	let toy: Toy;
	before(async () => {
		const { schema } = theModel();
		toy = await startToy({
			schema,
			mode: "production",
			execute: async () => assert.fail("it was run"),
		});
		// The server's code as it is after its first requests.
		for (let n = 0; n < 20; n++) {
			await (await toy.post({ query: `{ viewer { id nope${n} } }` })).text();
		}
	});
	after(() => toy[Symbol.asyncDispose]());

	for (const [what, [query, message]] of Object.entries(HOSTILE)) {
		it(`with ${what} is refused with little CPU time`, async () => {
			const sent = (round: number) =>
				JSON.stringify({ query: `${query} #${round}` });
			const reference = (round: number) => referenceRequest(sent(round));
			await assertCpuWithin(REFUSED_WITHIN, reference, async (round) => {
				const response = await toy.post(sent(round));
				const { errors, ...rest } = JSON.parse(await response.text());
				assert.deepEqual(rest, {});
				assert.match(errors[0].message, message);
				assert.match(
					errors[0].extensions.code,
					/^GRAPHQL_(PARSE|VALIDATION)_FAILED$/,
				);
			});
		});
	}
});

describe("the limits of documents", () => {
	it("admit the documents of real clients", () => {
		const relay = `query Page($id: ID!) { node(id: $id) { __typename ...Board_page id } }
			fragment Board_page on Board { name ...Board_owner ...Board_pins owner { ...User_card id } }
			fragment Board_owner on Board { owner { ...User_card id } }
			fragment User_card on User { username name avatar { url } boards(first: 3) { edges { node { name ...Board_pins id __typename } cursor } pageInfo { endCursor hasNextPage } } }
			fragment Board_pins on Board { pins(first: 10) { edges { node { ...Pin_card id __typename } cursor } pageInfo { endCursor hasNextPage } } }
			fragment Pin_card on Pin { details image { url } owner { username id } comments(first: 2) { edges { node { text author { username id } id __typename } cursor } pageInfo { endCursor hasNextPage } } board { name id } likes: likedBy(first: 0) { totalCount } }`;
		const deep = `{ viewer { ${nested(11, "id")} } }`;
		const aliased = `{ ${times(100, (n) => `a${n}: pin(id: "${n + 1}") { id }`)} }`;
		for (const query of [relay, deep, aliased, getIntrospectionQuery()]) {
			assert.equal(documentLimitError(parse(query)), null, query.slice(0, 60));
			assert.deepEqual(
				validate(theModel().schema, parse(query), [
					...specifiedRules,
					documentLimits,
				]),
				[],
			);
		}
	});

	it("are reported alone: no other rule visits a document over a limit", () => {
		const query = `{ ${times(300, (n) => `a${n}: nope`)} }`;
		assert.deepEqual(
			validate(theModel().schema, parse(query), [
				...specifiedRules,
				documentLimits,
			]).map(({ message }) => message),
			["The document exceeds the limit of 100 aliases."],
		);
	});
});
