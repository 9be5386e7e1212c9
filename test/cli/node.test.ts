import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, join } from "node:path";
import { test } from "node:test";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const SCRIPT = join(import.meta.dirname, "../../src/cli/node.sh");

test("npm scripts run on the Node that came with the packages, whatever npm made of its link", () => {
	using folder = temporaryFolder();
	// An older one stands first on the PATH, as npm 9 leaves it.
	const old = join(folder.path, "node");
	writeFileSync(old, "#!/bin/sh\necho v18.0.0\n");
	chmodSync(old, 0o755);
	const out = execFileSync("sh", [SCRIPT, "-p", "process.version"], {
		env: { PATH: `${folder.path}${delimiter}/usr/bin${delimiter}/bin` },
		encoding: "utf8",
	});
	assert.match(out, /^v(2[4-9]|[3-9]\d)\./);
});

/** Keeps what it allocates for some time, and prints the megabytes of V8's young generation. */
const FILL = `const kept = [];
	for (let n = 0; n < 2_000_000; n++) kept[n % 400_000] = [n, n, n, n, "t" + n];
	const [{ space_size }] = process.getBuiltinModule("v8").getHeapSpaceStatistics()
		.filter(({ space_name }) => space_name === "new_space");
	console.log(space_size / 2 ** 20);`;

function youngMegabytes(
	options: string,
	settings: Readonly<Record<string, string>> = {},
): number {
	const out = execFileSync("sh", [SCRIPT, "-e", FILL], {
		env: { PATH: process.env.PATH, NODE_OPTIONS: options, ...settings },
		encoding: "utf8",
	});
	return Number(out);
}

test("V8's young generation stays small, unless the operator gives it a size", () => {
	assert.ok(youngMegabytes("") <= 34);
	assert.ok(youngMegabytes("--max-semi-space-size=4") <= 10);
});

test("V8's young generation is larger where the process keeps nothing of the graph", () => {
	const topology = { CORKBOARD_TOPOLOGY: "topology.json" };
	const redis = { CORKBOARD_REDIS: "redis://127.0.0.1:6379" };
	assert.ok(youngMegabytes("", { ...topology, ...redis }) <= 34);
	assert.ok(youngMegabytes("", topology) > 66);
	assert.ok(youngMegabytes("", { ...redis, CORKBOARD_CACHE_MB: "0" }) > 66);
	assert.ok(youngMegabytes("--max-semi-space-size=4", topology) <= 10);
});

test("V8 has one thread beside that of the program, on Linux", {
	skip: process.platform !== "linux",
}, () => {
	const threads = (options: string) =>
		Number(
			execFileSync(
				"sh",
				[SCRIPT, "-p", 'fs.readdirSync("/proc/self/task").length'],
				{
					env: { PATH: process.env.PATH, NODE_OPTIONS: options },
					encoding: "utf8",
				},
			),
		);
	assert.equal(threads("--v8-pool-size=4") - threads(""), 3);
});

test("threads share the memory of malloc, unless somebody says otherwise", () => {
	const arenas = (env: Readonly<Record<string, string>>) =>
		execFileSync("sh", [SCRIPT, "-p", "process.env.MALLOC_ARENA_MAX"], {
			env: { PATH: process.env.PATH, ...env },
			encoding: "utf8",
		}).trim();
	assert.equal(arenas({}), "1");
	assert.equal(arenas({ MALLOC_ARENA_MAX: "4" }), "4");
});

test("malloc asks for large pages, unless somebody says otherwise", () => {
	const run = (code: string, env: Readonly<Record<string, string>>) =>
		execFileSync("sh", [SCRIPT, "-e", code], {
			env: { PATH: process.env.PATH, ...env },
			encoding: "utf8",
		}).trim();
	const print = "console.log(process.env.GLIBC_TUNABLES)";
	const own = "glibc.malloc.hugetlb=0";
	assert.equal(run(print, {}), "glibc.malloc.hugetlb=1");
	assert.equal(
		run(print, { GLIBC_TUNABLES: own }),
		`glibc.malloc.hugetlb=1:${own}`,
	);
	const file = "/sys/kernel/mm/transparent_hugepage/enabled";
	if (!existsSync(file) || !readFileSync(file, "utf8").includes("[madvise]")) {
		return;
	}
	// Whether somebody who asks gets any is the kernel's decision.
	const fill = `const cache = new Uint32Array(${2 ** 25}).fill(1);
		const all = fs.readFileSync("/proc/self/smaps_rollup", "utf8");
		console.log(cache.length, /^AnonHugePages: +0 kB/m.test(all));`;
	assert.match(run(fill, { GLIBC_TUNABLES: own }), / true$/);
});

test("the image runs the same script, and gives V8 no options of its own, which would win", () => {
	const root = join(import.meta.dirname, "../..");
	const image = readFileSync(join(root, "Dockerfile"), "utf8");
	assert.match(image, /^ENTRYPOINT \["\/bin\/sh", "src\/cli\/node\.sh", /m);
	assert.doesNotMatch(image, /--max-semi-space-size|--v8-pool-size/);
});
