import { type GraphQLField, getNamedType, isInputObjectType } from "graphql";
import { type Id, packId } from "../../src/id/ids.ts";
import type { Random } from "../../src/util/random.ts";
import { argumentList } from "./arguments.ts";
import type { Draft, Position } from "./draft.ts";
import type { GraphSamples } from "./graphSamples.ts";
import { literal } from "./literal.ts";

const TYPES = ["User", "Board", "Section", "Pin", "Comment", "Interest"];

/** Well-formed ids of no object: unknown row, shard or type, a global list, reserved bits. */
const UNKNOWN: readonly string[] = [
	packId({ shard: 1, type: 1, local: 99_999_999 }),
	packId({ shard: 60_000, type: 3, local: 1 }),
	packId({ shard: 1, type: 1_000, local: 1 }),
	packId({ shard: 0, type: 5, local: 0 }),
	"0",
	"9223372036854775808",
	"18446744073709551615",
];
const MALFORMED = [
	"",
	"abc",
	"-1",
	"007",
	"1e3",
	" 1",
	"1.0",
	"18446744073709551616",
	"999999999999999999999999",
	"\u0000",
];

/** The arguments of a field, and the position below it. */
export interface FieldArguments {
	readonly args: string;
	readonly below: Position;
}

/** Mostly an id of the given type. */
export function randomId(
	random: Random,
	samples: GraphSamples,
	type: string | null,
): string {
	const draw = random.fraction();
	if (draw < 0.03) return random.pick(MALFORMED);
	if (draw < 0.06) return random.pick(UNKNOWN);
	const wanted = type === null || draw < 0.1 ? random.pick(TYPES) : type;
	const ids = samples.ids.get(wanted) ?? [];
	const listed = samples.cursors.lists;
	if (listed.length > 0 && random.chance(0.3)) {
		// An owner of a list with known cursors, so that they can be used.
		const owner = random.pick(listed).split(" ")[1] as Id;
		if (type === null || ids.includes(owner)) return owner;
	}
	return ids.length === 0
		? random.pick(UNKNOWN)
		: random.pickPopular(ids, ids.length);
}

/** Ids of any type, with repetitions. */
function someIds(random: Random, samples: GraphSamples): string[] {
	const many = random.chance(0.02) ? 101 : random.integer(0, 6);
	const ids: string[] = [];
	while (ids.length < many) {
		const repeated = ids.length > 0 && random.chance(0.2);
		ids.push(repeated ? random.pick(ids) : wellFormedId(random, samples));
	}
	if (random.chance(0.03)) ids.push(random.pick(MALFORMED));
	return ids;
}

/** Never malformed, because one malformed id makes the whole list an error. */
function wellFormedId(random: Random, samples: GraphSamples): string {
	const id = randomId(random, samples, null);
	return MALFORMED.includes(id) ? random.pick(UNKNOWN) : id;
}

/** `nodes(ids: …)` */
export function manyObjects(
	draft: Draft,
	samples: GraphSamples,
	below: Position,
): FieldArguments {
	const ids = someIds(draft.random, samples);
	// A single value is a list of one (spec §3.12).
	const only = ids.length === 1 && draft.random.chance(0.5);
	const args = only
		? `(ids: ${literal(ids[0] as string)})`
		: argumentList(draft, [["ids", "[ID!]!", ids]]);
	return { args, below: { ...below, count: Math.max(1, ids.length) } };
}

/** `popularInterests(first: …)`, `users(startsWith: …, first: …)`. Null if the budget does not allow it. */
export function firstObjects(
	draft: Draft,
	{ usernames }: GraphSamples,
	{ args }: GraphQLField<unknown, unknown>,
	below: Position,
): FieldArguments | null {
	const { random } = draft;
	const first = random.pick([undefined, null, 0, 1, 2, 5, 20, 100, -1, 101]);
	const size = Math.min(100, Math.max(0, first ?? 20));
	if (size * below.count > draft.budget) return null;
	draft.budget -= size * below.count;
	const whole = random.chance(0.1)
		? random.pick(["", " ", "ada lov", "Ünknown", "💡", "x".repeat(200)])
		: random.pick(usernames);
	// By characters: half of one cannot be spelled in a document.
	const characters = [...whole];
	const text = characters
		.slice(0, random.integer(1, characters.length + 1))
		.join("");
	return {
		args: argumentList(draft, [
			["first", "Int", first],
			...(args.some(({ name }) => name === "startsWith")
				? [
						[
							"startsWith",
							"String!",
							random.chance(0.3) ? text.toUpperCase() : text,
						] as const,
					]
				: []),
		]),
		below: { ...below, count: Math.max(1, size * below.count) },
	};
}

/** `node(id: …)`, `user(by: {username: …})` */
export function oneObject(
	draft: Draft,
	samples: GraphSamples,
	field: GraphQLField<unknown, unknown>,
	below: Position,
): FieldArguments {
	const { random } = draft;
	const of = getNamedType(field.type).name;
	const id = randomId(random, samples, of === "Node" ? null : of);
	const [by] = field.args.flatMap(({ type }) => {
		const named = getNamedType(type);
		return isInputObjectType(named) ? [named] : [];
	});
	const byKey = Object.keys(by?.getFields() ?? {}).find(
		(name) => name !== "id",
	);
	if (by === undefined || byKey === undefined) {
		const args = argumentList(draft, [["id", "ID!", id]]);
		const type = [...samples.ids].find(([, ids]) => ids.includes(id as Id));
		const concrete = type?.[0] ?? null;
		return { args, below: { ...below, owner: id, concrete } };
	}
	const isSlug = byKey === "slug";
	const key = random.chance(0.1)
		? random.pick(["nobody_here", "", "Ünknown", "a b", "x".repeat(200)])
		: random.pick(isSlug ? samples.slugs : samples.usernames);
	const cased = random.chance(isSlug ? 0.05 : 0.3) ? key.toUpperCase() : key;
	const hasId = random.chance(0.4);
	const args = argumentList(draft, [
		["by", `${by.name}!`, hasId ? { id } : { [byKey]: cased }],
	]);
	return { args, below: { ...below, owner: hasId ? id : null } };
}
