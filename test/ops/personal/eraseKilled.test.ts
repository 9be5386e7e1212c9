import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { openEmbedded } from "../../helpers/embedded.ts";
import { board, idOf, pin } from "../../helpers/importedGraph.ts";
import { dump } from "../../helpers/importing.ts";
import { startProgram } from "../../helpers/program.ts";
import { command, runHere } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

const LINES = [
	{
		type: "User",
		key: "u:ada",
		fields: { username: "planted_ada", name: "Planted" },
	},
	board,
	pin(1, { details: "planted" }),
];

describe("accounts erase", () => {
	it("leaves a line on who began it when it is killed, and the next run finishes it", async () => {
		using folder = temporaryFolder();
		const env = { CORKBOARD_DATA: join(folder.path, "data") };
		const lines = join(folder.path, "lines.ndjson");
		writeFileSync(lines, LINES.map((line) => JSON.stringify(line)).join("\n"));
		const imported = await runHere(["import", lines], { env });
		assert.equal(imported.code, 0, imported.err);
		const exported = await runHere(
			["accounts", "export", "planted_ada", join(folder.path, "export")],
			{ env },
		);
		assert.equal(exported.code, 0, exported.err);
		const args = ["accounts", "erase", "planted_ada", "--now", "--yes"];
		let user: string;
		{
			await using killed = startProgram(args, { env });
			const [, line = ""] = await killed.printed("err", /audit: (.*)\n/);
			const audit = JSON.parse(line);
			assert.equal(audit.action, "erase begun");
			user = audit.user;
			// It waits for writes that began before: the user is deleted, and nothing else.
			killed.send("SIGKILL");
			assert.equal((await killed.ended).signal, "SIGKILL");
		}
		assert.ok(plantedIn(env.CORKBOARD_DATA).length > 0);
		const stored = async (...options: readonly string[]) =>
			(await runHere(["accounts", "audit", ...options], { env })).out;
		assert.match(
			await stored("--unfinished"),
			new RegExp(`\\dZ +erase begun +${user} +\\S+@`),
		);
		const interrupt = new AbortController();
		const cut = await command(["accounts", "erase", user, ...args.slice(3)], {
			env,
			open: openCorkboard,
			isTerminal: true,
			interruptSignal: () => interrupt.signal,
			stderrRaw: () => interrupt.abort("SIGINT"),
		});
		assert.equal(cut.code, 130, cut.err);
		assert.match(cut.err, /interrupted: run accounts erase again with \d+/);
		assert.match(cut.err, /audit: .*"erase interrupted"/);
		const finished = await runHere(
			["accounts", "erase", user, "--now", "--yes"],
			{
				env,
			},
		);
		assert.equal(finished.code, 0, finished.err);
		assert.match(finished.err + finished.out, /audit: .*"action":"erase"/);
		assert.deepEqual(plantedIn(env.CORKBOARD_DATA), []);
		assert.doesNotMatch(await stored("--unfinished"), new RegExp(user));
		const actions = [
			...(await stored()).matchAll(/Z +(e[a-z]+(?: [a-z]+)?) {2,}/g),
		];
		assert.deepEqual(
			actions.map(([, action]) => action),
			[
				"export begun",
				"export",
				"erase begun",
				"erase begun",
				"erase interrupted",
				"erase begun",
				"erase",
			],
		);
		await using graph = await openEmbedded({
			folder: env.CORKBOARD_DATA,
			shards: 16,
		});
		assert.equal(await idOf(graph, "u:ada"), null);
		const listed = await runHere(["accounts", "list-erased"], { env });
		assert.match(listed.out, new RegExp(`^${user} 20`));
	});
});

/** Rows with what the user wrote. */
function plantedIn(folder: string): readonly string[] {
	return [...dump(folder)].flatMap(([table, rows]) =>
		rows
			.map((row) => `${table}: ${Object.values(row).join(" ")}`)
			.filter((text) => /planted/i.test(text)),
	);
}
