import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import {
	type GraphQLOutputType,
	getNamedType,
	isObjectType,
	parse,
} from "graphql";
import pinsApp from "../../pins/app.ts";
import { type Corkboard, openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Id } from "../../src/id/ids.ts";
import { importAll } from "../helpers/importing.ts";
import { theModel } from "../helpers/model.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const PAGE = join(import.meta.dirname, "../../docs/guarantees.md");
const { schema, model } = theModel();

/** The ids of one pair of people, by the names below. */
type Things = (name: string) => Id;
type Run = (
	viewer: Id | null,
	mutation: string,
	input: Readonly<Record<string, unknown>>,
) => Promise<Answer>;

interface Answer {
	readonly data?: Record<string, Record<string, unknown> | null> | null;
	readonly errors?: readonly {
		readonly message: string;
		readonly extensions: { readonly code?: unknown };
	}[];
}

/** What came between the viewer and the other, after both left things with each other. */
const RELATIONS: readonly (readonly [
	string,
	(run: Run, of: Things) => Promise<unknown>,
])[] = [
	["nothing between them", async () => {}],
	[
		"the other blocks the viewer",
		(run, of) => run(of("other"), "blockUser", { userId: of("viewer") }),
	],
	[
		"the viewer blocks the other",
		(run, of) => run(of("viewer"), "blockUser", { userId: of("other") }),
	],
	[
		"each blocks the other",
		async (run, of) => {
			await run(of("viewer"), "blockUser", { userId: of("other") });
			await run(of("other"), "blockUser", { userId: of("viewer") });
		},
	],
	[
		"the other's account is closed",
		(run, of) => run(of("other"), "deactivateUser", { userId: of("other") }),
	],
	[
		"boards are secret and shared no more",
		async (run, of) => {
			for (const [owner, user] of [
				["other", "viewer"],
				["viewer", "other"],
			] as const) {
				for (const board of [`${owner}'s board`, `${owner}'s shared board`]) {
					const boardId = of(board);
					await run(of(owner), "updateBoard", { boardId, secret: true });
				}
				const boardId = of(`${owner}'s shared board`);
				const ends = { boardId, userId: of(user) };
				await run(of(owner), "removeCollaborator", ends);
			}
		},
	],
];

/** What the viewer does to what: the thing, the mutation, and what its input has besides the id of the thing. */
type Action = readonly [
	what: string,
	thing: string,
	mutation: string,
	argument: string,
	more?: (of: Things) => Readonly<Record<string, unknown>>,
];

const ACTIONS: readonly Action[] = [
	...["followUser", "unfollowUser", "blockUser", "unblockUser"].map(
		(mutation) => ["the other's account", "other", mutation, "userId"] as const,
	),
	["the other's account", "other", "report", "subjectId", spam],
	["the other's account", "other", "deactivateUser", "userId"],
	["the other's account", "other", "refreshHomeFeed", "userId"],
	[
		"the other's account",
		"other",
		"addCollaborator",
		"userId",
		(of) => ({ boardId: of("viewer's board") }),
	],
	[
		"the other's account",
		"other",
		"removeCollaborator",
		"userId",
		(of) => ({ boardId: of("viewer's shared board") }),
	],
	...onBoard("the other's board", "other's board"),
	...onBoard(
		"the other's board that the viewer collaborates on",
		"other's shared board",
	),
	[
		"the other's board that the viewer collaborates on",
		"other's shared board",
		"removeCollaborator",
		"boardId",
		(of) => ({ userId: of("viewer") }),
	],
	...["updateSection", "moveSection", "deleteSection"].map(
		(mutation) =>
			[
				"a section of that board",
				"section",
				mutation,
				"sectionId",
				() => (mutation === "updateSection" ? { name: "x" } : {}),
			] as const,
	),
	...onPin("the other's pin", "other's pin"),
	...onPin("the viewer's pin on the other's board", "viewer's pin there"),
	...onPin("the other's pin on the viewer's board", "other's pin here"),
	...onComment("the viewer's comment on the other's pin", "viewer's comment"),
	...onComment("the other's comment on the viewer's pin", "other's comment"),
	...onComment("the other's comment on their own pin", "other's own comment"),
];

function spam() {
	return { reason: "SPAM" };
}

