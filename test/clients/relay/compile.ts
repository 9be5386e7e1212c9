import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import type { ConcreteRequest } from "relay-runtime";
import { run } from "../../examples/pinboard.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { COPIES } from "../../update.ts";

/** Compiles operations of a module named Every with Relay's compiler; the artifacts by the operations' names. */
export async function compileRelay(
	operations: readonly string[],
): Promise<ReadonlyMap<string, ConcreteRequest>> {
	using folder = temporaryFolder();
	const artifacts = join(folder.path, "src/__generated__");
	mkdirSync(artifacts, { recursive: true });
	writeFileSync(join(folder.path, "package.json"), '{ "type": "module" }');
	writeFileSync(
		join(folder.path, "relay.json"),
		JSON.stringify({
			src: "./src",
			schema: COPIES.publicSchema,
			// TypeScript's artifacts import types as values, which Node does not run.
			language: "javascript",
			artifactDirectory: "./src/__generated__",
			eagerEsModules: true,
			noSourceControl: true,
		}),
	);
	writeFileSync(
		join(folder.path, "src/Every.js"),
		operations.map((text) => `graphql\`${text}\`;\n`).join("\n"),
	);
	await run("relay-compiler", ["relay.json"], { cwd: folder.path });
	const names = operations.map((text) => /\w+ (\w+)/.exec(text)?.[1] ?? "");
	return new Map(
		await Promise.all(
			names.map(async (name) => {
				const file = join(artifacts, `${name}.graphql.js`);
				const module = (await import(pathToFileURL(file).href)) as {
					readonly default: ConcreteRequest;
				};
				return [name, module.default] as const;
			}),
		),
	);
}
