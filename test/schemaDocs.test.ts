import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
	cpSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { parse } from "graphql";
import pinsApp from "../pins/app.ts";
import { createDomain } from "../src/app/readApp.ts";
import { View } from "../src/graph/read/view.ts";
import {
	createVisibility,
	type VisibilityPolicy,
} from "../src/graph/read/visibilityPolicy.ts";
import { Store } from "../src/graph/store/store.ts";
import { createWrites } from "../src/graph/write/createWrites.ts";
import {
	createPlacement,
	type PlacementPolicy,
} from "../src/graph/write/placement.ts";
import type { RequestContext } from "../src/graphql/context.ts";
import { applyScalars } from "../src/graphql/scalars.ts";
import { createCursorCodec } from "../src/id/cursorCodec.ts";
import { checkFieldPolicies } from "../src/model/fieldReaders.ts";
import { type ModelAndSchema, readModel } from "../src/model/read.ts";
import {
	RESERVED_KEYS,
	RESERVED_LOOKUPS,
	RESERVED_TABLES,
} from "../src/model/reservedNames.ts";
import type { SdlFile } from "../src/model/sdl.ts";
import { text } from "../src/model/validation.ts";
import type { Resolvers } from "../src/plan/batchResolver.ts";
import { createPlanner } from "../src/plan/planner.ts";
import { declaredMutations } from "../src/resolvers/declaredMutations.ts";
import { openSqliteStorage } from "../src/storage/sqlite/sqliteStorage.ts";
import { embeddedTopology } from "../src/topology/parseTopology.ts";
import { theModel } from "./helpers/model.ts";
import { resolvers } from "./helpers/resolvers.ts";
import { COPIES, type Copies, update } from "./update.ts";

const ROOT = join(import.meta.dirname, "..");
const RESOLVERS = join(ROOT, "pins/resolvers");
const page = readFileSync(join(ROOT, "docs/how-to/schema.md"), "utf8");

function blocks(language: string): string[] {
	const fence = new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm");
	return [...page.matchAll(fence)].map(([, text]) => text as string);
}

const EXAMPLE = join(ROOT, "examples/schema");

/** The SDL files, and that of the example. */
function sdl(change: (text: string) => string = (text) => text): SdlFile[] {
	const schema = join(ROOT, "schema");
	return [
		...readdirSync(schema)
			.filter((name) => name.endsWith(".graphql"))
			.map((name) => ({
				path: join(schema, name),
				text: readFileSync(join(schema, name), "utf8"),
			})),
		{
			path: "sticker.graphql",
			text: change(
				readFileSync(join(EXAMPLE, "schema/sticker.graphql"), "utf8"),
			),
		},
	];
}

