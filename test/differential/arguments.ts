import type { Random } from "../../src/demo/random.ts";
import type { JsonValue } from "../../src/util/json.ts";
import type { Draft, Place } from "./draft.ts";
import type { Surroundings } from "./surroundings.ts";

/** The most objects that may stand at one place. */
const MAX_MANY = 150;
const SIZES = [0, 1, 1, 2, 2, 3, 4, 7, 10, 25, 100];
const DEFAULT_SIZE = 20;
const WRONG_SIZES = [-1, -2_147_483_648, 101, 2_147_483_647];

/** `(first: 3, after: $v1)` for some of a field's arguments. Those that cannot be spelled are left out. */
export function argumentList(
	draft: Draft,
	args: readonly (readonly [
		name: string,
		type: string,
		value: JsonValue | undefined,
	])[],
): string {
	const spelled = args.flatMap(([name, type, value]) => {
		const text = draft.value(type, value);
		return text === null ? [] : [`${name}: ${text}`];
	});
	return spelled.length === 0
		? ""
		: `(${draft.random.shuffled(spelled).join(", ")})`;
}

/** The arguments of a connection, right and wrong ones, and the size of the page they ask for. Null if none is cheap enough. */
export function pageArguments(
	draft: Draft,
	around: Surroundings,
	connection: string,
	place: Place,
): { readonly args: string; readonly size: number } | null {
	const { random } = draft;
	const most = Math.min(MAX_MANY, draft.budget) / place.many;
	const sizes = SIZES.filter((size) => size <= most);
	const size = sizes.length === 0 ? 0 : random.pick(sizes);
	const after = cursor(random, around, connection, place);
	const before =
		after && random.chance(0.7)
			? undefined
			: cursor(random, around, connection, place);
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
		const wrong = int(name, random.pick(WRONG_SIZES));
		return {
			args: argumentList(draft, [wrong, text("after", after)]),
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

/** Mostly none; else one of this very list if the list is known, or of some other. */
function cursor(
	random: Random,
	around: Surroundings,
	connection: string,
	{ owner }: Place,
): string | null | undefined {
	const { cursors } = around;
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
