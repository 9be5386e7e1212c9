import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { parse } from "graphql";
import pinsApp from "../../pins/app.ts";
import { type Corkboard, openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import { importAll } from "../helpers/importing.ts";
import { absentId } from "../helpers/memoryGraph.ts";
import { resolvers } from "../helpers/resolvers.ts";
import { Resolving } from "../helpers/resolving.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const FIELDS = [
	["Pin.viewerLikes", "likePin"],
	["User.viewerFollows", "followUser"],
	["User.followsViewer", "followUser.inverse"],
	["Board.viewerFollows", "followBoard"],
	["Interest.viewerFollows", "followInterest"],
] as const;

describe("fields about the viewer", () => {
	for (const [field, mapping] of FIELDS) {
		it(`${field} reads the viewer's list ${mapping} once for all objects of a level`, async () => {
			const at = new Resolving();
			const [one, two, three] = [
				absentId(1),
				absentId(2),
				absentId(3),
			] as const;
			at.graph.addEdge(mapping, at.ada, two);
			assert.deepEqual(await at.ofObjects(field, [one, two, three, two]), [
				false,
				true,
				false,
				true,
			]);
			assert.deepEqual(at.graph.calls, [
				`contains ${mapping} ${at.ada} ${[one, two, three, two].join()}`,
			]);
		});

		it(`${field} is null for an anonymous viewer and reads nothing`, async () => {
			const at = new Resolving().as(null);
			assert.deepEqual(await at.ofObjects(field, [at.ada, at.ben]), [
				null,
				null,
			]);
			assert.deepEqual(at.graph.calls, []);
		});

		it(`${field} has an error only for the object whose host does not answer`, async () => {
			const at = new Resolving();
			const [lost, found] = [absentId(1), absentId(2)];
			at.graph.down.add(lost);
			const answers = (await at.ofObjects(field, [lost, found])) as unknown[];
			assert.ok(answers[0] instanceof CorkboardError);
			assert.equal(answers[0].code, "UNAVAILABLE");
			assert.equal(answers[1], false);
		});

		it(`${field} costs one edge for each object and depends on the viewer`, () => {
			assert.equal(resolvers.get(field)?.cost({}), 1);
			assert.equal(resolvers.get(field)?.dependsOnViewer, true);
		});
	}
});

describe("email", () => {
	const emails = (at: Resolving, ids: readonly Id[]) =>
		at.ofObjects("User.email", ids);

	it("email is null unless the viewer is the user", async () => {
		const at = new Resolving();
		const eve = at.graph.add("User", {
			username: "eve_made_up",
			email: "eve@example.com",
		});
		assert.deepEqual(await emails(at, [eve, at.ada]), [
			null,
			"ada@example.com",
		]);
		assert.deepEqual(await emails(at.as(null), [eve, at.ada]), [null, null]);
	});

	it("email is null for a user without one", async () => {
		const at = new Resolving();
		assert.deepEqual(await emails(at.as(at.ben), [at.ben]), [null]);
	});

	it("email costs nothing", () => {
		assert.equal(resolvers.get("User.email")?.cost({}), 0);
	});
});

