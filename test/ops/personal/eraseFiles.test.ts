import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, it } from "node:test";
import pins from "../../../pins/app.ts";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { readConfig } from "../../../src/config/config.ts";
import { feedUser } from "../../../src/feed/jobs/feedUser.ts";
import { printPosition } from "../../../src/fleet/changes/position.ts";
import type { Id } from "../../../src/id/ids.ts";
import type { AuditLine } from "../../../src/ops/personal/audit.ts";
import { overwriteErased } from "../../../src/ops/personal/overwriteErased.ts";
import { SqliteConnection } from "../../../src/storage/sqlite/driver/sqliteConnection.ts";
import { embeddedTopology } from "../../../src/topology/parseTopology.ts";
import { textsIn } from "../../dump/dumping.ts";
import { openEmbedded } from "../../helpers/embedded.ts";
import { theModel } from "../../helpers/model.ts";
import { runHere } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

/** Whatever Ada wrote has this word. */
const PLANTED = "planted";

/** Files of a folder that have the word in any of their bytes. */
function filesWith(folder: string, word: string): readonly string[] {
	return readdirSync(folder, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.filter((entry) =>
			readFileSync(join(entry.parentPath, entry.name), "latin1")
				.toLowerCase()
				.includes(word),
		)
		.map(({ name }) => name)
		.toSorted();
}

/** The position of the first row of all logs. */
function begin(folder: string): string {
	const sets = readdirSync(folder)
		.filter((name) => /^db\d+\.sqlite$/.test(name))
		.map((name) => {
			using file = new DatabaseSync(join(folder, name));
			const row = file.prepare('SELECT id FROM "change log state"').get();
			return `${row?.id}:1`;
		});
	return printPosition({ gtids: sets.join(","), owners: {} });
}

/** A folder in which Ada wrote, changed and deleted much, with a log of changes. Returns her id. */
async function written(env: { readonly CORKBOARD_DATA: string }): Promise<Id> {
	const made = await runHere(["init"], { env });
	assert.equal(made.code, 0, made.err);
	const logged = await runHere(["changes", "enable"], { env });
	assert.equal(logged.code, 0, logged.err);
	await using corkboard = await openCorkboard(pins, readConfig(env));
	const change = async (
		viewer: Id | null,
		mutation: string,
		what: string,
	): Promise<Id> => {
		const { data, errors } = await corkboard.query(
			`mutation { made: ${mutation} { ${what} { id } } }`,
			{ viewer },
		);
		assert.equal(errors, undefined, JSON.stringify(errors));
		return (data as { made: Record<string, { id: Id }> }).made[what]?.id as Id;
	};
	const ada = await change(
		null,
		`createUser(input: { username: "planted_ada", name: "Planted", email: "ada@planted.example", idempotencyKey: "planted-key" })`,
		"user",
	);
	const bob = await change(
		null,
		`createUser(input: { username: "bob", name: "Bob the other" })`,
		"user",
	);
	await change(bob, `followUser(input: { userId: "${ada}" })`, "user");
	const board = await change(
		ada,
		`createBoard(input: { name: "Planted board" })`,
		"board",
	);
	for (let n = 0; n < 40; n++) {
		const details = `Planted ${n} ${"crumbs ".repeat(50)}`;
		const pin = await change(
			ada,
			`createPin(input: { boardId: "${board}", details: "${details}" })`,
			"pin",
		);
		await change(
			ada,
			`updatePin(input: { pinId: "${pin}", details: "Planted again" })`,
			"pin",
		);
		if (n % 4 > 0) continue;
		await change(
			bob,
			`addComment(input: { pinId: "${pin}", text: "Of the other" })`,
			"comment",
		);
		await corkboard.query(
			`mutation { deletePin(input: { pinId: "${pin}" }) { deletedPinId } }`,
			{ viewer: ada },
		);
	}
	const later = { delayMs: 3_600_000 };
	const jobs = corkboard.queues?.jobs;
	await jobs?.enqueue(feedUser, { do: "rebuild", user: ada }, later);
	return ada;
}

describe("accounts erase of an embedded folder", () => {
	it("leaves no byte that the person wrote in any file, and the stream of changes goes on behind it", async () => {
		using folder = temporaryFolder();
		const env = { CORKBOARD_DATA: join(folder.path, "data") };
		const ada = await written(env);
		assert.ok(filesWith(env.CORKBOARD_DATA, PLANTED).length > 2);
		assert.ok(filesWith(env.CORKBOARD_DATA, "bob the other").length > 0);
		const run = async (...args: readonly string[]) => {
			const { code, out, err } = await runHere(args, { env });
			assert.equal(code, 0, err);
			return out;
		};
		const follow = ["changes", "follow", "--until-now"];
		const since = ["--since", begin(env.CORKBOARD_DATA)];
		const changes = join(folder.path, "changes");
		await run(...follow, "--to", `file:${changes}`, ...since);
		assert.ok(filesWith(changes, PLANTED).length > 0);
		await run("accounts", "erase", ada, "--now", "--yes");
		assert.deepEqual(filesWith(env.CORKBOARD_DATA, PLANTED), []);
		assert.ok(filesWith(env.CORKBOARD_DATA, "bob the other").length > 0);
		// What others wrote on her pins is deleted, and stays theirs.
		assert.ok(filesWith(env.CORKBOARD_DATA, "of the other").length > 0);
		const out = await run(...follow, "--select", "Pin", ...since);
		const ops = [...out.matchAll(/"op":"(create|update|delete|erase)"/g)];
		const counts = Object.groupBy(ops, ([, op = ""]) => op);
		assert.equal(counts.create?.length, 40);
		assert.equal(counts.delete?.length, 40);
		assert.equal(counts.erase?.length, 40);
		assert.doesNotMatch(out, /planted|crumbs/i);
		// What an earlier run gave out goes from its files, and a dump has nothing of it.
		await run(...follow, "--to", `file:${changes}`);
		await run("changes", "forget", changes, "--yes");
		assert.deepEqual(filesWith(changes, PLANTED), []);
		assert.ok(filesWith(changes, "bob the other").length > 0);
		const dump = join(folder.path, "dump");
		await run("dump", dump, "--for", "restore", "--unencrypted");
		assert.doesNotMatch(textsIn(dump), /planted/i);
		await run("verify");
		const unfinished = await run("accounts", "audit", "--unfinished");
		assert.doesNotMatch(unfinished, new RegExp(ada));
		const audit = await run("accounts", "audit", "--json");
		const lines = JSON.parse(audit);
		assert.deepEqual(
			lines.map(({ action, user, counts }: AuditLine) => [
				action,
				user,
				counts?.jobs ?? null,
			]),
			[
				["erase begun", ada, null],
				["erase", ada, 1],
			],
		);
		assert.doesNotMatch(audit, /planted/i);
	});

	it("says which file another process reads, whose WAL it could not empty", async () => {
		await using graph = await openEmbedded();
		await graph.writes.create({ type: "User", data: { name: "Ada" } });
		const path = join(graph.folder, "db00000.sqlite");
		const { model } = theModel();
		const topology = embeddedTopology(graph.folder, 4);
		{
			using reader = new SqliteConnection(
				{ path, host: "db00000.sqlite", shard: 0 },
				"read",
			);
			reader.run({ name: "begin", text: "BEGIN" });
			reader.rows({ name: "read", text: "SELECT 1 FROM sqlite_master" }, []);
			await assert.rejects(overwriteErased(model, topology), {
				code: "UNAVAILABLE",
				message: /^Another process reads db00000\.sqlite, so the free space/,
			});
		}
		await overwriteErased(model, topology);
	});
});
