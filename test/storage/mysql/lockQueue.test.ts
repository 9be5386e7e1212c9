import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { LockQueue } from "../../../src/storage/mysql/transactions/lockQueue.ts";

interface Group {
	readonly jobs: readonly string[];
	readonly end: (done?: number) => Promise<void>;
}

/** A queue whose groups end when the test says so. */
function queue(options: { together?: number; waiting?: number } = {}) {
	const groups: Group[] = [];
	const lists = new LockQueue<string>({
		run: (jobs) => {
			const { promise, resolve } = Promise.withResolvers<number>();
			const end = async (done = jobs.length) => {
				resolve(done);
				await turn();
			};
			groups.push({ jobs, end });
			return promise;
		},
		maxTogether: options.together ?? 200,
		maxWaiting: options.waiting ?? 100,
		soon: (start, entry) => start(entry),
	});
	return {
		groups,
		started: () => groups.map(({ jobs }) => jobs.join(" ")),
		add: (job: string, on: string, together = true) =>
			lists.add(job, on === "" ? [] : on.split(" "), together),
	};
}

const turn = () => new Promise<void>((done) => setImmediate(done));

describe("the queue of locked rows", () => {
	test("jobs of different rows, and of none, run side by side", () => {
		const { add, started } = queue();
		add("a", "x");
		add("b", "y");
		add("c", "");
		add("d", "");
		assert.deepEqual(started(), ["a", "b", "c", "d"]);
	});

	test("jobs that come in one turn run together", async () => {
		const groups: (readonly string[])[] = [];
		const lists = new LockQueue<string>({
			run: async (jobs) => {
				groups.push(jobs);
				return jobs.length;
			},
			maxTogether: 200,
			maxWaiting: 100,
		});
		for (const job of ["a", "b", "c"]) lists.add(job, ["x"], true);
		await turn();
		assert.deepEqual(groups, [["a", "b", "c"]]);
	});

	test("jobs that arrive while one runs on their row run together after it, in their order", async () => {
		const { add, groups, started } = queue();
		for (const job of ["a", "b", "c", "d"]) add(job, "x");
		assert.deepEqual(started(), ["a"]);
		await groups[0]?.end();
		assert.deepEqual(started(), ["a", "b c d"]);
		add("e", "x");
		await groups[1]?.end();
		assert.deepEqual(started(), ["a", "b c d", "e"]);
	});

	test("an exclusive job runs alone, between the jobs before and after it", async () => {
		const { add, groups, started } = queue();
		add("a", "x");
		add("b", "x");
		add("c", "x", false);
		add("d", "x");
		add("e", "x");
		for (let n = 0; n < 4; n += 1) await groups[n]?.end();
		assert.deepEqual(started(), ["a", "b", "c", "d e"]);
	});

	test("a job on two rows waits for both, and later jobs wait for it", async () => {
		const { add, groups, started } = queue();
		add("a", "x");
		add("b", "y");
		add("c", "x y");
		add("d", "y");
		add("e", "z");
		assert.deepEqual(started(), ["a", "b", "e"]);
		await groups[1]?.end();
		assert.deepEqual(started(), ["a", "b", "e"]);
		await groups[0]?.end();
		assert.deepEqual(started(), ["a", "b", "e", "c"]);
		await groups[3]?.end();
		assert.deepEqual(started(), ["a", "b", "e", "c", "d"]);
	});

	test("a job of further rows joins the group of its first row, unless another job is before it on one of them", async () => {
		const { add, groups, started } = queue();
		add("a", "x");
		add("b", "o");
		for (const job of ["c", "d"]) add(job, "x");
		add("e", "x p");
		add("f", "x o");
		add("g", "x");
		assert.deepEqual(started(), ["a", "b"]);
		await groups[0]?.end();
		assert.deepEqual(started(), ["a", "b", "c d e"]);
		await groups[2]?.end();
		assert.deepEqual(started(), ["a", "b", "c d e"]);
		await groups[1]?.end();
		assert.deepEqual(started(), ["a", "b", "c d e", "f g"]);
	});

	test("jobs that a group did not run stay first in the queue", async () => {
		const { add, groups, started } = queue();
		for (const job of ["a", "b", "c", "d"]) add(job, "x");
		await groups[0]?.end();
		add("e", "x");
		await groups[1]?.end(1);
		assert.deepEqual(started(), ["a", "b c d", "c d e"]);
	});

	test("the size of a group and the length of the queue are limited", async () => {
		const { add, groups, started } = queue({ together: 2, waiting: 4 });
		assert.deepEqual(
			["a", "b", "c", "d", "e"].map((job) => add(job, "x")),
			[true, true, true, true, false],
		);
		await groups[0]?.end();
		assert.deepEqual(started(), ["a", "b c"]);
		assert.equal(add("f", "y"), true);
		assert.equal(add("g", "y"), false);
	});

	test("in any interleaving each job runs once, in order, and never two at a time on one row", async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(
					fc.record({
						on: fc.subarray(["x", "y", "z"]),
						together: fc.boolean(),
						ends: fc.nat(2),
						part: fc.integer({ min: 1, max: 3 }),
					}),
					{ maxLength: 30 },
				),
				async (steps) => {
					const { add, groups } = queue();
					const lists = new Map<string, readonly string[]>();
					const open = new Set<Group>();
					const order = new Map<string, string[]>();
					let seen = 0;
					const look = () => {
						for (const group of groups.slice(seen)) open.add(group);
						seen = groups.length;
						const busy = [...open].flatMap(({ jobs }) => [
							...new Set(jobs.flatMap((job) => lists.get(job) ?? [])),
						]);
						assert.equal(new Set(busy).size, busy.length);
					};
					const end = async (part: number) => {
						const [group] = open;
						if (group === undefined) return;
						open.delete(group);
						const done = Math.min(part, group.jobs.length);
						for (const job of group.jobs.slice(0, done)) {
							for (const list of lists.get(job) ?? []) {
								order.set(list, [...(order.get(list) ?? []), job]);
							}
						}
						await group.end(done);
						look();
					};
					for (const [n, { on, together, ends, part }] of steps.entries()) {
						lists.set(`${n}`, on);
						add(`${n}`, on.join(" "), together);
						look();
						for (let times = 0; times < ends; times += 1) await end(part);
					}
					while (open.size > 0) await end(2);
					for (const list of ["x", "y", "z"]) {
						assert.deepEqual(
							order.get(list) ?? [],
							[...lists.keys()].filter((job) => lists.get(job)?.includes(list)),
						);
					}
				},
			),
		);
	});
});