describe("what the viewer has saved", () => {
	function setting() {
		const at = new Resolving();
		const theirs = at.board(at.ben);
		const pins = [at.pin(at.ben, theirs), at.pin(at.ben, theirs)] as const;
		const own = [at.board(at.ada), at.board(at.ada, { secret: true })] as const;
		const [pin] = pins;
		const save = (owner: Id, board: Id, day: number) =>
			at.pin(owner, board, {
				origin_id: pin,
				created_at: `2026-02-0${day}T00:00:00.000Z`,
			});
		return { at, pins, own, save };
	}

	for (const field of ["Pin.viewerHasSaved", "Pin.viewerSaves"]) {
		it(`${field} reads one list for all pins, and is null for an anonymous viewer`, async () => {
			const { at, pins } = setting();
			const answers = await at.ofObjects(field, pins);
			const none = field === "Pin.viewerSaves" ? { nodes: [] } : false;
			assert.deepEqual(answers, [none, none]);
			assert.deepEqual(at.graph.calls, [
				`groups savePin ${at.ada} ${pins.join()}`,
			]);
			at.as(null);
			assert.deepEqual(await at.ofObjects(field, pins), [null, null]);
			assert.deepEqual(at.graph.calls, []);
		});

		it(`${field} has an error only for the pin whose saves are not known`, async () => {
			const { at, pins } = setting();
			at.graph.down.add(pins[1]);
			const [one, other] = (await at.ofObjects(field, pins)) as unknown[];
			assert.ok(!(one instanceof CorkboardError));
			assert.ok(other instanceof CorkboardError);
			assert.equal(other.code, "UNAVAILABLE");
		});
	}

	it("is the viewer's own saves of that pin, the newest first", async () => {
		const { at, pins, own, save } = setting();
		const [older, newer] = [save(at.ada, own[0], 1), save(at.ada, own[1], 3)];
		save(at.ben, own[0], 2);
		assert.deepEqual(await at.ofObjects("Pin.viewerHasSaved", pins), [
			true,
			false,
		]);
		assert.deepEqual(await at.ofObjects("Pin.viewerSaves", pins), [
			{ nodes: [newer, older] },
			{ nodes: [] },
		]);
	});
});

/** With the mutation that each field speaks of, and a payload to select. */
const RIGHTS = [
	["Board", "viewerCanUpdate", "updateBoard", 'name: "x"', "board"],
	["Board", "viewerCanDelete", "deleteBoard", "", "deletedBoardId"],
	["Board", "viewerCanPin", "createPin", "", "pin"],
	["Section", "viewerCanUpdate", "updateSection", 'name: "x"', "section"],
	["Section", "viewerCanDelete", "deleteSection", "", "deletedSectionId"],
	["Pin", "viewerCanUpdate", "updatePin", 'details: "x"', "pin"],
	["Pin", "viewerCanDelete", "deletePin", "", "deletedPinId"],
	["Comment", "viewerCanUpdate", "updateComment", 'text: "x"', "comment"],
	["Comment", "viewerCanDelete", "deleteComment", "", "deletedCommentId"],
] as const;

type Fields = Readonly<Record<string, string | boolean | undefined>> & {
	readonly owner?: string | undefined;
	readonly board?: string | undefined;
	readonly pin?: string | undefined;
};

/** An object as it was imported; its references are import keys. */
interface Made {
	readonly type: string;
	readonly key: string;
	readonly fields: Fields;
}

