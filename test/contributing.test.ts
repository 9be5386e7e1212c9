import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { parse } from "graphql";
import pinsApp from "../pins/app.ts";
import { createDomain } from "../src/app/readApp.ts";
import { View } from "../src/graph/read/view.ts";
import { Store } from "../src/graph/store/store.ts";
import { createWrites } from "../src/graph/write/createWrites.ts";
import type { RequestContext } from "../src/graphql/context.ts";
import { applyScalars } from "../src/graphql/scalars.ts";
import { createCursorCodec } from "../src/id/cursorCodec.ts";
import { readModel } from "../src/model/read.ts";
import { createPlanner } from "../src/plan/planner.ts";
import { edgeMutation } from "../src/resolvers/edgeMutation.ts";
import { openSqliteStorage } from "../src/storage/sqlite/sqliteStorage.ts";
import { embeddedTopology } from "../src/topology/parseTopology.ts";
import { theModel } from "./helpers/model.ts";
import { resolvers } from "./helpers/resolvers.ts";

const ROOT = join(import.meta.dirname, "..");

/** The SDL with the block of CONTRIBUTING.md, and with the mutation, input and payload that it describes. */
function archivingSdl(): { path: string; text: string }[] {
	const shown = /```graphql\n([\s\S]*?)```/.exec(
		readFileSync(join(ROOT, "CONTRIBUTING.md"), "utf8"),
	)?.[1];
	assert.ok(shown, "CONTRIBUTING.md shows no SDL");
	const schema = join(ROOT, "schema");
	const files = readdirSync(schema)
		.filter((name) => name.endsWith(".graphql"))
		.map((name) => ({
			path: join(schema, name),
			text: readFileSync(join(schema, name), "utf8"),
		}));
	return [
		...files.map(({ path, text }) =>
			path.endsWith("user.graphql")
				? { path, text: text.replace(/(type User [^{]*\{)/, `$1\n${shown}`) }
				: { path, text },
		),
		{
			path: "archive.graphql",
			text: `extend type Mutation { archivePin(input: ArchivePinInput!): ArchivePinPayload }
				input ArchivePinInput { pinId: ID! }
				type ArchivePinPayload { pin: Pin }`,
		},
	];
}

it("a new mapping takes one SDL field and one mutation, as CONTRIBUTING.md says", async () => {
	const folder = mkdtempSync(join(tmpdir(), "corkboard-contributing-"));
	const topology = embeddedTopology(folder, 2);
	try {
		// The folder exists before the new table does.
		{
			await using before = await openSqliteStorage({
				model: theModel().model,
				topology,
			});
			await before.admin.createTables();
		}
		const all = new Map(resolvers).set(
			"Mutation.archivePin",
			edgeMutation({
				name: "archivePin",
				mapping: "archivePin",
				to: "Pin",
				present: true,
			}),
		);
		const { model, schema } = readModel(archivingSdl(), {
			resolverFields: new Set(all.keys()),
		});
		applyScalars(schema);
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
			resolvers: all,
			maxCost: 60_000,
			maxPlans: 10,
			visibility: domain.visibility,
		});
		const writes = createWrites(store);
		const user = await writes.create({
			type: "User",
			data: { username: "archivist" },
		});
		const board = await writes.create({
			type: "Board",
			data: { name: "board", user_id: user },
		});
		const pin = await writes.create({
			type: "Pin",
			data: { details: "old map", board_id: board, user_id: user },
		});
		const graph = new View(store, user);
		const answer = await planner.execute({
			document: parse(`mutation {
				archivePin(input: { pinId: "${pin}" }) {
					pin { owner { archived { totalCount edges { node { details } } } } }
				}
			}`),
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
		assert.equal(answer.errors, undefined);
		const { archivePin } = JSON.parse(JSON.stringify(answer.data));
		const { archived } = archivePin.pin.owner;
		assert.equal(archived.totalCount, 1);
		assert.equal(archived.edges[0].node.details, "old map");
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});
