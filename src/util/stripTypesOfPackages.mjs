import { readFileSync } from "node:fs";

/**
 * Node strips the types of TypeScript, but not below node_modules, which is
 * where `npm install` puts a packed Corkboard. Each thread has to ask for it by
 * itself. An older Node parses this file, so its syntax is that of Node 12.
 *
 * @param {typeof import("node:module")} module
 * @param {URL} root of the package, or a folder of it
 */
export function stripTypesOfPackages(module, root) {
	const { registerHooks, stripTypeScriptTypes } = module;
	if (!root.href.includes("/node_modules/")) return;
	// That this is no part of Node's promises yet is nothing that a user can change.
	const { emitWarning } = process;
	process.emitWarning = (warning, ...more) => {
		if (more[0] !== "ExperimentalWarning") {
			emitWarning.call(process, warning, ...more);
		}
	};
	registerHooks({
		load(url, context, next) {
			if (!url.startsWith(root.href) || !url.endsWith(".ts")) {
				return next(url, context);
			}
			const source = readFileSync(new URL(url), "utf8");
			return {
				format: "module",
				source: stripTypeScriptTypes(source),
				shortCircuit: true,
			};
		},
	});
}
