import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { DocumentNode } from "graphql";
import pinsApp from "../../../pins/app.ts";
import type { Corkboard } from "../../../src/app/openCorkboard.ts";
import { readApp } from "../../../src/app/readApp.ts";
import { readConfig } from "../../../src/config/config.ts";
import { applyScalars } from "../../../src/graphql/scalars.ts";
import { createPlanner } from "../../../src/plan/planner.ts";
import { openDocuments } from "../../../src/server/documents/openDocuments.ts";
import { resolvers } from "../../helpers/resolvers.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { sha256 } from "./serving.ts";

test("the documents a server knows are parsed, valid and planned when it opens them", async () => {
	using folder = temporaryFolder();
	const file = join(folder.path, "documents.json");
	const texts = {
		me: "{ viewer { id } }",
		all: "{ interests { totalCount } }",
	};
	writeFileSync(file, JSON.stringify(texts));
	const config = readConfig({
		CORKBOARD_DOCUMENTS: "strict",
		CORKBOARD_DOCUMENT_FILES: file,
	});
	const { model, schema, domain } = readApp(pinsApp);
	applyScalars(schema);
	const planner: Corkboard["planner"] = createPlanner({
		schema,
		model,
		resolvers,
		maxCost: config.maxCost,
		maxPlans: 1,
		visibility: domain.visibility,
	});
	const planned: DocumentNode[] = [];
	const prepare = (document: DocumentNode) => {
		planned.push(document);
		planner.prepare(document);
	};
	const note = () => {};
	const log = { info: note, warn: note, error: note };
	await using resources = new AsyncDisposableStack();
	const { documents } = await openDocuments(
		config,
		{ schema, planner: { ...planner, prepare }, redis: null },
		log,
		resources,
	);
	// The very ones that Apollo is given in place of parsing and validating.
	assert.deepEqual(
		await Promise.all(
			Object.values(texts).map((text) => documents.parsed.get(sha256(text))),
		),
		planned,
	);
	assert.equal(planned.length, 2);
});
