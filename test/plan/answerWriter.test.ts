import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { describe, it } from "node:test";
import { setImmediate } from "node:timers/promises";
import {
	buildSchema,
	type ExecutionResult,
	execute,
	GraphQLError,
	isScalarType,
	parse,
	validate,
} from "graphql";
import { CorkboardError } from "../../src/errors.ts";
import type { Model } from "../../src/model/types.ts";
import type { BatchResolver } from "../../src/plan/batchResolver.ts";
import { createPlanner } from "../../src/plan/planner.ts";
import { type Random, seededRandom } from "../../src/util/random.ts";
import { difference } from "../differential/compare.ts";
import { ListGraph } from "../helpers/listGraph.ts";

const OPERATIONS = 400;
const SEED = Number(
	process.env.CORKBOARD_DIFFERENTIAL_SEED ?? randomInt(2 ** 31),
);

const schema = buildSchema(`
	scalar Any
	enum Color { RED GREEN }
	type Query { box: Box sureBox: Box! boxes: [Box!] grid: [[Box]!] things: [Thing]! text: String sureText: String! }
	type Mutation { box: Box sureBox: Box! boxes: [Box!] text: String sureText: String! }
	interface Named { name: String! }
	union Thing = Box | Ball
	type Ball implements Named { name: String! size: Float! thing: Thing! }
	type Box implements Named {
		name: String! id: ID sureId: ID! count: Int sureCount: Int! open: Boolean sureOpen: Boolean! size: Float
		color: Color sureColor: Color! any: Any sureAny: Any!
		counts: [Int] sureCounts: [Int!]! table: [[String!]] sureTable: [[Int!]!]!
		box: Box sureBox: Box! boxes: [Box] sureBoxes: [Box!]! looseBoxes: [Box!]
		grid: [[Box!]] looseGrid: [[Box!]]! sureGrid: [[Box]!]! cube: [[[Box!]]!]
		thing: Thing sureThing: Thing! things: [Thing!]
		named: Named namedGrid: [[Named!]]
	}
`);
const any = schema.getType("Any");
if (!isScalarType(any)) throw new Error("no scalar");
any.serialize = (value) => {
	if (value === "unfit") throw new Error("unfit");
	return value === "empty" ? undefined : value;
};

type Type = ReturnType<typeof fieldsOf>[number]["type"];

function fieldsOf(type: string) {
	const named = schema.getType(type);
	return named && "getFields" in named
		? Object.values(named.getFields()).map(({ name, type }) => ({
				name,
				type: String(type),
			}))
		: [];
}

const SCALARS = ["String", "ID", "Int", "Float", "Boolean", "Any", "Color"];
const MEMBERS: Readonly<Record<string, readonly string[]>> = {
	Thing: ["Box", "Ball"],
	Named: ["Box", "Ball"],
};

/** Mostly fit for the type. Records have the selected fields only. */
function randomValue(
	random: Random,
	type: Type,
	selection: Selection | null,
): unknown {
	if (random.chance(0.02)) {
		return random.pick([null, undefined, failure(), new Error("secret")]);
	}
	if (random.chance(0.01)) return random.pick([7, "text", true, {}, [], [7]]);
	if (type.endsWith("!")) {
		return randomValue(random, type.slice(0, -1), selection);
	}
	if (type.startsWith("[")) {
		const items = Array.from({ length: random.integer(0, 2) }, () =>
			randomValue(random, type.slice(1, -1), selection),
		);
		return random.chance(0.1) ? new Set(items) : items;
	}
	if (selection === null) return randomScalar(random, type);
	const concrete = random.pick(MEMBERS[type] ?? [type]);
	const record: Record<string, unknown> = {
		__typename: random.chance(0.98)
			? concrete
			: random.pick(["Query", "Nothing", null]),
	};
	for (const { on, name, type: of, below } of selection.fields) {
		if (on === concrete || !MEMBERS[type]?.includes(on)) {
			record[name] = randomValue(random, of, below);
		}
	}
	return record;
}

const TEXTS = [
	"",
	"plain",
	'"quoted"\\',
	"line\nbreak\u0000\u001f",
	"\u2028 é",
	"pin 📌",
	"\ud800 alone \udc00",
	"__proto__",
];

function randomScalar(random: Random, type: string): unknown {
	const numbers = [0, -0, 7, -1, 2 ** 31 - 1, -(2 ** 31), 1.5, 1e21, 2 ** 31];
	if (random.chance(0.05)) {
		return random.pick<unknown>([
			Number.NaN,
			Number.POSITIVE_INFINITY,
			{ toJSON: null },
			"7",
			true,
			...numbers,
		]);
	}
	switch (type) {
		case "Int":
			return random.pick(numbers.slice(0, 6));
		case "Float":
			return random.pick(numbers);
		case "Boolean":
			return random.pick([true, false]);
		case "Color":
			return random.pick(["RED", "GREEN"]);
		case "Any":
			return random.pick([1, "x", { a: [1, '"'] }, [null], "unfit", "empty"]);
		default:
			return random.pick(TEXTS);
	}
}