function onBoard(what: string, thing: string): readonly Action[] {
	return [
		[what, thing, "updateBoard", "boardId", () => ({ name: "x" })],
		[what, thing, "moveBoard", "boardId"],
		[what, thing, "deleteBoard", "boardId"],
		[what, thing, "followBoard", "boardId"],
		[what, thing, "unfollowBoard", "boardId"],
		[what, thing, "createPin", "boardId"],
		[what, thing, "createSection", "boardId", () => ({ name: "x" })],
		[what, thing, "report", "subjectId", spam],
	];
}

function onPin(what: string, thing: string): readonly Action[] {
	return [
		[what, thing, "updatePin", "pinId", () => ({ details: "x" })],
		[what, thing, "movePin", "pinId"],
		[what, thing, "deletePin", "pinId"],
		[what, thing, "likePin", "pinId"],
		[what, thing, "unlikePin", "pinId"],
		[what, thing, "addComment", "pinId", () => ({ text: "x" })],
		[
			what,
			thing,
			"repin",
			"pinId",
			(of) => ({ boardId: of("viewer's board") }),
		],
		[what, thing, "hideFromHomeFeed", "pinId"],
		[what, thing, "report", "subjectId", spam],
	];
}

function onComment(what: string, thing: string): readonly Action[] {
	return [
		[what, thing, "updateComment", "commentId", () => ({ text: "x" })],
		[what, thing, "deleteComment", "commentId"],
		[what, thing, "report", "subjectId", spam],
	];
}

/** When an action is done, among those of one pair of people. */
function stageOf([, , mutation]: Action): number {
	const stage = [
		/^(?:unlike|unfollow|deleteComment)/,
		/^deletePin/,
		/^deleteSection/,
		/^(?:deleteBoard|removeCollaborator)/,
		/^unblockUser/,
		/^blockUser/,
	].findIndex((pattern) => pattern.test(mutation));
	return stage + 1;
}

/** Mutations that name nothing of anybody else. */
const OF_NOBODY_ELSE = [
	"createUser",
	"updateUser",
	"createBoard",
	// By the rules of movePin and deletePin.
	"movePins",
	"deletePins",
	"followInterest",
	"unfollowInterest",
];

/** All that two people left with each other, as lines of an import. */
function linesOf(pair: string): readonly object[] {
	const key = (name: string) => `${pair}:${name}`;
	const object = (type: string, name: string, fields: object) => ({
		type,
		key: key(name),
		fields,
	});
	const edge = (name: string, from: string, to: string) => ({
		edge: name,
		from: key(from),
		to: key(to),
	});
	const board = (owner: string, name: string) =>
		object("Board", name, { owner: key(owner), name });
	const pin = (owner: string, on: string, name: string) =>
		object("Pin", name, { owner: key(owner), board: key(on), title: name });
	const comment = (author: string, on: string, name: string) =>
		object("Comment", name, { author: key(author), pin: key(on), text: name });
	const user = (name: string) =>
		object("User", name, { username: `${name}_${pair}` });
	return [
		...[user("viewer"), user("other"), user("third")],
		board("other", "other's board"),
		board("viewer", "viewer's board"),
		board("other", "other's shared board"),
		board("viewer", "viewer's shared board"),
		object("Section", "section", {
			board: key("other's shared board"),
			name: "section",
		}),
		pin("other", "other's board", "other's pin"),
		pin("viewer", "viewer's board", "viewer's pin"),
		pin("viewer", "other's shared board", "viewer's pin there"),
		pin("other", "viewer's shared board", "other's pin here"),
		comment("viewer", "other's pin", "viewer's comment"),
		comment("other", "viewer's pin", "other's comment"),
		comment("other", "other's pin", "other's own comment"),
		edge("followUser", "viewer", "other"),
		edge("followUser", "other", "viewer"),
		edge("followBoard", "viewer", "other's board"),
		edge("followBoard", "viewer", "other's shared board"),
		edge("likePin", "viewer", "other's pin"),
		edge("likePin", "viewer", "other's pin here"),
		edge("collaborate", "other's shared board", "viewer"),
		edge("collaborate", "viewer's shared board", "other"),
	];
}

/** All fields of a payload, and of the objects in it the ids. */
function selectionOf(type: GraphQLOutputType): string {
	const named = getNamedType(type);
	if (!isObjectType(named)) {
		return named.name === "Node" ? "{ id }" : "";
	}
	if (model.objects.has(named.name)) return "{ id }";
	const fields = Object.values(named.getFields()).map(
		(field) => `${field.name} ${selectionOf(field.type)}`,
	);
	return `{ ${fields.join(" ")} }`;
}

