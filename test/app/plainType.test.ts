import assert from "node:assert/strict";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { findApp } from "../../src/app/findApp.ts";
import { findUserByName } from "../../src/app/findUser.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const RECIPES = join(import.meta.dirname, "../../examples/recipes");

/** Goes to the end of the SDL. */
const TYPE = `
"A note that a cook keeps."
type Memo implements Node @object(type: 9, table: "memos") @mutations {
	"The memo's id."
	id: ID!
	"What it says."
	text: String! @stored(default: "")
	"When it was written."
	createdAt: DateTime!
		@stored(key: "created_at", default: "1970-01-01T00:00:00.000Z")
	"The cook who keeps it."
	owner: Cook @reference(key: "cook_id")
}

extend type Cook {
	"The cook's memos, newest first."
	memos: [Memo]
		@mapping(name: "ownMemo", table: "cook_has_memos", inverse: "owner")
}
`;

/** Go into the policies of the app. */
const FIELDS = `Memo: { text: { validate: text(40) } },`;
const CREATED_AT = `createdAtField: "createdAt",`;

describe("a plain type with a list and its three mutations", () => {
	it("takes at most 25 lines, and is stored, listed, described, repeated safely and refused to others", async () => {
		const lines = [TYPE, FIELDS, CREATED_AT].join("\n").split("\n");
		assert.ok(lines.filter((line) => line !== "").length <= 25);

		using folder = temporaryFolder();
		const path = join(folder.path, "recipes");
		cpSync(RECIPES, path, { recursive: true });
		writeFileSync(join(folder.path, "package.json"), '{"type": "module"}');
		const sdl = join(path, "schema/recipes.graphql");
		writeFileSync(sdl, readFileSync(sdl, "utf8") + TYPE);
		const code = join(path, "app.ts");
		const before = readFileSync(code, "utf8");
		const after = before.replace(
			"\t\tfields: {\n",
			`\t\t${CREATED_AT}\n\t\tfields: {\n\t\t\t${FIELDS}\n`,
		);
		assert.notEqual(after, before);
		writeFileSync(code, after);

		const env = { CORKBOARD_APP: path, CORKBOARD_DATA: join(path, "data") };
		const locked = await runHere(["schema", "lock"], { env });
		assert.equal(locked.code, 0, locked.err);
		const imported = await runHere(["import", "-"], {
			env,
			input: [
				'{"type":"Cook","key":"a","fields":{"handle":"ada"}}',
				'{"type":"Cook","key":"b","fields":{"handle":"bo"}}',
			].join("\n"),
		});
		assert.equal(imported.code, 0, imported.err);
		const printed = await runHere(["schema", "print", "--public"], { env });
		assert.match(
			printed.out,
			/What it says\. At most 40 characters, not empty\./,
		);
		await using corkboard = await openCorkboard(
			await findApp(path),
			readConfig(env),
		);
		const [ada, bo] = [
			await findUserByName(corkboard, "ada"),
			await findUserByName(corkboard, "bo"),
		];
		const ask = async (document: string, viewer = ada) => {
			const { data, errors = [] } = await corkboard.query(document, { viewer });
			return errors[0]?.extensions.code ?? data;
		};
		const create = (text: string) =>
			ask(
				`mutation { createMemo(input: {text: "${text}", idempotencyKey: "k"}) {
					memo { id text createdAt } memoEdge { node { text } } viewer { memos { totalCount } }
				} }`,
			);
		const made = await create("Salt");
		const { memo } = (
			made as { createMemo: { memo: { id: string; createdAt: string } } }
		).createMemo;
		assert.ok(Date.parse(memo.createdAt) > 0);
		assert.deepEqual(made, {
			createMemo: {
				memo: { ...memo, text: "Salt" },
				memoEdge: { node: { text: "Salt" } },
				viewer: { memos: { totalCount: 1 } },
			},
		});
		assert.deepEqual(await create("Salt"), made);
		assert.equal(await create("Pepper"), "BAD_USER_INPUT");
		const update = `mutation { updateMemo(input: {memoId: "${memo.id}", text: "Sugar"}) { memo { text } } }`;
		const remove = `mutation { deleteMemo(input: {memoId: "${memo.id}"}) { deletedMemoId viewer { memos { totalCount } } } }`;
		assert.equal(await ask(update, bo), "FORBIDDEN");
		assert.equal(await ask(remove, bo), "FORBIDDEN");
		assert.deepEqual(await ask(update), {
			updateMemo: { memo: { text: "Sugar" } },
		});
		assert.deepEqual(await ask(remove), {
			deleteMemo: {
				deletedMemoId: memo.id,
				viewer: { memos: { totalCount: 0 } },
			},
		});
	});
});