function failure(): CorkboardError {
	return new CorkboardError("FORBIDDEN", "Not for you.");
}

interface Selection {
	readonly text: string;
	readonly fields: readonly {
		/** The type that has the field. */
		readonly on: string;
		readonly name: string;
		readonly type: Type;
		readonly below: Selection | null;
	}[];
}

function randomSelection(
	random: Random,
	type: string,
	depth: number,
): Selection {
	const parts = random.chance(0.2) ? ["__typename"] : [];
	const fields: Selection["fields"][number][] = [];
	for (const member of MEMBERS[type] ?? []) {
		if (random.chance(0.2)) continue;
		const inside = randomSelection(random, member, depth);
		parts.push(`... on ${member} ${inside.text}`);
		fields.push(...inside.fields);
	}
	const selectable = random.shuffled(fieldsOf(type)).slice(0, 4);
	for (const { name, type: of } of selectable) {
		const named = of.replaceAll(/[[\]!]/g, "");
		const isLeaf = SCALARS.includes(named);
		if (!isLeaf && depth === 0) continue;
		const below = isLeaf ? null : randomSelection(random, named, depth - 1);
		// Fields of the members of a union must not differ in type.
		const isAliased = type !== "Box" || random.chance(0.1);
		const key = isAliased ? `${type}_${name}: ` : "";
		parts.push(`${key}${name} ${below?.text ?? ""}`);
		if (random.chance(0.1)) parts.push(`${type}${parts.length}: __typename`);
		fields.push({ on: type, name, type: of, below });
	}
	return { text: `{ ${[...parts, "t: __typename"].join(" ")} }`, fields };
}

/** Results of the root fields. */
type Root = Readonly<Record<string, unknown>>;

const roots = ["Query", "Mutation"];
const resolver = (name: string): BatchResolver<{ root: Root }> => ({
	dependsOnViewer: false,
	cost: () => 0,
	resolve: ({ context: { root } }) => {
		const value = root[name];
		return value instanceof Promise ? value.then((one) => [one]) : [value];
	},
});

const model: Model = {
	objects: new Map(),
	objectsByNumber: new Map(),
	mappings: new Map(),
	lookups: new Map(),
	sources: new Map(
		["Query", "Mutation", "Box", "Ball"].map((type) => [
			type,
			new Map(
				fieldsOf(type).map(({ name }) => [
					name,
					{ kind: roots.includes(type) ? "resolver" : "property" },
				]),
			),
		]),
	),
};

const planner = createPlanner<{ root: Root }>({
	schema,
	model,
	resolvers: new Map(
		roots.flatMap((type) =>
			fieldsOf(type).map(({ name }) => [`${type}.${name}`, resolver(name)]),
		),
	),
	visibility: { dependenciesOf: () => [], isPrivateList: () => false },
	maxCost: 1,
	maxPlans: 10,
});

/** Paths only: the two do not give the same codes to values that cannot be serialized. */
function withoutCodes({ data, errors = [] }: ExecutionResult): ExecutionResult {
	return {
		data: data ?? null,
		errors: errors.map(
			({ path }) =>
				new GraphQLError("", {
					path: path ?? [],
					extensions: { code: "SOME" },
				}),
		),
	};
}

describe("answers with nulls and errors at random positions", () => {
	it(`are those of graphql-js (${OPERATIONS} operations, seed ${SEED})`, async () => {
		const random = seededRandom(SEED);
		let withErrors = 0;
		let nulledData = 0;
		for (let count = 0; count < OPERATIONS; count++) {
			const type = random.pick(roots);
			const selection = randomSelection(random, type, 3);
			const text = `${type.toLowerCase()} ${selection.text}`;
			const document = parse(text);
			const [invalid] = validate(schema, document);
			if (invalid) throw new Error(`${invalid.message}\n${text}`);
			const isLate = random.chance(0.3);
			const root = Object.fromEntries(
				selection.fields.map(({ name, type, below }) => {
					const value = randomValue(random, type, below);
					return [
						name,
						isLate && random.chance(0.5) ? setImmediate(value) : value,
					];
				}),
			);
			const answer = planner.answer({
				document,
				context: { root, graph: new ListGraph(model) },
			});
			const { data, errors } = await answer;
			assert.ok(data !== null, text);
			const expected = await execute({ schema, document, rootValue: root });
			const got = { data: JSON.parse(data), errors };
			assert.equal(
				difference(withoutCodes(expected), withoutCodes(got)),
				null,
				`${text}\n${data.slice(0, 500)}`,
			);
			assert.equal(data, JSON.stringify(expected.data), text);
			if (errors.length > 0) withErrors++;
			if (data === "null") nulledData++;
		}
		assert.ok(withErrors > OPERATIONS / 5, `${withErrors} had errors`);
		assert.ok(nulledData > OPERATIONS / 50, `${nulledData} lost all data`);
	});
});
