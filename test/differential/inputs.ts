import type { Id } from "../../src/id/ids.ts";
import type { JsonObject, JsonValue } from "../../src/util/json.ts";
import type { Random } from "../../src/util/random.ts";
import type { Draft } from "./draft.ts";
import type { GraphSamples } from "./graphSamples.ts";
import { randomId } from "./objects.ts";

type Fields = Readonly<Record<string, JsonValue | undefined>>;

/** Random values for the input of one mutation. */
interface RandomValues {
	readonly random: Random;
	/** Mostly an object that the viewer may change. */
	own(type: string): string;
	any(type: string): string;
	text(): JsonValue | undefined;
	required(): string;
	address(): JsonValue | undefined;
	image(): JsonValue | undefined;
	username(): string;
	email(): JsonValue | undefined;
	repeat(): JsonValue | undefined;
}

/** `(input: { pinId: "1" })`: valid for GraphQL, and mostly for the mutation's validators. */
export function mutationInput(
	draft: Draft,
	samples: GraphSamples,
	viewer: Id | null,
	mutation: string,
): string {
	const draw = INPUTS[mutation];
	if (draw === undefined) {
		throw new TypeError(`no input for mutation ${mutation}`);
	}
	const fields = draw(randomValues(draft.random, samples, viewer));
	const input: JsonObject = Object.fromEntries(
		Object.entries(fields).filter(
			(field): field is [string, JsonValue] => field[1] !== undefined,
		),
	);
	const type = `${mutation[0]?.toUpperCase()}${mutation.slice(1)}Input!`;
	return `(input: ${draft.value(type, input)})`;
}

const INPUTS: Readonly<Record<string, (draw: RandomValues) => Fields>> = {
	createUser: (draw) => ({
		username: draw.username(),
		name: draw.text(),
		email: draw.email(),
		bio: draw.text(),
		website: draw.address(),
		avatar: draw.image(),
		idempotencyKey: draw.repeat(),
	}),
	updateUser: (draw) => ({
		username: draw.random.chance(0.3) ? draw.username() : undefined,
		name: draw.text(),
		email: draw.email(),
		bio: draw.text(),
		website: draw.address(),
		avatar: draw.image(),
	}),
	followUser: (draw) => ({ userId: draw.any("User") }),
	unfollowUser: (draw) => ({ userId: draw.any("User") }),
	blockUser: (draw) => ({ userId: draw.any("User") }),
	unblockUser: (draw) => ({ userId: draw.any("User") }),
	deactivateUser: (draw) => ({ userId: draw.any("User") }),
	createBoard: (draw) => ({
		name: draw.required(),
		description: draw.text(),
		cover: draw.image(),
		secret: flag(draw),
		idempotencyKey: draw.repeat(),
	}),
	updateBoard: (draw) => ({
		boardId: draw.own("Board"),
		name: draw.text(),
		description: draw.text(),
		cover: draw.image(),
		secret: flag(draw),
	}),
	moveBoard: (draw) => ({
		boardId: draw.own("Board"),
		...(draw.random.chance(0.7)
			? {
					[draw.random.pick(["beforeBoardId", "afterBoardId"])]:
						draw.own("Board"),
				}
			: {}),
	}),
	deleteBoard: (draw) => ({ boardId: draw.own("Board") }),
	followBoard: (draw) => ({ boardId: draw.any("Board") }),
	unfollowBoard: (draw) => ({ boardId: draw.any("Board") }),
	addCollaborator: (draw) => ({
		boardId: draw.own("Board"),
		userId: draw.any("User"),
	}),
	removeCollaborator: (draw) => ({
		boardId: draw.any("Board"),
		userId: draw.any("User"),
	}),
	createSection: (draw) => ({
		boardId: draw.own("Board"),
		name: draw.required(),
		idempotencyKey: draw.repeat(),
	}),
	updateSection: (draw) => ({
		sectionId: draw.own("Section"),
		name: draw.random.chance(0.3) ? undefined : draw.required(),
	}),
	moveSection: (draw) => ({
		sectionId: draw.own("Section"),
		...(draw.random.chance(0.7)
			? {
					[draw.random.pick(["beforeSectionId", "afterSectionId"])]:
						draw.own("Section"),
				}
			: {}),
	}),
	deleteSection: (draw) => ({ sectionId: draw.own("Section") }),
	createPin: (draw) => ({
		boardId: draw.own("Board"),
		sectionId: section(draw),
		title: draw.text(),
		details: draw.text(),
		link: draw.address(),
		image: draw.image(),
		interests: slugs(draw),
		idempotencyKey: draw.repeat(),
	}),
	repin: (draw) => ({
		pinId: draw.any("Pin"),
		boardId: draw.own("Board"),
		sectionId: section(draw),
		title: draw.text(),
		details: draw.text(),
		idempotencyKey: draw.repeat(),
	}),
	updatePin: (draw) => ({
		pinId: draw.own("Pin"),
		title: draw.text(),
		details: draw.text(),
		link: draw.address(),
		image: draw.image(),
		interests: slugs(draw),
	}),
	movePin: (draw) => ({
		pinId: draw.own("Pin"),
		boardId: draw.random.chance(0.4) ? draw.own("Board") : undefined,
		sectionId: section(draw),
		...(draw.random.chance(0.5)
			? { [draw.random.pick(["beforePinId", "afterPinId"])]: draw.own("Pin") }
			: draw.random.chance(0.1)
				? { beforePinId: draw.own("Pin"), afterPinId: draw.own("Pin") }
				: {}),
	}),
	movePins: (draw) => ({
		pinIds: several(draw, () => draw.own("Pin")),
		boardId: draw.random.chance(0.4) ? draw.own("Board") : undefined,
		sectionId: section(draw),
	}),
	deletePin: (draw) => ({ pinId: draw.own("Pin") }),
	deletePins: (draw) => ({ pinIds: several(draw, () => draw.own("Pin")) }),
	likePin: (draw) => ({ pinId: draw.any("Pin") }),
	unlikePin: (draw) => ({ pinId: draw.any("Pin") }),
	refreshHomeFeed: (draw) => ({ userId: draw.any("User") }),
	hideFromHomeFeed: (draw) => ({ pinId: draw.any("Pin") }),
	followInterest: (draw) => ({ interestId: draw.any("Interest") }),
	unfollowInterest: (draw) => ({ interestId: draw.any("Interest") }),
	report: (draw) => ({
		subjectId: draw.any(draw.random.pick(["User", "Board", "Pin", "Comment"])),
		reason: draw.random.pick(["SPAM", "HATE", "OTHER"]),
		text: draw.text(),
	}),
	addComment: (draw) => ({
		pinId: draw.any("Pin"),
		text: draw.required(),
		idempotencyKey: draw.repeat(),
	}),
	updateComment: (draw) => ({
		commentId: draw.own("Comment"),
		text: draw.required(),
	}),
	deleteComment: (draw) => ({ commentId: draw.own("Comment") }),
};

