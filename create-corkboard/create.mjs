#!/usr/bin/env node
// `npm create corkboard NAME`. An older Node runs it too, so it has no types.
import {
	cpSync,
	existsSync,
	readdirSync,
	readFileSync,
	renameSync,
	writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { createInterface } from "node:readline/promises";
import { fileURLToPath } from "node:url";

const TEMPLATE = fileURLToPath(new URL("template/", import.meta.url));
const USAGE = "Usage: npm create corkboard NAME [-- --engine FILE]";
/** What npm takes as the name of a package. */
const NAME = /^[a-z0-9][a-z0-9-]{0,99}$/;

class Refused extends Error {}

try {
	await main(process.argv.slice(2));
} catch (error) {
	if (!(error instanceof Refused)) throw error;
	console.error(`create-corkboard: ${error.message}`);
	process.exitCode = 1;
}

async function main(args) {
	const { folder: given, engine } = readArguments(args);
	const folder = resolve(given ?? (await ask()));
	const name = basename(folder);
	if (!NAME.test(name)) {
		throw new Refused(
			`A name has lower-case letters, digits and hyphens, got ${JSON.stringify(name)}. ${USAGE}`,
		);
	}
	if (existsSync(folder) && readdirSync(folder).length > 0) {
		throw new Refused(`${folder} is not empty. Choose another name.`);
	}
	cpSync(TEMPLATE, folder, { recursive: true });
	// npm leaves a .gitignore out of what it packs.
	renameSync(join(folder, "gitignore"), join(folder, ".gitignore"));
	for (const file of ["package.json", "README.md"]) {
		const path = join(folder, file);
		const text = readFileSync(path, "utf8").replaceAll("my-notes", name);
		writeFileSync(path, engine === null ? text : withEngine(text, engine));
	}
	console.log(
		[
			`${folder} is an app of Corkboard.`,
			"",
			`  cd ${given ?? name}`,
			"  npm install",
			"  npm start    serves it at http://localhost:4000/graphql",
			"  npm test     tests it",
		].join("\n"),
	);
}

/** The package of the app is of the version of this one, or a file. */
function withEngine(text, engine) {
	return text.replace('"corkboard": "0.1.0"', () =>
		JSON.stringify({ corkboard: engine }).slice(1, -1),
	);
}

function readArguments(args) {
	let folder;
	let engine = null;
	for (let at = 0; at < args.length; at++) {
		const arg = args[at];
		if (arg === "--engine") {
			at += 1;
			const file = args[at];
			if (file === undefined || !existsSync(file)) {
				throw new Refused(
					`--engine takes the file that npm pack made, got ${file}. ${USAGE}`,
				);
			}
			engine = `file:${resolve(file)}`;
		} else if (arg.startsWith("-") || folder !== undefined) {
			throw new Refused(`Unknown argument ${arg}. ${USAGE}`);
		} else {
			folder = arg;
		}
	}
	return { folder, engine };
}

async function ask() {
	if (!process.stdin.isTTY) throw new Refused(`Missing name. ${USAGE}`);
	const asking = createInterface({
		input: process.stdin,
		output: process.stdout,
	});
	const answer = (await asking.question("Name of the app: ")).trim();
	asking.close();
	return answer;
}