describe("what a client is said that it may do", () => {
	const folder = temporaryFolder();
	let corkboard: Corkboard;
	const ids = new Map<string, Id>();

	before(async () => {
		corkboard = await openCorkboard(
			pinsApp,
			readConfig({ CORKBOARD_DATA: folder.path, CORKBOARD_DEMO: "off" }),
			"readWrite",
		);
		await corkboard.admin.createTables();
	});
	after(async () => {
		await corkboard[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	/** Open and secret boards of some users, shared with others, with pins and comments of everybody; one user blocks another one. */
	async function populate(world: number) {
		const key = (text: string) => `${world}:${text}`;
		const users = ["u0", "u1", "u2", "u3"].map(key);
		const [, second, , fourth] = users;
		const lines: object[] = users.map((user, n) => ({
			type: "User",
			key: user,
			fields: { username: `user_${n}_of_${world}` },
		}));
		const objects: Made[] = [];
		const add = (type: string, name: string, fields: Fields) => {
			lines.push({ type, key: key(name), fields });
			objects.push({ type, key: key(name), fields });
		};
		const at = (n: number) => users[n % users.length];
		for (let b = 0; b < 6; b++) {
			const fields = { owner: at(b), name: "b", secret: b % 2 === 1 };
			add("Board", `b${b}`, fields);
			const board = key(`b${b}`);
			lines.push({ edge: "collaborate", from: board, to: at(b + 1) });
			add("Section", `s${b}`, { board, name: "s" });
			for (let p = 0; p < 3; p++) {
				add("Pin", `p${b}.${p}`, { board, owner: at(b + p) });
				const pin = key(`p${b}.${p}`);
				add("Comment", `c${b}.${p}`, { pin, author: at(p + 3), text: "c" });
			}
		}
		lines.push({ edge: "blockUser", from: fourth, to: second });
		const { bad } = await importAll(corkboard, lines);
		assert.deepEqual(bad, []);
		const keys = [...users, ...objects.map((one) => one.key)];
		const rows = await corkboard.storage.read(
			"lookups",
			keys.map((key) => ({ name: "import", key })),
		);
		for (const [at, row] of rows.entries()) {
			assert.ok(row && !(row instanceof Error));
			ids.set(keys[at] as string, row.id);
		}
		return { users, objects };
	}

	const run = async (viewer: Id, text: string) =>
		(await corkboard.planner.execute({
			document: parse(text),
			context: corkboard.createContext(viewer),
		})) as {
			data?: Record<string, Record<string, unknown> | null> | null;
			errors?: readonly { extensions: { code?: unknown } }[];
		};

	/** Whether a user may remove an object that it does not see: by who owns it, and what it is on, as far as that is still there. */
	function mayRemoveHidden(
		{ type, fields }: Made,
		user: string,
		there: ReadonlyMap<string, Made>,
	): boolean {
		const ownerOf = (key: string | undefined) =>
			there.get(key ?? "")?.fields.owner;
		const pin = there.get(fields.pin ?? "");
		switch (type) {
			case "Pin":
				return [fields.owner, ownerOf(fields.board)].includes(user);
			case "Comment":
				return [
					fields.author,
					ownerOf(fields.pin),
					ownerOf(pin?.fields.board),
				].includes(user);
			default:
				return false;
		}
	}

	it("is what the mutation then does: random users and objects, as they come and go", async () => {
		const met = new Map<string, number>();
		let world = 0;
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.tuple(fc.nat(3), fc.nat(), fc.nat()), {
					minLength: 40,
					maxLength: 40,
				}),
				async (steps) => {
					world++;
					const { users, objects } = await populate(world);
					const there = new Map(objects.map((one) => [one.key, one]));
					for (const [user, object, right] of steps) {
						const viewer = ids.get(users[user] as string) as Id;
						const one = objects[object % objects.length] as Made;
						const { type, key } = one;
						const id = ids.get(key) as Id;
						const rights = RIGHTS.filter(([of]) => of === type);
						const [, field, mutation, more, select] = rights[
							right % rights.length
						] as (typeof RIGHTS)[number];
						const asked = await run(
							viewer,
							`{ node(id: "${id}") { ... on ${type} { ${field} } } }`,
						);
						assert.deepEqual(asked.errors ?? [], []);
						const node = asked.data?.node ?? null;
						const payload = /Id$/.test(select) ? select : `${select} { id }`;
						const done = await run(
							viewer,
							`mutation { ${mutation}(input: {${type.toLowerCase()}Id: "${id}" ${more}}) { ${payload} } }`,
						);
						const [error] = done.errors ?? [];
						const code = error?.extensions.code ?? "done";
						const isHiddenToRemove =
							node === null &&
							field === "viewerCanDelete" &&
							there.has(key) &&
							mayRemoveHidden(one, users[user] as string, there);
						const expected =
							node === null
								? isHiddenToRemove
									? "done"
									: "NOT_FOUND"
								: node[field]
									? "done"
									: "FORBIDDEN";
						assert.equal(code, expected, `${field} of ${type} ${key}`);
						if (code === "done" && field === "viewerCanDelete") {
							there.delete(key);
						}
						const what = isHiddenToRemove
							? `hidden ${type} ${code}`
							: `${type}.${field} ${code}`;
						met.set(what, (met.get(what) ?? 0) + 1);
					}
				},
			),
			{ numRuns: 24 },
		);
		for (const [type, field] of RIGHTS) {
			for (const code of ["done", "FORBIDDEN"]) {
				const what = `${type}.${field} ${code}`;
				assert.ok(met.has(what), `none ${what}`);
			}
		}
		assert.ok(met.has("hidden Pin done") && met.has("hidden Comment done"));
	});
});