function randomValues(
	random: Random,
	samples: GraphSamples,
	viewer: Id | null,
): RandomValues {
	const any = (type: string) => randomId(random, samples, type);
	return {
		random,
		any,
		own(type) {
			const own = viewer && samples.owned.get(viewer)?.get(type);
			return own && own.length > 0 && random.chance(0.85)
				? random.pick(own)
				: any(type);
		},
		text: () =>
			random.pick([undefined, undefined, null, "", " words ", "ünï 🎈 \u0000"]),
		required: () =>
			random.pick(["words", "more words", " ", "x".repeat(2_001)]),
		address: () =>
			random.pick([
				undefined,
				undefined,
				null,
				"https://example.com/made-up",
				"javascript:alert(1)",
			]),
		image: () =>
			random.pick<JsonValue | undefined>([
				undefined,
				null,
				{ url: "https://example.com/a.jpg", width: 3, alt: null },
				{ url: "", height: -1 },
			]),
		username: () =>
			random.chance(0.2)
				? random.pick(samples.usernames)
				: random.pick(["made_up", "Made_Up", "no", "made_too", "made up"]),
		email: () =>
			random.pick([undefined, undefined, null, "made@example.com", "nonsense"]),
		repeat: () =>
			random.pick([undefined, undefined, null, "once", "twice", ""]),
	};
}

/** None is refused. */
function several({ random }: RandomValues, draw: () => string): string[] {
	return Array.from({ length: random.integer(0, 3) }, draw);
}

function flag({ random }: RandomValues): JsonValue | undefined {
	return random.pick([undefined, null, true, false]);
}

function slugs({ random }: RandomValues): JsonValue | undefined {
	return random.pick<JsonValue | undefined>([
		undefined,
		null,
		["baking", "made-up", "baking"],
		["new-one", "new-two"],
		["Not A Slug"],
	]);
}

function section({ random, own }: RandomValues): JsonValue | undefined {
	return random.chance(0.3) ? own("Section") : random.pick([undefined, null]);
}
