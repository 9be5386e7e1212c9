import type { JsonValue } from "../../src/util/json.ts";
import type { Random } from "../../src/util/random.ts";
import type { Draft, Position } from "./draft.ts";
import type { GraphSamples } from "./graphSamples.ts";

/** The most objects at one position. */
const MAX_OBJECTS = 150;
const SIZES = [0, 1, 1, 2, 2, 3, 4, 7, 10, 25, 100];
const DEFAULT_SIZE = 20;
const INVALID_SIZES = [-1, -2_147_483_648, 101, 2_147_483_647];

/** `(first: 3, after: $v1)`. Arguments without a value are left out. */
export function argumentList(
	draft: Draft,
	args: readonly (readonly [
		name: string,
		type: string,
		value: JsonValue | undefined,
	])[],
): string {
	const printed = args.flatMap(([name, type, value]) => {
		const text = draft.value(type, value);
		return text === null ? [] : [`${name}: ${text}`];
	});
	return printed.length === 0
		? ""
		: `(${draft.random.shuffled(printed).join(", ")})`;
}

/** Valid or invalid arguments of a connection, and the page size. Null if the remaining budget allows no page. */
export function pageArguments(
	draft: Draft,
	samples: GraphSamples,
	connection: string,
	position: Position,
): { readonly args: string; readonly size: number } | null {
	const { random } = draft;
	const most = Math.min(MAX_OBJECTS, draft.budget) / position.count;
	const sizes = SIZES.filter((size) => size <= most);
	const size = sizes.length === 0 ? 0 : random.pick(sizes);
	const after = cursor(random, samples, connection, position);
	const before =
		after && random.chance(0.7)
			? undefined
			: cursor(random, samples, connection, position);
	const int = (name: string, value: number | null | undefined) =>
		[name, "Int", value] as const;
	const text = (name: string, value: string | null | undefined) =>
		[name, "String", value] as const;
	const draw = random.fraction();
	if (draw < 0.02) {
		const args = [int("first", size), int("last", random.chance(0.5) ? 1 : 0)];
		return { args: argumentList(draft, args), size: 0 };
	}
	if (draw < 0.04) {
		const name = random.pick(["first", "last"]);
		const invalid = int(name, random.pick(INVALID_SIZES));
		return {
			args: argumentList(draft, [invalid, text("after", after)]),
			size: 0,
		};
	}
	if (draw < 0.3) {
		if (most < DEFAULT_SIZE) return null;
		const unsized = [
			int("first", random.chance(0.2) ? null : undefined),
			int("last", random.chance(0.2) ? null : undefined),
			text("after", after),
			text("before", before),
		];
		return { args: argumentList(draft, unsized), size: DEFAULT_SIZE };
	}
	if (sizes.length === 0) return null;
	const [side, other] = random.shuffled(["first", "last"] as const);
	const sized = [
		int(side as string, size),
		int(other as string, random.chance(0.1) ? null : undefined),
		text("after", after),
		text("before", before),
	];
	return { args: argumentList(draft, sized), size };
}

/** Mostly absent, else a known cursor of this list, or of another list. */
function cursor(
	random: Random,
	samples: GraphSamples,
	connection: string,
	{ owner }: Position,
): string | null | undefined {
	const { cursors } = samples;
	const own = owner === null ? [] : cursors.of(`${connection} ${owner}`);
	if (own.length > 0 && random.chance(0.45)) return random.pick(own);
	if (random.chance(0.02)) {
		return random.pick(["", "garbage", "MTIz", "A".repeat(40)]);
	}
	if (random.chance(0.02) && cursors.lists.length > 0) {
		return random.pick(cursors.of(random.pick(cursors.lists)));
	}
	return random.chance(0.05) ? null : undefined;
}
