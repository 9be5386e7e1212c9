import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { run } from "../examples/pinboard.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { COPIES } from "../update.ts";

const FRAGMENT = `fragment Nullable_pin on Pin DIRECTIVE {
	board { id }
	owner { id }
	origin { id }
	comments(first: 2) { nodes { pin { id } } edges { node { id } } }
}`;

/** The type of the fragment's data that Relay's compiler writes. */
async function typeOf(directive: string): Promise<string> {
	using folder = temporaryFolder();
	const artifacts = join(folder.path, "src/__generated__");
	mkdirSync(artifacts, { recursive: true });
	writeFileSync(
		join(folder.path, "relay.json"),
		JSON.stringify({
			src: "./src",
			schema: COPIES.publicSchema,
			language: "typescript",
			artifactDirectory: "./src/__generated__",
			eagerEsModules: true,
			noSourceControl: true,
		}),
	);
	writeFileSync(
		join(folder.path, "src/Nullable.ts"),
		`graphql\`${FRAGMENT.replace("DIRECTIVE", directive)}\`;\n`,
	);
	await run("relay-compiler", ["relay.json"], { cwd: folder.path });
	const file = join(artifacts, "Nullable_pin.graphql.ts");
	const text = readFileSync(file, "utf8");
	return (
		/export type Nullable_pin\$data = \{[\s\S]*?\n\};/.exec(text)?.[0] ?? text
	);
}

suite("Relay's compiler, of @semanticNonNull in the schema that clients read", () => {
	test("makes types without null in a fragment that throws on errors", async () => {
		const throwing = await typeOf("@throwOnFieldError");
		const bare = await typeOf("");
		for (const field of ["board", "owner"]) {
			const type = new RegExp(
				`${field}: \\{\\s+readonly id: string;\\s+\\}( \\| null \\| undefined)?`,
			);
			assert.ok(type.test(throwing), throwing);
			assert.equal(type.exec(throwing)?.[1], undefined, throwing);
			assert.ok(type.exec(bare)?.[1], bare);
		}
		const origin =
			/origin: \{\s+readonly id: string;\s+\}( \| null \| undefined)?/;
		assert.ok(origin.exec(throwing)?.[1], throwing);
		const items =
			/(?:nodes|edges): ReadonlyArray<\{[\s\S]*?\}( \| null \| undefined)?>/g;
		assert.deepEqual(
			[...throwing.matchAll(items)].map((each) => each[1]),
			[undefined, undefined],
			throwing,
		);
	});
});
