import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { BadRows } from "../../../src/ops/migrate/badRows.ts";
import { planMigration } from "../../../src/ops/migrate/plan.ts";
import { runPass } from "../../../src/ops/migrate/runPass.ts";
import { openFileSource } from "../../../src/ops/migrate/sources/fileSource.ts";
import {
	EMPTY_STATE,
	type MigrationState,
} from "../../../src/ops/migrate/state.ts";
import { openEmbedded } from "../../helpers/embedded.ts";
import { theFieldReaders, theModel } from "../../helpers/model.ts";

const ROWS = 5_000;

it("a pass that dies goes on at the next row, and one that would delete most of the graph is refused", async () => {
	const folder = mkdtempSync(join(tmpdir(), "migrate-"));
	await using graph = await openEmbedded();
	try {
		const file = join(folder, "topics.csv");
		const lines = Array.from(
			{ length: ROWS },
			(_, n) => `${n},t${n},Topic ${n}`,
		);
		const write = (count: number) =>
			writeFileSync(
				file,
				["id,slug,name", ...lines.slice(0, count)].join("\n"),
			);
		write(ROWS);
		const badFile = join(folder, "bad.ndjson");
		const badKeys = () => new BadRows(badFile).read().map(({ key }) => key);
		const isTaken = [
			{ key: "Interest:1", reason: "taken" },
			{ key: "Pin:1", reason: "gone" },
		];
		new BadRows(badFile).add(isTaken);
		const source = await openFileSource(folder);
		const { model, domain } = theModel();
		const fields = theFieldReaders();
		const plans = planMigration(
			{
				source: "",
				types: {
					Interest: {
						table: "topics",
						key: "id",
						fields: { slug: "slug", name: "name" },
					},
				},
			},
			{ model, fields },
			source,
			domain,
		);
		let state: MigrationState = EMPTY_STATE;
		const pass = (saveState: (next: MigrationState) => void) =>
			runPass(graph.store, {
				plans,
				source,
				fields,
				state,
				saveState,
				onlyChanged: false,
				deleteMany: false,
				writing: {},
				badRows: new BadRows(badFile),
			});
		let saves = 0;
		const death = pass((next) => {
			if (++saves === 2) throw new Error("killed");
			state = next;
		});
		await assert.rejects(death, /killed/);
		assert.ok(state.position);
		// Somebody may follow the log now.
		assert.deepEqual(badKeys(), ["Interest:1", "Pin:1"]);
		const first = state.position.lines;
		const keep = (next: MigrationState) => {
			state = next;
		};
		const second = await pass(keep);
		// What was written after the last save is found.
		assert.equal(second.rows, ROWS);
		assert.ok(second.made >= first && second.made < ROWS, `${second.made}`);
		assert.equal(second.made + second.unchanged, ROWS);
		assert.equal(state.passes.length, 1);
		assert.deepEqual(badKeys(), ["Pin:1"]);
		// One that dies as it has ended leaves no row bad that is not.
		new BadRows(badFile).add([{ key: "Interest:2", reason: "taken" }]);
		const dies = pass((next) => {
			state = next;
			if (next.passes.at(-1)?.isFinished) throw new Error("killed");
		});
		await assert.rejects(dies, /killed/);
		assert.equal(state.passes.at(-1)?.isFinished, true);
		assert.deepEqual(badKeys(), ["Pin:1"]);
		write(10);
		await assert.rejects(pass(keep), /are gone in .*: nothing was deleted/);
	} finally {
		rmSync(folder, { recursive: true, force: true });
	}
});
