import assert from "node:assert/strict";
import { cpSync } from "node:fs";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { client } from "../helpers/client.ts";
import { countRows, sqlOn } from "../helpers/importing.ts";
import { type Environment, serve, startProgram } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

const PINS = 2_250;
/** An import writes so many lines at a time, and drops what makes no whole batch when it is cut off. */
const BATCH = 2_000;

/** A board of many pins, each liked, in more than one batch. */
const LARGE = [
	{ type: "User", key: "u", fields: { username: "collector", name: "C" } },
	{ type: "User", key: "v", fields: { username: "admirer", name: "A" } },
	{ type: "Board", key: "b", fields: { owner: "u", name: "All" } },
	...Array.from({ length: PINS }, (_, n) => ({
		type: "Pin",
		key: `p:${n}`,
		fields: { board: "b", details: String(n) },
	})),
	...Array.from({ length: PINS }, (_, n) => ({
		edge: "likePin",
		from: "v",
		to: `p:${n}`,
	})),
].map((line) => `${JSON.stringify(line)}\n`);

describe("an interrupted import", {
	concurrency: true,
}, () => {
	for (const [signal, ends] of [
		["SIGINT", { code: 130, signal: null }],
		["SIGTERM", { code: 143, signal: null }],
		["SIGKILL", { code: null, signal: "SIGKILL" }],
	] as const) {
		it(`is completed by running it again after ${signal}`, async () => {
			using folder = temporaryFolder();
			const env = { CORKBOARD_DATA: folder.path };
			await using first = startProgram(["import", "-"], { env });
			// Its input does not end, so it cannot be done.
			first.stdin.write(LARGE.slice(0, BATCH + 100).join(""));
			await pinsIn(folder.path);
			first.send(signal);
			const { out, err, ...end } = await first.ended;
			assert.deepEqual(end, ends);
			if (signal !== "SIGKILL") {
				assert.match(out, /^[1-9][\d,]* lines: [1-9][\d,]* objects /);
				assert.match(
					err,
					/(?:^|\n)interrupted: run the import again to resume it\n$/,
				);
			}
			// To be ended by either signal is the same.
			if (signal === "SIGTERM") return;
			const before = countRows(folder.path, "pins");
			assert.ok(before < PINS, `expected a part but got all ${before}`);

			const input = LARGE.join("");
			const again = await runHere(["import", "-"], { env, input });
			assert.equal(again.code, 0, again.err);
			// What was interrupted has given its lease back.
			if (signal !== "SIGKILL") assert.doesNotMatch(again.err, WAITING);
			assert.equal(countRows(folder.path, "pins"), PINS);
			await assertVerified(env);
			// How it was interrupted makes no difference any more.
			if (signal !== "SIGKILL") return;
			const third = await runHere(["import", "-"], { env, input });
			assert.match(
				third.out,
				/^4,503 lines: 0 objects and 0 edges created, 4,503 existing, 0 bad\n/,
			);
			assert.equal(countRows(folder.path, "pins"), PINS);
			const page = "(first: 3) { totalCount nodes { details } }";
			const newest = {
				totalCount: PINS,
				nodes: [2_249, 2_248, 2_247].map((n) => ({ details: String(n) })),
			};
			assert.deepEqual(
				await ask(
					env,
					`{ a: user(by: {username: "admirer"}) { likes${page} } c: user(by: {username: "collector"}) { pins${page} boards { nodes { pins${page} } } } }`,
				),
				{
					a: { likes: newest },
					c: { pins: newest, boards: { nodes: [{ pins: newest }] } },
				},
			);
		});
	}

	it("by SIGKILL keeps the next one waiting, which says for what", async () => {
		using folder = temporaryFolder();
		const env = { CORKBOARD_DATA: folder.path };
		await using first = startProgram(["import", "-"], { env });
		first.stdin.write(LARGE.slice(0, BATCH).join(""));
		await pinsIn(folder.path);
		first.send("SIGKILL");
		await first.ended;
		// The next waits ten seconds at most, and speaks after one of them. So the
		// lease has to end in the tenth second of a process that starts soon, and
		// later for one that starts late, on a busy machine.
		const said: string[] = [];
		for (const endsInMs of [7_000, 11_000, 16_000, 24_000, 36_000]) {
			using copy = temporaryFolder();
			cpSync(folder.path, copy.path, { recursive: true });
			sqlOn(
				copy.path,
				/^mod/,
				`UPDATE lookups SET token = '${Date.now() + endsInMs} gone' WHERE name = 'import state' AND key = 'lease'`,
			);
			const { err } = await runHere(["import", "-"], {
				env: { CORKBOARD_DATA: copy.path },
				input: LARGE[0] ?? "",
			});
			said.push(err);
			if (WAITING.test(err)) return;
		}
		assert.fail(`expected it to say that it waits but got: ${said}`);
	});

	it("reports its progress every few seconds while its lines come slowly", async () => {
		using folder = temporaryFolder();
		const env = { CORKBOARD_DATA: folder.path };
		await using slow = startProgram(["import", "-"], { env });
		slow.stdin.write(LARGE.slice(0, BATCH).join(""));
		await pinsIn(folder.path);
		// In a log there is a line at most every five seconds.
		await sleep(5_000);
		slow.stdin.end(LARGE.slice(BATCH).join(""));
		const { code, err } = await slow.ended;
		assert.equal(code, 0);
		assert.match(err, /^\d,\d{3} lines, [\d,]+ per second\n/);
	});

	/** Until some pins are stored. */
	function pinsIn(folder: string): Promise<void> {
		return until("pins to be stored", () => countRows(folder, "pins") > 0);
	}
});

/** What the next one says. */
const WAITING =
	/^waiting for the lease of an interrupted import, at most 5 seconds …$/m;

/** What a served query answers. */
async function ask<T>(env: Environment, query: string): Promise<T> {
	await using server = await serve(env);
	const data = await client(server.url).data<T>(query);
	assert.equal((await server.stop()).code, 0);
	return data;
}

async function assertVerified(env: Environment): Promise<void> {
	const { code, out } = await runHere(["verify"], { env });
	assert.equal(code, 0, out);
	assert.match(out, /^everything agrees$/m);
}