describe("docs/how-to/schema.md", () => {
	let folder: string;
	/** The example's resolvers as a temporary file, with absolute imports. */
	let file: string;
	let all: Resolvers<RequestContext>;
	before(async () => {
		folder = mkdtempSync(join(tmpdir(), "corkboard-schema-docs-"));
		// What lies above the temporary folder must not decide what kind of module this is.
		writeFileSync(join(folder, "package.json"), '{"type": "module"}');
		// As npm links a package in a folder.
		mkdirSync(join(folder, "node_modules"));
		symlinkSync(ROOT, join(folder, "node_modules/corkboard"));
		file = join(folder, "stickers.ts");
		const code = readFileSync(
			join(EXAMPLE, "pins/resolvers/stickers.ts"),
			"utf8",
		);
		writeFileSync(
			file,
			code.replaceAll(
				/ from "(\.[^"]+)"/g,
				(_, path) => ` from "${join(RESOLVERS, path)}"`,
			),
		);
		const { stickerResolvers } = await import(pathToFileURL(file).href);
		all = new Map([...resolvers, ...stickerResolvers]);
	});
	after(() => rmSync(folder, { recursive: true, force: true }));

	const read = (change?: (text: string) => string): ModelAndSchema =>
		readModel(sdl(change), { resolverFields: new Set(all.keys()) });

	it("has resolvers that pass the type check", async () => {
		const config = join(folder, "tsconfig.json");
		writeFileSync(
			config,
			JSON.stringify({
				extends: join(ROOT, "tsconfig.json"),
				compilerOptions: { typeRoots: [join(ROOT, "node_modules/@types")] },
				include: [],
				files: [file],
			}),
		);
		await promisify(execFile)(join(ROOT, "node_modules/.bin/tsc"), [
			"-p",
			config,
		]);
	});

	it("names all directives, and nothing of theirs that is not in schema/", () => {
		const [, table] = /^## The directives$([\s\S]*?)^They/m.exec(page) ?? [];
		const defined = readFileSync(
			join(ROOT, "src/model/directives.graphql"),
			"utf8",
		);
		const rows = [
			...(table ?? "").matchAll(/^\| `@(\w+)\(([^)]*)\)` \|.*\| `(.*)` \|$/gm),
		];
		assert.deepEqual(
			rows.map(([, name]) => name).toSorted(),
			[...defined.matchAll(/^directive @(\w+)/gm)].map(([, n]) => n).toSorted(),
		);
		const schema = sdl()
			.map(({ text }) => text)
			.join("\n")
			.replaceAll(/"[^"\n]*"\n/g, "")
			.replaceAll(/\s+/g, "");
		for (const [, name = "", parameters = "", example = ""] of rows) {
			for (const [, parameter] of parameters.matchAll(/(\w+):/g)) {
				assert.match(
					defined.replaceAll(/\s+/g, " "),
					new RegExp(`@${name}\\([^)]*\\b${parameter}:`),
				);
			}
			const storage = example
				.slice(example.indexOf("@"))
				.replaceAll(/\s+/g, "");
			assert.ok(
				schema.replaceAll(",", "").includes(storage.replaceAll(",", "")),
				example,
			);
		}
	});

	it("shows entries that the visibility and placement policies take", () => {
		const { model } = read();
		const entries = [...page.matchAll(/`Sticker: \{ (\w+): "(\w+)" \}`/g)];
		const [visibility, placement] = entries.map(([, key, field]) => ({
			Sticker: { [String(key)]: field },
		}));
		assert.deepEqual(
			createVisibility(model, {
				types: {
					...(pinsApp.policies.visibility as VisibilityPolicy).types,
					...visibility,
				},
				privateLists: [],
			}).dependenciesOf("Sticker"),
			[{ field: "board", objects: 2 }],
		);
		assert.equal(
			createPlacement(model, {
				...placement,
			} as unknown as PlacementPolicy).colocateWith("Sticker")?.field,
			"board",
		);
	});

	it("shows an entry that the field policies take", () => {
		const [, field = "", max] =
			/`(\w+): \{ validate: text\((\d+)\) \}`/.exec(page) ?? [];
		const { model } = read();
		checkFieldPolicies(model, {
			Board: { [field]: { validate: text(Number(max)) } },
		});
		assert.throws(
			() =>
				checkFieldPolicies(model, { Board: { shade: { validate: text(1) } } }),
			/The field policies name Board\.shade, which the schema does not store\./,
		);
	});

	it("names the reserved lookups, keys and tables", () => {
		const [reserved = ""] = /are reserved: [\s\S]*?\n\n/.exec(page) ?? [];
		const named = new Set(
			[...reserved.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
		);
		assert.deepEqual(
			[...named].toSorted(),
			[
				...new Set([
					...Object.values(RESERVED_LOOKUPS).filter(
						(name) => !name.includes(" "),
					),
					...RESERVED_KEYS,
					...RESERVED_TABLES,
				]),
			].toSorted(),
		);
	});

	it("says what npm run update says of it, and of a number that is changed later", () => {
		const copies = Object.fromEntries(
			Object.entries(COPIES).map(([name, path]: [string, string]) => {
				const copy = join(folder, basename(path));
				cpSync(path, copy);
				return [name, copy];
			}),
		) as unknown as Copies;
		const [added, refused] = blocks("text");
		assert.equal(`${update(read(), copies).lines.join("\n")}\n`, added);
		const changed = update(
			read((text) => text.replace("type: 20", "type: 21")),
			copies,
		);
		assert.equal(changed.written, false);
		assert.deepEqual(changed.lines.slice(1), [refused?.trimEnd()]);
	});

	it("adds a field, an edge, a type and a resolver that work where data is already", async () => {
		const { model, schema, mutations } = read();
		applyScalars(schema);
		mkdirSync(join(folder, "data"));
		const topology = embeddedTopology(join(folder, "data"), 2);
		{
			await using storage = await openSqliteStorage({
				model: theModel().model,
				topology,
			});
			await storage.admin.createTables();
		}
		const domain = createDomain(model, pinsApp);
		await using storage = await openSqliteStorage({ model, topology });
		await storage.admin.createTables();
		const store = new Store({
			model,
			domain,
			storage,
			cursors: createCursorCodec(Buffer.alloc(32)),
			cacheBytes: 1_000_000,
		});
		const planner = createPlanner<RequestContext>({
			schema,
			model,
			resolvers: new Map([
				...declaredMutations(mutations, "createdAt"),
				...all,
			]),
			maxCost: 60_000,
			maxPlans: 10,
			visibility: domain.visibility,
		});
		const writes = createWrites(store);
		const user = await writes.create({
			type: "User",
			data: { username: "sticky" },
		});
		const board = await writes.create({
			type: "Board",
			data: { name: "board", user_id: user },
		});
		const pin = (details: string) =>
			writes.create({
				type: "Pin",
				data: { details, board_id: board, user_id: user },
			});
		await pin("first");
		const newest = await pin("second");
		const ask = async (document: string) => {
			const graph = new View(store, user);
			const { data, errors } = await planner.execute({
				document: parse(document),
				context: {
					graph,
					fields: domain.fields,
					writes: (call) =>
						createWrites(store, (written) => graph.discardReads(written), call),
					viewer: user,
					signToken: async () => "",
					now: () => new Date(),
				},
			});
			return JSON.parse(JSON.stringify({ data, errors }));
		};

		const made = await ask(
			`mutation { createSticker(input: { boardId: "${board}", code: "Sun" }) { sticker {
				code board { color isMature stickers { totalCount nodes { code } } }
			} } }`,
		);
		assert.deepEqual(made, {
			data: {
				createSticker: {
					sticker: {
						code: "Sun",
						board: {
							color: "#ffffff",
							isMature: false,
							stickers: { totalCount: 1, nodes: [{ code: "Sun" }] },
						},
					},
				},
			},
		});
		const again = await ask(
			`mutation { createSticker(input: { boardId: "${board}", code: "SUN" }) { sticker { code } } }`,
		);
		assert.equal(again.errors[0].extensions.code, "CONFLICT");

		const archived = await ask(
			`mutation { archivePin(input: { pinId: "${newest}" }) { pin {
				archivedBy { nodes { latestPin { id } archived { totalCount nodes { details } } } }
			} } }`,
		);
		assert.deepEqual(archived, {
			data: {
				archivePin: {
					pin: {
						archivedBy: {
							nodes: [
								{
									latestPin: { id: newest },
									archived: { totalCount: 1, nodes: [{ details: "second" }] },
								},
							],
						},
					},
				},
			},
		});
	});
});
