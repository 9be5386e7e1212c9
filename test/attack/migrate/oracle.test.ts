import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { runHere } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import type { OldRow } from "./oldApplication.ts";
import { type BadRow, judge } from "./oracle.ts";

type Tables = Readonly<Record<string, readonly OldRow[]>>;

const USER = {
	...{ bio: null, email: "", created_at: "2019-07-01 12:00:00" },
	updated_at: null,
};
const PIN = {
	...{ caption: "", source_url: null, copied_from: null, deleted_at: null },
	created_at: "2020-01-01 00:00:00",
};

/** As the lines below say. */
const OLD: Tables = {
	users: [
		{ ...USER, id: 1, login: "ada", full_name: "Ada" },
		{ ...USER, id: 2, login: "bob", full_name: "Bob" },
	],
	boards: [{ id: 1, user_id: 1, title: "Machines", deleted_at: null }],
	pins: [{ ...PIN, id: 1, board_id: 1 }],
	likes: [
		{
			...{ id: 1, user_id: 2, likeable_type: "Pin", likeable_id: 1 },
			created_at: "2021-01-01 00:00:00",
		},
	],
	follows: [],
};

const LINES = [
	...["ada", "bob"].map((username, nth) => ({
		...{ type: "User", key: `User:${nth + 1}` },
		fields: {
			username,
			name: username === "ada" ? "Ada" : "Bob",
			createdAt: "2019-07-01T10:00:00.000Z",
		},
	})),
	{
		...{ type: "Board", key: "Board:1" },
		fields: { name: "Machines", owner: "User:1" },
	},
	{
		...{ type: "Pin", key: "Pin:1" },
		fields: { board: "Board:1", createdAt: "2020-01-01T00:00:00.000Z" },
	},
	{
		...{ edge: "likePin", from: "User:2", to: "Pin:1" },
		at: "2021-01-01T00:00:00.000Z",
	},
];

describe("the oracle of migrations", () => {
	let folder: ReturnType<typeof temporaryFolder>;
	let env: { readonly CORKBOARD_DATA: string };

	before(async () => {
		folder = temporaryFolder();
		env = { CORKBOARD_DATA: folder.path };
		const input = LINES.map((line) => JSON.stringify(line)).join("\n");
		const { code, err } = await runHere(["import", "-"], { env, input });
		assert.equal(code, 0, err);
	});
	after(() => folder[Symbol.dispose]());

	/** What it finds if the old database is this one. */
	async function findings(tables: Tables, bad: readonly BadRow[] = []) {
		const old = { rows: async (table: string) => tables[table] ?? [] };
		return (await judge(old, env, bad, () => false)).findings;
	}

	it("finds nothing where both sides are the same", async () => {
		assert.deepEqual(await findings(OLD), []);
	});

	it("finds what is lost, what is too much, and what is another", async () => {
		const [ada = {}, bob = {}] = OLD.users ?? [];
		const [like = {}] = OLD.likes ?? [];
		const cases: readonly (readonly [Tables, RegExp])[] = [
			[
				{ users: [ada, bob, { ...bob, id: 3, login: "cyd" }] },
				/^User:3 is missing$/,
			],
			[{ users: [ada] }, /^User:2 is here and not there$/],
			[
				{ users: [ada, { ...bob, full_name: "Rob" }] },
				/^User:2\.name: Rob there, Bob here$/,
			],
			[
				{ users: [ada, { ...bob, created_at: "2019-07-01 10:00:00" }] },
				/^User:2\.createdAt: .*10:00:00 there, .*12:00:00 here$/,
			],
			[{ likes: [] }, /^likePin User:2 Pin:1 is here and not there$/],
			[
				{ likes: [like, { ...like, user_id: 1 }] },
				/^likePin User:1 Pin:1 is missing$/,
			],
			[
				{ likes: [{ ...like, created_at: "2021-01-01 00:00:01" }] },
				/^likePin User:2 Pin:1: at \d+ there, \d+ here$/,
			],
		];
		for (const [tables, sentence] of cases) {
			const found = await findings({ ...OLD, ...tables });
			assert.equal(found.length, 1, found.join("\n"));
			assert.match(found[0] ?? "", sentence);
		}
	});

	it("finds a refusal that is not true", async () => {
		const refusal = (missing: string) => ({
			key: "Pin:2",
			reason: `origin: no row of the mapping has the key "${missing}".`,
		});
		assert.deepEqual(await findings(OLD, [refusal("Pin:9")]), []);
		const [found = ""] = await findings(OLD, [refusal("Pin:1")]);
		assert.match(found, /^refused for no reason: Pin:2/);
	});
});
