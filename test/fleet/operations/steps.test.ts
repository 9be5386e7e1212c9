import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import {
	beginOperation,
	listOperations,
	Operation,
} from "../../../src/fleet/operations/operations.ts";
import {
	type OperationPlan,
	runSteps,
	type Step,
	type StepOutcome,
	undoSteps,
} from "../../../src/fleet/operations/steps.ts";
import type { TopologyStore } from "../../../src/topology/store.ts";
import { memoryStore } from "../../helpers/memoryStore.ts";

/** A server that is fenced, and then writable; and what was done to it. */
class World {
	readonly did: string[] = [];
	readonly said: string[] = [];
	/** After which the process ends. */
	killedAfter: string | null = null;
	/** What a step fails with, or gives up with. */
	outcome: StepOutcome | Error = undefined;
	undoFails = false;

	planOf(operation: Operation): OperationPlan<string> {
		const does = (name: string) => async () => {
			this.did.push(name);
			return undefined;
		};
		const steps: readonly Step[] = [
			{
				name: "begun",
				during: ["locked", "fencing"],
				changesServers: false,
				does: async () => {
					if (operation.record.step === "locked") {
						await operation.save({ step: "fencing" });
					}
					return undefined;
				},
			},
			{
				name: "fenced",
				during: ["fencing"],
				changesServers: true,
				does: does("fence"),
				undoes: [
					async () => {
						if (this.undoFails) {
							throw new CorkboardError("UNAVAILABLE", "It is away.");
						}
						this.did.push("unfence");
						return null;
					},
					async () => "it holds a copy",
				],
			},
			{
				name: "caught up",
				during: ["fencing"],
				changesServers: false,
				does: async () => {
					if (this.outcome instanceof Error) throw this.outcome;
					return this.outcome;
				},
			},
			{
				name: "published",
				during: ["fencing"],
				changesServers: false,
				does: async () => {
					await operation.save({ step: "published", version: 2 });
					return undefined;
				},
			},
			{
				name: "attached",
				during: ["published"],
				changesServers: true,
				does: does("attach"),
			},
		];
		return {
			operation,
			steps,
			undoesFailures: true,
			say: async (what) => {
				this.said.push(what);
				if (what === this.killedAfter) throw new RangeError("killed");
			},
			describeDone: (done) => done.map(({ name }) => name).join(", "),
			describeUndone: (left) => ["all undone", ...left].join("; "),
			result: () => operation.record.step,
			[Symbol.asyncDispose]: async () => {},
		};
	}

	begin(store: TopologyStore): Promise<string> {
		return beginOperation(
			{ store },
			{ kind: "promote", from: "a:3306", to: "b:3306" },
			[],
			(operation) => runSteps(this.planOf(operation)),
		);
	}

	/** In another process, as the first is gone. */
	async resume(
		store: TopologyStore,
		run: (plan: OperationPlan<string>) => Promise<unknown> = runSteps,
	): Promise<unknown> {
		const { id } = await last(store);
		await using operation = await Operation.takeOver(store, id, {
			holderMs: 0,
			lookMs: 0,
		});
		return await run(this.planOf(operation));
	}
}

async function last(store: TopologyStore) {
	const record = (await listOperations(store)).at(-1);
	assert.ok(record);
	return record;
}

describe("an operation as a list of steps", () => {
	it("is done, and says each step", async () => {
		await using store = memoryStore();
		const world = new World();
		assert.equal(await world.begin(store), "done");
		assert.deepEqual(world.did, ["fence", "attach"]);
		assert.deepEqual(world.said, [
			...["begun", "fenced", "caught up", "published", "attached"],
		]);
		assert.match((await last(store)).log.at(-1) ?? "", /begun, fenced/);
		assert.deepEqual(await store.list("locks"), []);
	});

	for (const step of ["begun", "fenced", "caught up"]) {
		it(`whose process dies after ${step} is continued by another, or undone`, async () => {
			for (const isUndone of [false, true]) {
				await using store = memoryStore();
				const world = new World();
				world.killedAfter = step;
				await assert.rejects(world.begin(store), RangeError);
				world.killedAfter = null;
				if (isUndone) {
					await world.resume(store, (plan) => undoSteps(plan, "aborted"));
				} else await world.resume(store);
				const { step: end } = await last(store);
				assert.equal(end, isUndone ? "rolled back" : "done");
				assert.equal(world.did.at(-1), isUndone ? "unfence" : "attach");
			}
		});
	}

	it("whose process dies after the publication does nothing twice that came before it", async () => {
		await using store = memoryStore();
		const world = new World();
		world.killedAfter = "published";
		await assert.rejects(world.begin(store), RangeError);
		world.killedAfter = null;
		assert.equal(await world.resume(store), "done");
		assert.deepEqual(world.did, ["fence", "attach"]);
	});

	it("that fails before the publication is undone at once, and says so", async () => {
		await using store = memoryStore();
		const world = new World();
		world.outcome = new CorkboardError("UNAVAILABLE", "It is too slow.");
		await assert.rejects(world.begin(store), {
			message: "It is too slow. So it was rolled back: a:3306 is the primary.",
		});
		assert.deepEqual(world.did, ["fence", "unfence"]);
		assert.match(
			(await last(store)).log.at(-1) ?? "",
			/all undone; it holds a copy$/,
		);
	});

	it("that gives up is undone, with an error or without one", async () => {
		for (const error of [null, new CorkboardError("CONFLICT", "Refused.")]) {
			await using store = memoryStore();
			const world = new World();
			world.outcome = { why: "it must not be", error };
			const ran = world.begin(store);
			if (error === null) assert.equal(await ran, "rolled back");
			else await assert.rejects(ran, { message: "Refused." });
			assert.deepEqual(world.did, ["fence", "unfence"]);
			assert.match(
				(await last(store)).log.at(-2) ?? "",
				/rolling back: it must not be/,
			);
		}
	});

	it("that cannot be undone stays half done until somebody leaves it so", async () => {
		await using store = memoryStore();
		const world = new World();
		world.undoFails = true;
		world.outcome = { why: "it must not be", error: null };
		await assert.rejects(world.begin(store), /It is away\./);
		assert.equal((await last(store)).step, "rolling back");
		await assert.rejects(world.resume(store), /operations abort .* --leave/);
		const left = await world.resume(store, (plan) =>
			undoSteps(plan, "aborted", { isLeaving: true }),
		);
		assert.deepEqual(left, ["It is away."]);
		assert.match(
			(await last(store)).log.at(-1) ?? "",
			/not undone: It is away\. it holds a copy$/,
		);
	});

	it("changes no server once another process has taken it over", async () => {
		await using store = memoryStore();
		const world = new World();
		const ran = beginOperation(
			{ store },
			{ kind: "promote", from: "a:3306", to: "b:3306" },
			[],
			async (operation) => {
				const { id } = operation.record;
				await using _ = await Operation.takeOver(store, id, {
					holderMs: 0,
					lookMs: 0,
				});
				return await runSteps(world.planOf(operation));
			},
		);
		await assert.rejects(ran, /has taken .* over/);
		assert.deepEqual(world.did, []);
	});
});
