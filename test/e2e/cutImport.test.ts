import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { client } from "../helpers/client.ts";
import { dump } from "../helpers/importing.ts";
import {
	type Environment,
	type Program,
	runProgram,
	serve,
	startProgram,
} from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const LIMIT_MS = 20_000;
const PINS = 4_500;

/** A board of many pins, each liked, in more than one batch. */
const LARGE = lined([
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
]);

describe("an import that is cut off in the middle", {
	concurrency: true,
}, () => {
	for (const [signal, ends] of [
		["SIGINT", { code: 130, signal: null }],
		["SIGTERM", { code: 143, signal: null }],
		["SIGKILL", { code: null, signal: "SIGKILL" }],
	] as const) {
		it(`by ${signal} is ended whole by running it again`, async () => {
			using folder = temporaryFolder();
			const env = { CORKBOARD_DATA: folder.path };
			await using first = startProgram(["import", "-"], { env });
			// Its input does not end, so it cannot be done.
			first.stdin.write(LARGE.slice(0, LARGE.length / 2));
			await pinsIn(folder.path, first);
			first.send(signal);
			const { out, err, ...end } = await first.ended;
			assert.deepEqual(end, ends);
			if (signal !== "SIGKILL") {
				assert.match(out, /^[1-9][\d,]* lines: [1-9][\d,]* objects /);
				assert.equal(err, "interrupted: run the import again to resume it\n");
			}
			const before = count(folder.path);
			assert.ok(before < PINS, `expected a part but got all ${before}`);

			const again = await runProgram(["import", "-"], { env, input: LARGE });
			assert.equal(again.code, 0, again.err);
			assert.equal(
				again.err.includes("waiting for the lease of an import that was cut"),
				signal === "SIGKILL",
				again.err,
			);
			const third = await runProgram(["import", "-"], { env, input: LARGE });
			assert.match(
				third.out,
				/^9,003 lines: 0 objects and 0 edges created, 9,003 existing, 0 bad\n/,
			);
			assert.equal(count(folder.path), PINS);
			await assertVerified(env);
			const page = "(first: 3) { totalCount nodes { details } }";
			const newest = {
				totalCount: PINS,
				nodes: [4_499, 4_498, 4_497].map((n) => ({ details: String(n) })),
			};
			assert.deepEqual(
				await ask(
					env,
					`{ a: user(username: "admirer") { likes${page} } c: user(username: "collector") { pins${page} boards { nodes { pins${page} } } } }`,
				),
				{
					a: { likes: newest },
					c: { pins: newest, boards: { nodes: [{ pins: newest }] } },
				},
			);
		});
	}

	it("or whose lines come slowly tells every few seconds how far it is", async () => {
		using folder = temporaryFolder();
		const env = { CORKBOARD_DATA: folder.path };
		await using slow = startProgram(["import", "-"], { env });
		const lines = LARGE.trimEnd().split("\n");
		// In a log there is a line at most every five seconds.
		let sent = 0;
		while (slow.err() === "" && sent < lines.length) {
			slow.stdin.write(`${lines.slice(sent, sent + 1_000).join("\n")}\n`);
			sent += 1_000;
			await sleep(1_200);
		}
		slow.stdin.end(lines.slice(sent).join("\n"));
		const { code, err } = await slow.ended;
		assert.equal(code, 0);
		assert.match(err, /^\d,\d{3} lines, [\d,]+ a second\n/);
	});

	/** Until some pins are stored. */
	async function pinsIn(folder: string, importing: Program): Promise<void> {
		const deadline = performance.now() + LIMIT_MS;
		while (performance.now() < deadline) {
			if (count(folder) > 0) return;
			await sleep(20);
		}
		assert.fail(`no pins were stored: ${importing.err()}`);
	}
});

/** Pins stored; 0 while there are no tables, or they are just being made. */
function count(folder: string): number {
	try {
		return [...dump(folder)].reduce(
			(sum, [place, rows]) =>
				place.endsWith(" pins") ? sum + rows.length : sum,
			0,
		);
	} catch {
		return 0;
	}
}

function lined(lines: readonly unknown[]): string {
	return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** What a served query answers. */
async function ask<T>(env: Environment, query: string): Promise<T> {
	await using server = await serve(env);
	const data = await client(server.url).data<T>(query);
	assert.equal((await server.stop()).code, 0);
	return data;
}

async function assertVerified(env: Environment): Promise<void> {
	const { code, out } = await runProgram(["verify"], { env });
	assert.equal(code, 0, out);
	assert.match(out, /^everything agrees$/m);
}