describe("what two people may do with what they left with each other", () => {
	const folder = temporaryFolder();
	let corkboard: Corkboard;
	const ids = new Map<string, Id>();
	const thingsOf =
		(pair: string): Things =>
		(name) => {
			const id = ids.get(`${pair}:${name}`);
			assert.ok(id, name);
			return id;
		};

	before(async () => {
		corkboard = await openCorkboard(
			pinsApp,
			readConfig({ CORKBOARD_DATA: folder.path, CORKBOARD_DEMO: "off" }),
			"readWrite",
		);
		await corkboard.admin.createTables();
		const lines = [
			"story",
			"lists",
			...RELATIONS.map((_, r) => `relation_${r}`),
		].flatMap(linesOf);
		const { bad } = await importAll(corkboard, lines);
		assert.deepEqual(bad, []);
		const keys = lines.flatMap((line) => ("key" in line ? [line.key] : []));
		const rows = await corkboard.storage.read(
			"lookups",
			keys.map((key) => ({ name: "import", key: String(key) })),
		);
		for (const [at, row] of rows.entries()) {
			assert.ok(row && !(row instanceof Error));
			ids.set(String(keys[at]), row.id);
		}
	});
	after(async () => {
		await corkboard[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	const ask = async (viewer: Id | null, text: string, variables: object = {}) =>
		(await corkboard.planner.execute({
			document: parse(text),
			variables: { ...variables },
			context: corkboard.createContext(viewer),
		})) as Answer;

	const run: Run = (viewer, mutation, input) => {
		const field = schema.getMutationType()?.getFields()[mutation];
		assert.ok(field, mutation);
		const type = String(field.args[0]?.type);
		return ask(
			viewer,
			`mutation ($input: ${type}) { ${mutation}(input: $input) ${selectionOf(field.type)} }`,
			{ input },
		);
	};

	/** The objects in a payload; those that it has by their ids alone are none. */
	function objectsIn(value: unknown): readonly string[] {
		if (typeof value !== "object" || value === null) return [];
		const { id } = value as { id?: unknown };
		return [
			...(typeof id === "string" ? [id] : []),
			...Object.values(value).flatMap(objectsIn),
		];
	}

	async function outcome(of: Things, action: Action): Promise<string> {
		const [, thing, mutation, argument, more = () => ({})] = action;
		const viewer = of("viewer");
		const { data, errors = [] } = await run(viewer, mutation, {
			[argument]: of(thing),
			...more(of),
		});
		const seen = objectsIn(data);
		if (seen.length > 0) {
			const query = "query ($ids: [ID!]!) { nodes(ids: $ids) { id } }";
			const { data: visible } = await ask(viewer, query, { ids: seen });
			assert.deepEqual(
				objectsIn(visible),
				seen,
				`${mutation} showed what is hidden`,
			);
		}
		const code = String(errors[0]?.extensions.code ?? "done");
		const word = {
			done: "done",
			FORBIDDEN: "forbidden",
			NOT_FOUND: "not found",
			// The embedded server of this test keeps no home feeds: it got as far as that.
			UNAVAILABLE: "done",
		}[code];
		assert.ok(word, `${mutation}: ${errors[0]?.message}`);
		return word;
	}

	it("is the table of docs/guarantees.md, for each mutation and each relation", async () => {
		const outcomes = new Map<Action, string[]>(
			ACTIONS.map((action) => [action, []]),
		);
		// Each removes nothing that a later one is about.
		const inOrder = ACTIONS.toSorted((a, b) => stageOf(a) - stageOf(b));
		for (const [r, [, comeBetween]] of RELATIONS.entries()) {
			const of = thingsOf(`relation_${r}`);
			await comeBetween(run, of);
			for (const action of inOrder) {
				outcomes.get(action)?.push(await outcome(of, action));
			}
		}
		const rows: { what: string; cells: string; mutations: string[] }[] = [];
		for (const [[what, , mutation], found] of outcomes) {
			const cells = found.join(" | ");
			const same = rows.find((row) => row.what === what && row.cells === cells);
			if (same) same.mutations.push(mutation);
			else rows.push({ what, cells, mutations: [mutation] });
		}
		const header = ["what", "mutation", ...RELATIONS.map(([name]) => name)];
		const table = [
			`| ${header.join(" | ")} |`,
			`|${header.map(() => "---").join("|")}|`,
			...rows.map(
				({ what, cells, mutations }) =>
					`| ${what} | ${mutations.map((one) => `\`${one}\``).join(", ")} | ${cells} |`,
			),
		].join("\n");
		assert.ok(
			readFileSync(PAGE, "utf8").includes(`\n\n${table}\n\n`),
			`docs/guarantees.md "Between two people" must have this table:\n${table}`,
		);
	});

	it("has every mutation, but for those that concern nobody else", () => {
		const asked = new Set(ACTIONS.map(([, , mutation]) => mutation));
		assert.deepEqual(
			[...asked, ...OF_NOBODY_ELSE].toSorted(),
			Object.keys(schema.getMutationType()?.getFields() ?? {}).toSorted(),
		);
	});

	it("leaves nothing to the other that one takes back, and says its id alone", async () => {
		const of = thingsOf("story");
		const [viewer, third] = [of("viewer"), of("third")];
		await run(of("other"), "blockUser", { userId: viewer });
		const pinId = of("other's pin");
		const seenByThird = async () => {
			const { data } = await ask(
				third,
				"query ($pin: ID!, $user: ID!) { pin(id: $pin) { comments { nodes { id } } likedBy { nodes { id } } } user(by: {id: $user}) { followers { nodes { id } } } }",
				{ pin: pinId, user: of("other") },
			);
			return JSON.parse(JSON.stringify(data));
		};
		const own = of("other's own comment");
		assert.deepEqual(await seenByThird(), {
			pin: {
				comments: { nodes: [{ id: of("viewer's comment") }, { id: own }] },
				likedBy: { nodes: [{ id: viewer }] },
			},
			user: { followers: { nodes: [{ id: viewer }] } },
		});
		const taken = [
			await run(viewer, "deleteComment", { commentId: of("viewer's comment") }),
			await run(viewer, "unlikePin", { pinId }),
			await run(viewer, "unfollowUser", { userId: of("other") }),
			await run(viewer, "report", { subjectId: pinId, reason: "HARASSMENT" }),
			await run(viewer, "blockUser", { userId: of("other") }),
		];
		const self = { id: viewer };
		assert.deepEqual(
			taken.map(({ data }) => JSON.parse(JSON.stringify(data))),
			[
				{
					deleteComment: {
						deletedCommentId: of("viewer's comment"),
						pin: null,
						viewer: self,
					},
				},
				{ unlikePin: { pin: null, removedPinId: pinId, viewer: self } },
				{
					unfollowUser: {
						user: null,
						removedUserId: of("other"),
						viewer: self,
					},
				},
				{ report: { subject: null, subjectId: pinId } },
				{
					blockUser: {
						user: null,
						blockedUserId: of("other"),
						blockedUserEdge: null,
						viewer: self,
					},
				},
			],
		);
		assert.deepEqual(await seenByThird(), {
			pin: { comments: { nodes: [{ id: own }] }, likedBy: { nodes: [] } },
			user: { followers: { nodes: [] } },
		});
		// What was taken back is no longer one's own.
		for (const [mutation, input] of [
			["deleteComment", { commentId: of("viewer's comment") }],
			["unlikePin", { pinId }],
			["unfollowUser", { userId: of("other") }],
		] as const) {
			const { errors } = await run(viewer, mutation, input);
			assert.equal(errors?.[0]?.extensions.code, "NOT_FOUND", mutation);
		}
	});

	it("leaves a blocked person's follow and like in the lists that the blocker sees, and the blocker in none that the blocked one sees", async () => {
		const of = thingsOf("lists");
		const [viewer, other] = [of("viewer"), of("other")];
		await run(other, "blockUser", { userId: viewer });
		const lists = async (as: Id) => {
			const { data } = await ask(
				as,
				"query ($pin: ID!) { viewer { followers { nodes { id } } following { nodes { id } } } pin(id: $pin) { likedBy { nodes { id } } } }",
				{ pin: of("other's pin") },
			);
			return JSON.parse(JSON.stringify(data));
		};
		const nodes = (...found: Id[]) => ({
			nodes: found.map((id) => ({ id })),
		});
		assert.deepEqual(await lists(other), {
			viewer: { followers: nodes(viewer), following: nodes(viewer) },
			pin: { likedBy: nodes(viewer) },
		});
		assert.deepEqual(await lists(viewer), {
			viewer: { followers: nodes(), following: nodes() },
			pin: null,
		});
	});
});
