import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import {
	listOperations,
	Operation,
} from "../../../src/fleet/operations/operations.ts";
import { promoteDead } from "../../../src/fleet/operations/promoteDead.ts";
import { abortOperation } from "../../../src/fleet/resumeOperation.ts";
import { answerAsks } from "../../../src/topology/asks.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import { Membership } from "../../../src/topology/members.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import { startProgram } from "../../helpers/program.ts";
import { command } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";
import { caughtUp, startMysqlPair } from "../../services/mysql.ts";

const STOPS_ITSELF = join(import.meta.dirname, "../stopsItself.ts");

test("nobody takes over a promotion of a dead primary's replica that runs; one that was paused for too long says who has it, how it has ended, and what is lost", async () => {
	await using pair = await startMysqlPair();
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	const { primary, replica } = pair;
	const hosts = { primary: primary.url, replica: replica.url };
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range: [0, 0], ...hosts, open: true }],
			lookups: [{ range: [0, 0], ...hosts }],
		}),
	);
	const [row] = await ask(primary, "SELECT @@server_uuid AS uuid");
	const gtids = `${row?.uuid}:900001-900003`;
	// A receiver that is about to connect to a primary that hangs cannot be stopped in time.
	await caughtUp(pair);
	primary.pause();
	await using store = openFileStore(file);
	// A process to which it acknowledged three transactions that nobody has.
	await using member = new Membership(store, { role: "serve", model: "" });
	await member.say(1, 1);
	await using _answers = answerAsks(store, member.id, () => ({
		acknowledged: gtids,
		state: "lost",
		writes: [],
	}));
	const { address } = primary;
	const steps: string[] = [];
	await assert.rejects(
		promoteDead(
			{
				store,
				environment: {},
				tryMs: 300,
				async onStep(step, id) {
					steps.push(step);
					const taken = await Operation.tryTakeOver(store, id);
					assert.equal(taken, null, step);
				},
			},
			address,
		),
		{ code: "CONFLICT", message: /lacks.*It was not accepted/s },
	);
	assert.ok(steps.includes("applied"), steps.join());

	const env = { CORKBOARD_TOPOLOGY: file };
	await using stopped = startProgram(
		[
			"accepted",
			"hosts",
			"promote",
			address,
			"--dead",
			"--accept-loss",
			"--yes",
		],
		{ env, command: [process.execPath, STOPS_ITSELF] },
	);
	await stopped.printed("err", /^accepted$/m);
	const last = async () => (await listOperations(store)).at(-1);
	const id = (await last())?.id ?? "";
	const ending = new AbortController();
	const operator = command(["controller"], {
		env,
		interruptSignal: () => ending.signal,
	});
	try {
		await until("it has published", async () => {
			const record = await last();
			return record?.step === "published" || record?.step === "done";
		});
		await member.say(2, 2);
		await until("it is over", async () => (await last())?.step === "done");
	} finally {
		ending.abort("SIGINT");
	}
	const { holder, version } = (await last()) ?? {};
	assert.equal(version, 2);
	const { out } = await operator;
	assert.match(out, new RegExp(`^taking over ${id} at fencing$`, "m"));

	stopped.send("SIGCONT");
	const ended = await stopped.ended;
	assert.equal(ended.code, 4, ended.err);
	assert.ok(ended.err.includes(`${holder} has taken ${id} over.`), ended.err);
	assert.match(ended.out, new RegExp(`^${id}: published version 2: `, "m"));
	assert.match(ended.out, /acknowledged 3 transactions that .* lacks/);
	assert.ok(ended.out.includes(gtids), ended.out);
	await assert.rejects(
		abortOperation({ store, environment: {} }, id),
		/is over: done/,
	);
});
