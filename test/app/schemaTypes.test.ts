import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { findApp } from "../../src/app/findApp.ts";
import { readApp } from "../../src/app/readApp.ts";
import { printSchemaTypes } from "../../src/model/schema/schemaTypes.ts";
import { APPS } from "../helpers/apps.ts";
import { command } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Each line is right but for one name, which the comment says. */
const WRONG = `
policy({ visibility: { types: { Cookbok: {} }, privateLists: [] } }); // Cookbok
policy({ visibility: { types: { Cookbook: { owner: "cook" } }, privateLists: [] } }); // cook
policy({ visibility: { types: { Cookbook: { decidedBy: ["hidden"] } }, privateLists: [] } }); // hidden
policy({ visibility: { types: { Cookbook: { isVisible: ({ data }) => data.secrt !== true } }, privateLists: [] } }); // secrt
policy({ visibility: { types: {}, privateLists: ["ownRecipes"] } }); // ownRecipes
policy({ placement: { Recipe: { colocateWith: "book" } } }); // book
policy({ fields: { Recipe: { name: { validate: text(9) } } } }); // name
policy({ fields: { Recipe: { title: { validate: boolean } } } }); // boolean
resolvers({ "Recipe.viewerFavours": viewerMembership("favoriteRecipe") }); // viewerFavours
viewerMembership("favouriteRecipe"); // favouriteRecipe
byIdOrKey("cook", "name"); // name
edgeMutations("favoriteRecipe", "removeRecipe", "Recipe"); // removeRecipe
newStoredJson(context, "Recipe", { titel: "Loaf" }); // titel
newStoredJson(context, "Recipe", { title: 7 }); // number
updatedStoredJson(model, "Cookbook", {}, { secret: "yes" }); // string
storedValue(model, recipe, "name"); // name
referenceOf(model, recipe, "owner"); // owner
recipe.data.titel; // titel
mappingOf(model, "starRecipe"); // starRecipe
const by: Schema["inputs"]["CookBy"] = { name: "ada" }; // name
`;

describe("the types of a schema", () => {
	it("are those of each app's SDL as it is", async () => {
		for (const folder of APPS) {
			const { app, model, schema } = readApp(await findApp(folder));
			assert.equal(
				readFileSync(join(app.schema, "types.d.ts"), "utf8"),
				printSchemaTypes({ model, schema }),
				`${folder}: run npm run update`,
			);
		}
	});

	it("let no name compile that the schema does not have, in policies, validators and resolvers", async () => {
		using folder = temporaryFolder();
		const lines = WRONG.trim().split("\n");
		const head = `import { boolean, forSchema, text, type MutationContext, type NodeOf } from "corkboard";
import type { Schema } from "${ROOT}/examples/recipes/schema/types.d.ts";
const { policy, resolvers, viewerMembership, byIdOrKey, edgeMutations, newStoredJson, updatedStoredJson, storedValue, referenceOf, mappingOf } = forSchema<Schema>();
declare const context: MutationContext;
declare const recipe: NodeOf<Schema, "Recipe">;
const { model } = context.graph;
export { by };
storedValue(model, recipe, "title");
policy({ fields: { Recipe: { title: { validate: text(9) } } } });
`;
		const before = head.split("\n").length - 1;
		writeFileSync(join(folder.path, "package.json"), '{"type": "module"}');
		writeFileSync(join(folder.path, "wrong.ts"), head + lines.join("\n"));
		writeFileSync(
			join(folder.path, "tsconfig.json"),
			JSON.stringify({
				extends: join(ROOT, "tsconfig.json"),
				compilerOptions: { typeRoots: [join(ROOT, "node_modules/@types")] },
				include: [],
				files: [join(folder.path, "wrong.ts")],
			}),
		);
		const said = await new Promise<string>((resolve) => {
			execFile(
				join(ROOT, "node_modules/.bin/tsc"),
				["--pretty", "false", "-p", folder.path],
				(_, stdout) => resolve(stdout),
			);
		});
		const errors = new Map(
			[
				...said.matchAll(/^.*wrong\.ts\((\d+),\d+\): error (.*(?:\n .*)*)/gm),
			].map(([, line, text = ""]) => [Number(line) - before, text] as const),
		);
		assert.deepEqual(
			[...errors.keys()].toSorted((a, b) => a - b),
			lines.map((_, at) => at + 1),
			said,
		);
		for (const [at, line] of lines.entries()) {
			const name = line.split("// ")[1] as string;
			assert.ok(
				errors.get(at + 1)?.includes(name),
				`${line}\n${errors.get(at + 1)}`,
			);
		}
	});

	it("are written by a command, which says with --check whether they are old", async () => {
		using folder = temporaryFolder();
		const recipes = join(ROOT, "examples/recipes");
		const sdl = readFileSync(join(recipes, "schema/recipes.graphql"), "utf8");
		const app = readFileSync(join(recipes, "app.ts"), "utf8");
		const file = join(folder.path, "types.d.ts");
		writeFileSync(join(folder.path, "package.json"), '{"type": "module"}');
		writeFileSync(join(folder.path, "recipes.graphql"), sdl);
		writeFileSync(
			join(folder.path, "app.ts"),
			app.replace('join(import.meta.dirname, "schema")', "import.meta.dirname"),
		);
		const run = (...args: string[]) =>
			command(["schema", "types", "--app", folder.path, ...args]);
		const asked = await run("--check");
		assert.deepEqual([asked.code, asked.err], [1, ""]);
		assert.match(asked.out, /is not of this schema\. Write it with/);
		assert.match((await run()).out, /types\.d\.ts is written\.$/m);
		assert.equal(
			readFileSync(file, "utf8"),
			readFileSync(join(recipes, "schema/types.d.ts"), "utf8"),
		);
		assert.equal((await run("--check")).code, 0);
		assert.match((await run()).out, /types\.d\.ts is up to date\.$/m);
		rmSync(file);
	});
});
