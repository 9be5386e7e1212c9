import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { LagWatch } from "../../../src/cli/migrate/lagWatch.ts";
import { BadRows } from "../../../src/ops/migrate/badRows.ts";
import { planMigration } from "../../../src/ops/migrate/plan.ts";
import { runPass } from "../../../src/ops/migrate/runPass.ts";
import { openFileSource } from "../../../src/ops/migrate/sources/fileSource.ts";
import { EMPTY_STATE } from "../../../src/ops/migrate/state.ts";
import { Pace } from "../../../src/util/pace.ts";
import { openEmbedded } from "../../helpers/embedded.ts";
import { theFieldReaders, theModel } from "../../helpers/model.ts";
import { command } from "../../helpers/runCommand.ts";
import { until } from "../../helpers/until.ts";

const folder = mkdtempSync(join(tmpdir(), "pace-"));
after(() => rmSync(folder, { recursive: true, force: true }));

/** A clock on which sleeping takes no time. */
function fakeClock() {
	let time = 0;
	return {
		now: () => time,
		async sleep(ms: number) {
			time += ms;
			await nextTurn();
		},
	};
}

function paceOf(rowsPerSecond: number | null, clock = fakeClock()) {
	const limits = { rowsPerSecond, bytesPerSecond: null, maxLagSeconds: 10 };
	return new Pace(limits, clock);
}

const TOPICS = {
	source: "",
	types: {
		Interest: {
			table: "topics",
			key: "id",
			fields: { slug: "slug", name: "name" },
		},
	},
};

function writeTopics(count: number): void {
	const lines = Array.from({ length: count }, (_, n) => `${n},t${n},T ${n}`);
	writeFileSync(
		join(folder, "topics.csv"),
		["id,slug,name", ...lines].join("\n"),
	);
}

it("a pass with a rate reads so many rows a second", async () => {
	writeTopics(5_000);
	await using graph = await openEmbedded();
	const source = await openFileSource(folder);
	const { model, domain } = theModel();
	const fields = theFieldReaders();
	const clock = fakeClock();
	const { rows } = await runPass(graph.store, {
		plans: planMigration(TOPICS, { model, fields }, source, domain),
		source,
		fields,
		state: EMPTY_STATE,
		saveState: () => {},
		onlyChanged: false,
		deleteMany: false,
		writing: {},
		pace: paceOf(1_000, clock),
		badRows: new BadRows(join(folder, "bad.ndjson")),
	});
	assert.equal(rows, 5_000);
	// Two pages of 2,000 rows before the last one; a fifth of a second may be made up for.
	assert.ok(clock.now() >= 3_500 && clock.now() < 5_000, `${clock.now()}`);
});

it("passes wait while a replica of the old database is behind, and go on when it has caught up", async () => {
	let lag: number | null = 3;
	const said: string[] = [];
	const pace = paceOf(null);
	const source = { lag: async () => lag, shownUrl: "mysql://old/legacy" };
	const watch = new LagWatch(source, pace, (text) => said.push(text));
	const never = new AbortController().signal;
	await watch.look();
	await pace.take(1, 0, never);
	assert.deepEqual(said, []);
	lag = 11;
	await watch.look();
	await watch.look();
	let isTaken = false;
	const taken = pace.take(1, 0, never).then(() => {
		isTaken = true;
	});
	for (let turns = 0; turns < 10; turns++) await nextTurn();
	assert.equal(isTaken, false);
	assert.equal(pace.reason, "lag of a replica of mysql://old/legacy");
	// A server that does not say it any more is not waited for.
	lag = null;
	await watch.look();
	await taken;
	assert.deepEqual(said, [
		"The pass waits: a replica of mysql://old/legacy is 11 s behind.",
		"The replica has caught up: the pass continues.",
	]);
});

it("compare --watch compares again and again, each time other objects", async () => {
	writeTopics(400);
	const mapping = join(folder, "old.ts");
	writeFileSync(
		mapping,
		`import { migration } from "corkboard";
		export default migration(${JSON.stringify({ ...TOPICS, source: `file:${folder}` })});`,
	);
	const env = { CORKBOARD_DATA: join(folder, "data") };
	const ran = await command(["migrate", "run", mapping], {
		env,
		open: openCorkboard,
	});
	assert.equal(ran.code, 0, ran.err);
	const stop = new AbortController();
	const printed: string[] = [];
	const watching = command(
		["migrate", "compare", mapping, "--sample", "50", "--watch", "--json"],
		{
			env,
			open: openCorkboard,
			interruptSignal: () => stop.signal,
			stdout: (text) => printed.push(text),
		},
	);
	await until("four comparisons", () => printed.length >= 4).finally(() =>
		stop.abort("SIGINT"),
	);
	assert.equal((await watching).code, 0);
	const objects = printed.map((line) => JSON.parse(line).objects);
	for (const count of objects.slice(0, 4)) {
		assert.ok(count > 100 && count < 300, `${count}`);
	}
	assert.ok(new Set(objects).size > 1, `${objects}`);
});
