import { setTimeout as sleep } from "node:timers/promises";
import {
	type GraphQLInputType,
	getNamedType,
	getNullableType,
	isEnumType,
	isInputObjectType,
	isListType,
	isNonNullType,
} from "graphql";
import { type Corkboard, openCorkboard } from "../app/openCorkboard.ts";
import type { Id } from "../id/ids.ts";
import { createStoredTypes } from "../model/storedTypes.ts";
import { verify } from "../ops/verify/verify.ts";
import { type Random, seededRandom } from "../util/random.ts";
import { everyObject, type FoundObject, selectionOf } from "./everyObject.ts";
import type { TestGraph } from "./openTest.ts";

/** What was done, and what was wrong. */
export interface RandomWalk {
	/** Mutations that were sent, by name: how many of each had no error. */
	readonly done: ReadonlyMap<string, number>;
	/** Answers that were compared. */
	readonly compared: number;
	/** A sentence for each fault. */
	readonly problems: readonly string[];
}

export interface RandomWalkOptions {
	/** The same seed does the same (default 1). */
	readonly seed?: number;
	/** How many mutations (default 200). */
	readonly steps?: number;
	/** Fields, as `Type.field`, that are not compared: what they answer is not stored. Those of the home feed's list are left out anyway. */
	readonly leftOut?: readonly string[];
}

/** Mutations between two comparisons. */
const BETWEEN = 50;
/** Objects and viewers of a comparison. */
const OBJECTS = 25;
const VIEWERS = 3;
const MAX_PROBLEMS = 3;
/** What is delivered later than its transaction may not be there at once. */
const PATIENCE_MS = 10_000;

/**
 * Sends random mutations of the app's own schema, as random users, with random
 * inputs. In between it compares what the graph answers with what a second
 * reader answers that keeps nothing in memory; at the end everything that is stored
 * twice must agree, as the command `verify` checks. An error INTERNAL is a fault.
 */
export async function walkRandomly(
	{ corkboard }: Pick<TestGraph, "corkboard">,
	{ seed = 1, steps = 200, leftOut = [] }: RandomWalkOptions = {},
): Promise<RandomWalk> {
	const random = seededRandom(seed);
	const done = new Map<string, number>();
	const problems: string[] = [];
	let compared = 0;
	const { list } = corkboard.feedModel ?? {};
	const without = new Set([
		...leftOut,
		// To read it adds to it.
		...(list ? [`${list.from}.${list.field}`] : []),
	]);
	let objects = await everyObject(corkboard);
	const hasMutations = corkboard.schema.getMutationType() != null;
	for (let step = 1; step <= steps && hasMutations; step++) {
		const { name, document, viewer, input } = randomMutation(
			corkboard,
			objects,
			random,
		);
		const { errors = [] } = await corkboard.query(document, {
			viewer,
			...(input !== null && { variables: { input } }),
		});
		done.set(name, (done.get(name) ?? 0) + (errors.length === 0 ? 1 : 0));
		const fault = errors.find(
			({ extensions }) => extensions.code === "INTERNAL",
		);
		if (fault !== undefined) {
			problems.push(
				`${name} with ${JSON.stringify(input)} failed: ${fault.message}`,
			);
		}
		if (step % BETWEEN === 0 || step === steps) {
			objects = await everyObject(corkboard);
			const differences = await compare(corkboard, objects, random, without);
			compared += differences.compared;
			problems.push(...differences.problems);
		}
	}
	const { remaining, unchecked } = await verify(corkboard.store, {
		types: createStoredTypes(corkboard.schema),
	});
	for (const { kind, count, examples } of remaining) {
		problems.push(
			`verify: ${count} of ${kind}: ${examples.map(({ description }) => description).join("; ")}`,
		);
	}
	problems.push(...unchecked.map(({ reason }) => `verify: ${reason}`));
	return { done, compared, problems };
}

/** A mutation to send, with a viewer and an input that mostly make sense. */
interface RandomMutation {
	readonly name: string;
	readonly document: string;
	/** Null: nobody is signed in. */
	readonly viewer: Id | null;
	/** Null: the mutation takes none. */
	readonly input: unknown;
}

/** `select`: what is asked of the payload of each mutation. The schema must have one. */
export function randomMutation(
	{ app, schema }: Pick<Corkboard, "app" | "schema">,
	objects: readonly FoundObject[],
	random: Random,
	select: (name: string) => string = () => "__typename",
): RandomMutation {
	const { name, args } = random.pick(
		Object.values(schema.getMutationType()?.getFields() ?? {}),
	);
	const viewer = random.chance(0.05)
		? null
		: (random.pick(viewersOf({ app }, objects))?.id ?? null);
	const type = args.find((each) => each.name === "input")?.type;
	const input =
		type === undefined ? null : inputOf(type, "input", random, objects);
	const payload = `{ ${select(name)} }`;
	return {
		name,
		viewer,
		input,
		document:
			input === null
				? `mutation { ${name} ${payload} }`
				: `mutation ($input: ${String(type)}) { ${name}(input: $input) ${payload} }`,
	};
}

