import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { client } from "../helpers/client.ts";
import { runProgram, startProgram } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string) => readFileSync(join(ROOT, path), "utf8");

/** npm as it runs these tests, else the one on the PATH. */
const NPM: readonly [string, ...string[]] = process.env.npm_execpath
	? [process.execPath, process.env.npm_execpath]
	: ["npm"];

describe("the commands of README.md and docs/how-to/import-and-verify.md", () => {
	it("npm start serves the demo graph, answers the query shown, and ends with npm", async () => {
		using folder = temporaryFolder();
		const env = {
			PORT: "0",
			CORKBOARD_DATA: join(folder.path, "data"),
			// What npm keeps beside the folder it is run in.
			npm_config_cache: join(folder.path, "npm"),
			npm_config_update_notifier: "false",
		};
		await using npm = startProgram(["start"], { env, command: NPM });
		await npm.printed("out", /Press Ctrl-C to stop\./);
		const [, url = ""] = await npm.printed(
			"out",
			/^Corkboard serves (http:\S+)\/graphql$/m,
		);
		const server = Number(
			readFileSync(join(env.CORKBOARD_DATA, "owner.pid"), "utf8"),
		);
		try {
			const { query, response } = shownQuery();
			assert.deepEqual({ data: await client(url).data(query) }, response);
		} finally {
			npm.send("SIGTERM");
			// npm 9 keeps the signal to itself; in a terminal Ctrl-C reaches both.
			if (/^npm\/9\./.test(process.env.npm_config_user_agent ?? "")) {
				process.kill(server, "SIGTERM");
			}
			await npm.ended;
			await until("the server to end with npm", () => !isAlive(server)).finally(
				() => isAlive(server) && process.kill(server, "SIGKILL"),
			);
		}
		// It drained, and was not cut off: the folder is nobody's again.
		assert.throws(() =>
			readFileSync(join(env.CORKBOARD_DATA, "owner.pid"), "utf8"),
		);
	});

	it("import takes the lines shown, given the user they follow", async () => {
		using folder = temporaryFolder();
		const [, block = ""] =
			/^## Import$[\s\S]*?```json\n([\s\S]*?)```/m.exec(
				read("docs/how-to/import-and-verify.md"),
			) ?? [];
		const lines = block.trimEnd().split("\n");
		assert.equal(lines.length, 3);
		const followed =
			'{"type":"User","key":"u:9","fields":{"username":"pinner9","name":"Pinner 9"}}';
		const file = join(folder.path, "lines.ndjson");
		writeFileSync(file, [followed, ...lines].join("\n"));
		const { code, out, err } = await runProgram(
			["run", "-s", "corkboard", "--", "import", file],
			{
				command: NPM,
				env: {
					CORKBOARD_DATA: join(folder.path, "data"),
					npm_config_cache: join(folder.path, "npm"),
					npm_config_update_notifier: "false",
				},
			},
		);
		assert.deepEqual({ code, err }, { code: 0, err: "" });
		assert.match(out, /^4 lines: 3 objects and 1 edges created, 0 existing/);
	});
});

function shownQuery(): { readonly query: string; readonly response: unknown } {
	const readme = read("README.md");
	const [, query] = /```graphql\n([\s\S]*?)```/.exec(readme) ?? [];
	const [, response] = /```json\n([\s\S]*?)```/.exec(readme) ?? [];
	assert.ok(query && response);
	return { query, response: JSON.parse(response) };
}

function isAlive(pid: number): boolean {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
		return false;
	}
}
