import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";

interface Locked {
	readonly optional?: boolean;
	readonly os?: readonly string[];
	readonly engines?: { readonly node?: string };
}

const ROOT = new URL("../", import.meta.url);
/** With which `npm ci` has to work: it leaves out an optional package that wants another Node. */
const OLDEST = "18.20.8";
/** A package that does without its binary. */
const SPARED = /@napi-rs\/lzma-/;

test("npm on the oldest Node leaves out no binary for Linux that a package needs", () => {
	const { satisfies } = createRequire(import.meta.url)("semver") as {
		satisfies(version: string, range: string): boolean;
	};
	const text = readFileSync(new URL("package-lock.json", ROOT), "utf8");
	const { packages } = JSON.parse(text) as {
		readonly packages: Readonly<Record<string, Locked>>;
	};
	const binaries = Object.entries(packages).filter(
		([name, { optional, os }]) =>
			optional && os?.includes("linux") && !SPARED.test(name),
	);
	assert.ok(binaries.length > 5);
	const left = binaries.filter(
		([, { engines }]) => !satisfies(OLDEST, engines?.node ?? "*"),
	);
	assert.deepEqual(
		left.map(([name, { engines }]) => `${name}: ${engines?.node}`),
		[],
	);
});
