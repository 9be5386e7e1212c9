import assert from "node:assert/strict";
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
	closeSync,
	mkdtempSync,
	openSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, test } from "node:test";
import { promisify } from "node:util";
import { startProgram } from "../helpers/program.ts";

const LAUNCH = join(import.meta.dirname, "../../src/cli/launch.mjs");
const folder = mkdtempSync(join(tmpdir(), "launch-"));
after(() => rmSync(folder, { recursive: true }));

describe("the launcher", () => {
	test("runs a command, with nothing on stderr", async () => {
		const { stdout, stderr } = await promisify(execFile)(process.execPath, [
			LAUNCH,
			"objects",
			"show",
			"241294492511762325",
		]);
		assert.match(stdout, /^table {5}db03429\.pins$/m);
		assert.equal(stderr, "");
	});

	test("loads nothing to strip types with when it was started before", () => {
		const spy = join(folder, "spy.cjs");
		writeFileSync(
			spy,
			`process.on("exit", () => console.error(
				process.moduleLoadList.some((name) => name.includes("amaro"))));`,
		);
		const loads = [1, 2].map(() => {
			const { stderr } = spawnSync(
				process.execPath,
				["--require", spy, LAUNCH, "--help"],
				{
					env: { ...process.env, NODE_COMPILE_CACHE: join(folder, "compiled") },
					encoding: "utf8",
				},
			);
			return stderr;
		});
		assert.deepEqual(loads, ["true\n", "false\n"]);
	});

	test("keeps what Node compiled beside the program, unless the environment names a folder", () => {
		const spy = join(folder, "folder.cjs");
		writeFileSync(
			spy,
			`process.on("exit", () => console.error(
				require("node:module").getCompileCacheDir()));`,
		);
		const { NODE_COMPILE_CACHE: _, ...env } = process.env;
		const beside = join(LAUNCH, "../../../.cache/compiled/");
		for (const more of [{}, { NODE_COMPILE_CACHE: "" }]) {
			const { stderr } = spawnSync(
				process.execPath,
				["--require", spy, LAUNCH, "--help"],
				{ env: { ...env, ...more }, cwd: folder, encoding: "utf8" },
			);
			assert.ok(stderr.startsWith(beside), stderr);
		}
	});

	test("keeps nothing on a disk without room for it", () => {
		const spy = join(folder, "full.cjs");
		writeFileSync(
			spy,
			`require("node:fs").statfsSync = () => ({ bavail: 100, bsize: 4096 });
			process.on("exit", () => console.error(
				require("node:module").getCompileCacheDir()));`,
		);
		const { NODE_COMPILE_CACHE: _, ...env } = process.env;
		const { stderr } = spawnSync(
			process.execPath,
			["--require", spy, LAUNCH, "--help"],
			{ env, encoding: "utf8" },
		);
		assert.equal(stderr, "undefined\n");
	});

	test("writes what Node compiled before it listens, as it answers nothing meanwhile", async () => {
		const spy = join(folder, "order.cjs");
		writeFileSync(
			spy,
			`const module_ = require("node:module");
			const { Server } = require("node:net");
			for (const [owner, name] of [
				[module_, "flushCompileCache"],
				[Server.prototype, "listen"],
			]) {
				const before = owner[name];
				owner[name] = function (...given) {
					console.error("calls", name);
					return before.apply(this, given);
				};
			}
			module_.syncBuiltinESMExports();`,
		);
		await using served = startProgram(["--require", spy, LAUNCH, "serve"], {
			command: [process.execPath],
			env: {
				CORKBOARD_DATA: join(folder, "data"),
				CORKBOARD_DEMO: "off",
				CORKBOARD_GRAPHIQL: "off",
				PORT: "0",
			},
		});
		await served.printed("out", /(http:\/\/[^\s]+)/);
		assert.match(served.err(), /^calls flushCompileCache\ncalls listen$/m);
	});

	test("loads nothing to strip types with in its threads either when it was started before", async () => {
		const spy = join(folder, "thread.cjs");
		writeFileSync(
			spy,
			`const { isMainThread } = require("node:worker_threads");
			const module_ = require("node:module");
			const flush = module_.flushCompileCache;
			module_.flushCompileCache = () => {
				flush();
				if (isMainThread) return;
				console.error(process.argv[1].split("/").at(-1), process.moduleLoadList.some((name) => name.includes("amaro")));
			};
			module_.syncBuiltinESMExports();`,
		);
		for (const strips of [true, false]) {
			await using served = startProgram(["--require", spy, LAUNCH, "serve"], {
				command: [process.execPath],
				env: {
					NODE_COMPILE_CACHE: join(folder, "compiledOfThreads"),
					CORKBOARD_ADMIN: "127.0.0.1:0",
					CORKBOARD_DATA: join(folder, "data"),
					CORKBOARD_DEMO: "off",
					CORKBOARD_GRAPHIQL: "off",
					PORT: "0",
				},
			});
			for (const name of ["adminThread", "renewalThread"]) {
				const said = new RegExp(`^${name}.mjs (true|false)$`, "m");
				const [, strip] = await served.printed("err", said);
				assert.equal(strip, String(strips), name);
			}
		}
	});

	test("says that its output cannot be written, and ends with exit code 1", () => {
		const full = openSync("/dev/full", "w");
		const { status, stderr } = spawnSync(process.execPath, [LAUNCH, "--help"], {
			stdio: ["ignore", full, "pipe"],
			encoding: "utf8",
		});
		closeSync(full);
		assert.equal(status, 1);
		assert.match(
			stderr,
			/^corkboard: The output cannot be written: ENOSPC: .*\.\n$/,
		);
	});

	test("obeys a signal as the first process of a container, before the command listens", async () => {
		const disguise = join(folder, "first.cjs");
		writeFileSync(
			disguise,
			`Object.defineProperty(process, "pid", { value: 1 });
			process.on("newListener", (name) => {
				if (name === "SIGTERM") setImmediate(() => console.log("listening"));
			});`,
		);
		// It waits for its standard input, and has no use for signals.
		const child = spawn(
			process.execPath,
			["--require", disguise, LAUNCH, "schema", "diff", "-"],
			{ stdio: ["pipe", "pipe", "inherit"] },
		);
		const ended = once(child, "close");
		await Promise.race([once(child.stdout, "data"), ended]);
		child.kill("SIGTERM");
		assert.deepEqual(await ended, [143, null]);
	});

	test("refuses an older Node with exit code 1, and says how to get Node 24", async () => {
		// What an older Node would see: the version is all that is looked at.
		const disguise = join(folder, "disguise.cjs");
		writeFileSync(
			disguise,
			`Object.defineProperty(process, "versions", { value: { ...process.versions, node: "18.20.8" } });`,
		);
		const child = spawn(process.execPath, [
			"--require",
			disguise,
			LAUNCH,
			"--help",
		]);
		let err = "";
		child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
			err += chunk;
		});
		const [code] = await once(child, "close");
		assert.equal(code, 1);
		assert.match(err, /^Corkboard runs on Node 24 or newer, got 18\.20\.8 on /);
		assert.match(err, /install Node 24 or newer from/);
	});

	test("ends quietly when nobody reads its output any more", async () => {
		const child = spawn(process.execPath, [
			LAUNCH,
			"schema",
			"print",
			"--public",
		]);
		let err = "";
		child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
			err += chunk;
		});
		child.stdout.destroy();
		const [code] = await once(child, "close");
		assert.equal(err, "");
		assert.equal(code, 0);
	});
});
