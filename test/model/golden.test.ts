import assert from "node:assert/strict";
import {
	cpSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { suite, type TestContext, test } from "node:test";
import { buildSchema, findBreakingChanges, parse, visit } from "graphql";
import pinsApp from "../../pins/app.ts";
import { readApp } from "../../src/app/readApp.ts";
import { printPublicSchema } from "../../src/model/publicSchema.ts";
import { printModel } from "../../src/model/schema/print.ts";
import { COPIES, type Copies, update } from "../update.ts";
import { readSmall } from "./smallModel.ts";

const own = readApp(pinsApp);

suite("golden files", () => {
	test("the printed model equals test/golden/model.txt (if not: npm run update)", () => {
		assert.equal(printModel(own.model), readFileSync(COPIES.model, "utf8"));
	});

	test("the public schema equals test/golden/public.graphql (if not: npm run update)", () => {
		assert.equal(
			printPublicSchema(own.schema),
			readFileSync(COPIES.publicSchema, "utf8"),
		);
	});
});

suite("the public schema", () => {
	test("breaks no client of test/golden/public.graphql", () => {
		const shipped = buildSchema(readFileSync(COPIES.publicSchema, "utf8"));
		const named = findBreakingChanges(shipped, own.schema).map(
			({ description }) => description,
		);
		assert.deepEqual(named, []);
	});

	test("has no storage directives and no types that only they use", () => {
		assert.doesNotMatch(
			printPublicSchema(own.schema),
			/@object|@mapping|@reference|@lookup|@stored|MappingOrder|LookupFold|StoredValue/,
		);
		assert.deepEqual(
			own.schema.getDirectives().map(({ name }) => name),
			[
				"semanticNonNull",
				"include",
				"skip",
				"deprecated",
				"specifiedBy",
				"oneOf",
			],
		);
		for (const name of ["MappingOrder", "LookupFold", "StoredValue"]) {
			assert.equal(own.schema.getType(name), undefined);
		}
		assert.deepEqual(own.schema.getType("Pin")?.astNode?.directives, []);
	});

	test("keeps a type of a storage directive that clients also use", () => {
		const { schema } = readSmall([
			["user(id: ID): User", "user(id: ID, fold: LookupFold): User"],
		]);
		assert.ok(schema.getType("LookupFold"));
		assert.equal(schema.getType("MappingOrder"), undefined);
	});

	test("describes every type, field, argument, input field and enum value", () => {
		assert.deepEqual(undescribed(printPublicSchema(own.schema)), []);
	});

	test("the check of descriptions names a field without one", () => {
		assert.deepEqual(
			undescribed(
				'"x" type Query { a(b: Int): E } enum E { "x" F G } input I { j: Int }',
			),
			["a", "b", "E", "G", "I", "j"],
		);
	});
});

function undescribed(sdl: string): string[] {
	const names: string[] = [];
	visit(parse(sdl), {
		enter(node) {
			if (!("name" in node) || node.kind === "NamedType") return;
			if (node.kind === "Directive" || node.kind === "Argument") return;
			const { description, name } = node as {
				description?: { value: string };
				name?: { value: string };
			};
			if (!description?.value) names.push(name?.value ?? node.kind);
		},
	});
	return names;
}

suite("npm run update", () => {
	test("changes nothing when the files are up to date", (t) => {
		const copies = copied(t);
		assert.deepEqual(update(own, copies), {
			written: true,
			lines: ["The lock and the golden files are up to date."],
		});
		for (const name of ["lock", "model", "publicSchema"] as const) {
			assert.equal(
				readFileSync(copies[name], "utf8"),
				readFileSync(COPIES[name], "utf8"),
			);
		}
	});

	test("writes additions, and names what breaks clients", (t) => {
		const copies = copied(t);
		const small = readSmall();
		writeFileSync(copies.lock, '{"types":{},"mappings":{},"lookups":{}}');
		writeFileSync(copies.publicSchema, "type Query { gone: Int }");
		const { written, lines } = update(small, copies);
		assert.equal(written, true);
		assert.deepEqual(lines, [
			"New in the lock: the type User.",
			"New in the lock: the type Pin.",
			"New in the lock: the mapping listPin.",
			"New in the lock: the mapping likePin.",
			"New in the lock: the mapping ownPin.",
			"New in the lock: the mapping likePin.inverse.",
			"New in the lock: the lookup username.",
			"New in the lock: the lookup email.",
			"Breaks clients: Query.gone was removed.",
			"The lock and the golden files are up to date.",
		]);
		assert.equal(readFileSync(copies.model, "utf8"), printModel(small.model));
		assert.equal(
			readFileSync(copies.publicSchema, "utf8"),
			printPublicSchema(small.schema),
		);
		assert.equal(update(small, copies).lines.length, 1);
	});

	test("writes nothing when the SDL breaks the lock", (t) => {
		const copies = copied(t);
		const { written, lines } = update(
			readSmall([["type: 3", "type: 8"]]),
			copies,
		);
		assert.equal(written, false);
		assert.ok(lines.includes("the number of the type User must stay 3, got 8"));
		for (const name of ["lock", "model", "publicSchema"] as const) {
			assert.equal(
				readFileSync(copies[name], "utf8"),
				readFileSync(COPIES[name], "utf8"),
			);
		}
	});
});

function copied(t: TestContext): Copies {
	const folder = mkdtempSync(join(tmpdir(), "corkboard-update-"));
	t.after(() => rmSync(folder, { recursive: true }));
	const place = (path: string) => {
		const copy = join(folder, basename(path));
		cpSync(path, copy);
		return copy;
	};
	return {
		lock: place(COPIES.lock),
		model: place(COPIES.model),
		publicSchema: place(COPIES.publicSchema),
	};
}