function viewersOf(
	{ app }: Pick<Corkboard, "app">,
	objects: readonly FoundObject[],
): readonly FoundObject[] {
	return objects.filter(({ type }) => type === app.identity.type);
}

/** The same questions to the graph, and to a reader without caches. */
async function compare(
	corkboard: Corkboard,
	objects: readonly FoundObject[],
	random: Random,
	without: ReadonlySet<string>,
): Promise<Pick<RandomWalk, "compared" | "problems">> {
	const { app, config } = corkboard;
	await using reader = await openCorkboard(
		app,
		{ ...config, cacheBytes: 0 },
		"readOnly",
	);
	// The reader is open until then.
	return await compareAnswers(corkboard, reader, objects, random, without);
}

/** How the graph is asked: in this process, or over HTTP. */
export type Asked = Pick<Corkboard, "query">;

/** The same questions, about some of the objects, to the graph and to a reader that keeps nothing. */
export async function compareAnswers(
	asked: Asked,
	reader: Corkboard,
	objects: readonly FoundObject[],
	random: Random,
	without: ReadonlySet<string>,
	patienceMs: number = PATIENCE_MS,
): Promise<Pick<RandomWalk, "compared" | "problems">> {
	const viewers = [
		null,
		...random
			.shuffled(viewersOf(reader, objects))
			.slice(0, VIEWERS)
			.map(({ id }) => id),
	];
	const problems: string[] = [];
	let compared = 0;
	for (const { id, type } of random.shuffled(objects).slice(0, OBJECTS)) {
		// One is enough to say that something is wrong, and each is waited for.
		if (problems.length >= MAX_PROBLEMS) break;
		const document = `query ($id: ID!) { node(id: $id) { __typename ${selectionOf(reader, type, without)} } }`;
		for (const viewer of viewers) {
			const ask = async (of: Asked) =>
				JSON.stringify(await of.query(document, { viewer, variables: { id } }));
			const answers = await agreeing(asked, reader, ask, patienceMs);
			compared += 1;
			if (answers === null) continue;
			problems.push(
				`${viewer ?? "nobody"} asked for the ${type} ${id}, and got ${answers[0]}; what is stored says ${answers[1]}`,
			);
		}
	}
	return { compared, problems };
}

/** Null if both answer the same, if need be after a while. */
async function agreeing(
	asked: Asked,
	reader: Asked,
	ask: (of: Asked) => Promise<string>,
	patienceMs: number,
): Promise<readonly [string, string] | null> {
	for (let waited = 0; ; waited += 100) {
		const answers = [await ask(asked), await ask(reader)] as const;
		if (answers[0] === answers[1]) return null;
		if (waited >= patienceMs) return answers;
		await sleep(100);
	}
}

/** A value of a type, mostly one that makes sense: ids of the type that the field is named after. */
function inputOf(
	type: GraphQLInputType,
	field: string,
	random: Random,
	objects: readonly FoundObject[],
): unknown {
	if (!isNonNullType(type) && random.chance(0.4)) return undefined;
	const inner = getNullableType(type);
	if (isListType(inner)) {
		return Array.from({ length: random.integer(0, 3) }, () =>
			inputOf(inner.ofType, field, random, objects),
		).filter((value) => value !== undefined);
	}
	if (isInputObjectType(inner)) {
		const fields = Object.values(inner.getFields());
		const given = inner.isOneOf ? [random.pick(fields)] : fields;
		return Object.fromEntries(
			given.map((one) => [
				one.name,
				inputOf(one.type, one.name, random, objects),
			]),
		);
	}
	if (isEnumType(inner)) return random.pick(inner.getValues()).name;
	const { name } = getNamedType(inner);
	switch (name) {
		case "Boolean":
			return random.chance(0.5);
		case "Int":
		case "Float":
			return random.integer(0, 100);
		case "ID":
			return idFor(field, random, objects);
		case "DateTime":
			return new Date(random.integer(0, 2_000_000_000) * 1_000).toISOString();
		default:
			return /URI|URL/i.test(name)
				? `https://example.com/${random.integer(1, 99)}`
				: `word${random.integer(1, 400)}`;
	}
}

/** `afterTalkId`: mostly a talk. */
function idFor(
	field: string,
	random: Random,
	objects: readonly FoundObject[],
): string {
	const wanted = objects.filter(({ type }) =>
		field.toLowerCase().endsWith(`${type.toLowerCase()}id`),
	);
	const from = wanted.length > 0 && random.chance(0.95) ? wanted : objects;
	return from.length === 0 ? "1" : random.pick(from).id;
}
