import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type App, defineApp } from "../../src/app/defineApp.ts";
import { readApp } from "../../src/app/readApp.ts";
import { text } from "../../src/model/validation.ts";
import type { Right } from "../../src/resolvers/declaredMutations.ts";
import { requireVisible } from "../../src/resolvers/requireVisible.ts";
import { openTest, type TestGraph } from "../../src/testing/openTest.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const SDL = `
type Query { viewer: Cook }
type Cook implements Node @object(type: 1, table: "cooks") {
	id: ID!
	handle: String! @stored(default: "") @lookup(name: "handle")
	menus: [Menu] @mapping(name: "ownMenu", table: "cook_has_menus", inverse: "owner")
	servedAt: [Menu] @mapping(name: "serve.inverse", table: "cook_serves_menus", inverse: "waiters")
}
type Menu implements Node @object(type: 2, table: "menus") @mutations {
	id: ID!
	name: String! @stored(default: "")
	owner: Cook @reference(key: "cook_id")
	waiters: [Cook]
		@mapping(name: "serve", table: "menu_has_waiters", inverse: "servedAt", edges: "Waiter")
		@mutations(add: "addWaiter", remove: "removeWaiter")
	courses: [Course]
		@mapping(name: "haveCourse", table: "menu_has_courses", inverse: "menu", order: POSITION)
		@mutations(move: "moveCourse")
}
type Course implements Node @object(type: 3, table: "courses") @mutations(owner: "cook", in: "menu") {
	id: ID!
	title: String! @stored(default: "")
	cook: Cook @reference(key: "cook_id")
	menu: Menu @reference(key: "menu_id")
	goesWith: [Course]
		@mapping(name: "pair", table: "course_goes_with_courses", inverse: "suits")
		@mutations(add: "pairCourse", remove: "unpairCourse")
	suits: [Course]
		@mapping(name: "pair.inverse", table: "course_suits_courses", inverse: "goesWith")
}
`;

const LINES = [
	...["ada", "bo", "cy"].map((handle) => ({
		type: "Cook",
		key: handle,
		fields: { handle },
	})),
	{ type: "Menu", key: "lunch", fields: { name: "Lunch", owner: "ada" } },
	{ type: "Menu", key: "tea", fields: { name: "Tea", owner: "bo" } },
	...["soup", "cake", "bread"].map((title) => ({
		type: "Course",
		key: title,
		fields: {
			title,
			cook: title === "bread" ? "bo" : "ada",
			menu: title === "bread" ? "tea" : "lunch",
		},
	})),
];

interface Menu {
	readonly id: string;
	readonly courses: {
		readonly nodes: readonly { readonly id: string; readonly title: string }[];
	};
}

/** What a document answers, or the code and message of its first error. */
function asker(graph: TestGraph) {
	return async (document: string, as: string) => {
		const { data, errors } = await graph.query(document, { as });
		const [first] = errors ?? [];
		return first === undefined
			? data
			: `${first.extensions.code}: ${first.message}`;
	};
}

describe("mutations that are made of a list", () => {
	const folder = temporaryFolder();
	let graph: TestGraph;
	let ids: Readonly<Record<string, string>>;
	let ask: ReturnType<typeof asker>;

	function appOf(
		name: string,
		sdl: string,
		policies: App["policies"] = {},
	): App {
		const schema = join(folder.path, name);
		mkdirSync(schema);
		writeFileSync(join(schema, "a.graphql"), sdl);
		return defineApp({
			schema,
			resolvers: new Map(),
			policies: {
				fields: {
					Cook: { handle: { validate: text(20) } },
					Menu: { name: { validate: text(20) } },
					Course: { title: { validate: text(20) } },
				},
				visibility: {
					types: {
						Course: {
							decidedBy: ["title"],
							// A title that says so hides a course from all but its cook.
							isVisible: ({ data }, viewer) =>
								!String(data.title).startsWith("secret") ||
								data.cook_id === viewer,
						},
					},
					privateLists: [],
				},
				...policies,
			},
			identity: { type: "Cook", nameLookup: "handle" },
		});
	}

	before(async () => {
		graph = await openTest(appOf("whole", SDL), LINES);
		ask = asker(graph);
		const { storage, model } = graph.corkboard;
		const found: Record<string, string> = {};
		for (const shard of storage.map.shards) {
			for (const type of model.objects.keys()) {
				for await (const rows of storage.walk("objects", shard, type)) {
					for (const { id, data } of rows) {
						const { handle, name, title } = JSON.parse(data);
						found[handle ?? name ?? title] = id;
					}
				}
			}
		}
		ids = found;
	});
	after(async () => {
		await graph?.[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	it("change the list of another object for those who may update that object, and show both sides", async () => {
		const waiter = (name: string, cook: string, select: string) =>
			`mutation { ${name}(input: {menuId: "${ids.Lunch}", cookId: "${ids[cook]}"}) { ${select} } }`;
		const add = waiter(
			"addWaiter",
			"bo",
			"menu { name } cook { handle } waiterEdge { node { handle } } menuEdge { node { name } } viewer { handle }",
		);
		assert.equal(
			await ask(add, "bo"),
			"FORBIDDEN: Only its owner may change or delete this menu.",
		);
		assert.deepEqual(await ask(add, "ada"), {
			addWaiter: {
				menu: { name: "Lunch" },
				cook: { handle: "bo" },
				waiterEdge: { node: { handle: "bo" } },
				menuEdge: { node: { name: "Lunch" } },
				viewer: { handle: "ada" },
			},
		});
		const remove = waiter(
			"removeWaiter",
			"bo",
			"menu { waiters { totalCount } } cook { servedAt { totalCount } } removedCookId removedMenuId",
		);
		// Not even for the one at its end: who bans somebody keeps a list too.
		assert.equal(
			await ask(remove, "bo"),
			"FORBIDDEN: Only its owner may change or delete this menu.",
		);
		assert.deepEqual(await ask(remove, "ada"), {
			removeWaiter: {
				menu: { waiters: { totalCount: 0 } },
				cook: { servedAt: { totalCount: 0 } },
				removedCookId: ids.bo,
				removedMenuId: ids.Lunch,
			},
		});
		// A second time changes nothing; what is there and never was on it is no error.
		assert.notEqual(typeof (await ask(remove, "ada")), "string");
	});

	it("have two names where a list leads to objects of its own type", async () => {
		const pair = (name: string, one: string, other: string, select: string) =>
			`mutation { ${name}(input: {courseId: "${ids[one]}", otherCourseId: "${ids[other]}"}) { ${select} } }`;
		const add = pair(
			"pairCourse",
			"soup",
			"bread",
			"course { title } otherCourse { title } courseEdge { node { title } } otherCourseEdge { node { title } }",
		);
		assert.match(String(await ask(add, "bo")), /^FORBIDDEN/);
		assert.deepEqual(await ask(add, "ada"), {
			pairCourse: {
				course: { title: "soup" },
				otherCourse: { title: "bread" },
				courseEdge: { node: { title: "bread" } },
				otherCourseEdge: { node: { title: "soup" } },
			},
		});
		// What its cook hid since can be taken off.
		await ask(
			`mutation { updateCourse(input: {courseId: "${ids.bread}", title: "secret"}) { viewer { id } } }`,
			"bo",
		);
		assert.equal(await ask(add, "ada"), "NOT_FOUND: Course not found.");
		const remove = pair(
			"unpairCourse",
			"soup",
			"bread",
			"course { title } otherCourse { title } removedOtherCourseId removedCourseId",
		);
		assert.deepEqual(await ask(remove, "ada"), {
			unpairCourse: {
				course: { title: "soup" },
				otherCourse: null,
				removedOtherCourseId: ids.bread,
				removedCourseId: ids.soup,
			},
		});
		assert.equal(await ask(remove, "ada"), "NOT_FOUND: Course not found.");
	});

	it("move an object within the list of another one for those who may update that one", async () => {
		const move = (course: string, beside = "") =>
			`mutation { moveCourse(input: {courseId: "${ids[course]}"${beside}}) { course { title } menu { courses { nodes { title } } } courseEdge { node { title } } } }`;
		const moved = (course: string, titles: readonly string[]) => ({
			moveCourse: {
				course: { title: course },
				menu: { courses: { nodes: titles.map((title) => ({ title })) } },
				courseEdge: { node: { title: course } },
			},
		});
		assert.equal(
			await ask(move("soup"), "bo"),
			"FORBIDDEN: Only its owner may change or delete this menu.",
		);
		assert.deepEqual(
			await ask(move("soup"), "ada"),
			moved("soup", ["soup", "cake"]),
		);
		assert.deepEqual(
			await ask(move("soup", `, afterCourseId: "${ids.cake}"`), "ada"),
			moved("soup", ["cake", "soup"]),
		);
		const onTea = await ask(
			`mutation { createCourse(input: {menuId: "${ids.Tea}", title: "jam"}) { course { id } } }`,
			"ada",
		);
		const { id } = (onTea as { createCourse: { course: { id: string } } })
			.createCourse.course;
		assert.equal(
			await ask(move("soup", `, beforeCourseId: "${id}"`), "ada"),
			"BAD_USER_INPUT: moveCourse: beforeCourseId must be a course of the same menu.",
		);
	});

	it("ask the rights that the app has, in place of the owner's", async () => {
		const update: Right = {
			cost: 1,
			require: (context, given) => requireVisible(context, "Menu", given),
		};
		const app = appOf("rights", SDL, { rights: { Menu: { update } } });
		await using shared = await openTest(app, LINES);
		const askShared = asker(shared);
		const { viewer } = (await askShared(
			"{ viewer { id menus { nodes { id courses { nodes { id title } } } } } }",
			"ada",
		)) as { viewer: { id: string; menus: { nodes: readonly Menu[] } } };
		const [lunch] = viewer.menus.nodes;
		assert.ok(lunch);
		const added = await askShared(
			`mutation { addWaiter(input: {menuId: "${lunch.id}", cookId: "${viewer.id}"}) { cook { handle } } }`,
			"cy",
		);
		assert.deepEqual(added, { addWaiter: { cook: { handle: "ada" } } });
		const last = lunch.courses.nodes.at(-1);
		const moved = await askShared(
			`mutation { moveCourse(input: {courseId: "${last?.id}"}) { menu { courses(first: 1) { nodes { title } } } } }`,
			"cy",
		);
		assert.deepEqual(moved, {
			moveCourse: { menu: { courses: { nodes: [{ title: last?.title }] } } },
		});
	});

	it("never put an object on its own list", async () => {
		const self = (name: string) =>
			`mutation { ${name}(input: {courseId: "${ids.cake}", otherCourseId: "${ids.cake}"}) { course { title } } }`;
		assert.equal(
			await ask(self("pairCourse"), "ada"),
			"BAD_USER_INPUT: pairCourse: otherCourseId must be another course.",
		);
	});

	it("let nobody move an object within the viewer's own list but its owner, whom else the app lets move it within others", async () => {
		const move: Right = {
			cost: 1,
			require: (context, given) => requireVisible(context, "Menu", given),
		};
		const app = appOf(
			"own",
			SDL.replace(
				'inverse: "owner")',
				'inverse: "owner", order: POSITION) @mutations(move: "moveMenu")',
			),
			{ rights: { Menu: { move } } },
		);
		await using own = await openTest(app, LINES);
		const askOwn = asker(own);
		const { viewer } = (await askOwn(
			"{ viewer { menus { nodes { id } } } }",
			"ada",
		)) as { viewer: { menus: { nodes: readonly Menu[] } } };
		const moved = (as: string) =>
			askOwn(
				`mutation { moveMenu(input: {menuId: "${viewer.menus.nodes[0]?.id}"}) { viewer { handle } menuEdge { node { name } } } }`,
				as,
			);
		assert.equal(
			await moved("bo"),
			"FORBIDDEN: Only its owner may change or delete this menu.",
		);
		assert.deepEqual(await moved("ada"), {
			moveMenu: {
				viewer: { handle: "ada" },
				menuEdge: { node: { name: "Lunch" } },
			},
		});
	});

	it("are refused with file and line where they cannot be, or two have one name", () => {
		let at = 0;
		for (const [change, problem] of [
			[
				['handle")', 'handle") @mutations(add: "addHandle")'],
				/a\.graphql:5: Cook\.handle has @mutations, but no @mapping$/,
			],
			[
				['inverse: "owner")', 'inverse: "owner") @mutations(add: "addMenu")'],
				/a\.graphql:6: Cook\.menus follows Menu\.owner: what is on it changes with that, and not by add and remove$/,
			],
			[
				['inverse: "owner")', 'inverse: "owner") @mutations(move: "moveMenu")'],
				/a\.graphql:6: Cook\.menus is not ordered by POSITION, so nothing on it can be moved$/,
			],
			[
				['add: "addWaiter"', 'move: "moveWaiter"'],
				/a\.graphql:\d+: Menu\.waiters follows no @reference, so nothing on it can be moved$/,
			],
			[
				['add: "addWaiter"', 'add: "updateMenu"'],
				/a\.graphql:\d+: @mutations makes updateMenu twice: give one another name$/,
			],
			[
				['add: "addWaiter"', 'add: "add waiter"'],
				/a\.graphql:\d+: Menu\.waiters has @mutations\(add:\) with "add waiter", which is no name$/,
			],
			[
				['add: "addWaiter"', 'create: "addWaiter"'],
				/a\.graphql:\d+: Menu\.waiters has @mutations\(create:\), which is for a type$/,
			],
			[
				['(add: "addWaiter", remove: "removeWaiter")', ""],
				/a\.graphql:\d+: Menu\.waiters has @mutations without add, remove or move$/,
			],
			[
				['(owner: "cook"', '(add: "addCook"'],
				/a\.graphql:\d+: Course has @mutations\(add:\), which is for a list$/,
			],
			[
				[
					"viewer: Cook }",
					'viewer: Cook all: [Menu] @mapping(name: "all", table: "all_menus") @mutations(remove: "removeMenu") }',
				],
				/a\.graphql:2: Query\.all is a list of Query: it changes as objects are created and deleted, and not by add and remove$/,
			],
		] as const) {
			const sdl = SDL.replace(change[0], change[1]);
			assert.notEqual(sdl, SDL);
			assert.throws(() => readApp(appOf(`bad${at++}`, sdl)), {
				code: "BAD_MODEL",
				message: problem,
			});
		}
		const ownerless = SDL.replace('"menus") @mutations', '"menus")').replaceAll(
			/owner(?=: Cook|")/g,
			"boss",
		);
		assert.throws(() => readApp(appOf("ownerless", ownerless)), {
			code: "BAD_MODEL",
			message:
				"Nobody may use addWaiter, because Menu has no reference owner: name its owner with @mutations(owner:), or add policies.rights.Menu.update.",
		});
	});
});
