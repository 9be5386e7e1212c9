import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { mock, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { guardMove } from "../../../src/fleet/move/guardMove.ts";
import { resumeMove } from "../../../src/fleet/move/redirect.ts";
import {
	listOperations,
	Operation,
	requireRecord,
} from "../../../src/fleet/operations/operations.ts";
import { isHeld } from "../../../src/fleet/operations/signOfLife.ts";
import { findUnwritten } from "../../../src/fleet/operations/unwritten.ts";
import { openFileStore } from "../../../src/topology/file/fileStore.ts";
import type {
	StoreChange,
	TopologyStore,
} from "../../../src/topology/store.ts";
import { memoryStore, storedTexts } from "../../helpers/memoryStore.ts";
import { command } from "../../helpers/runCommand.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { until } from "../../helpers/until.ts";

const ABOUT = { kind: "promote", from: "a:1", to: "b:1" } as const;
const HOST = { name: "a:1", url: "mysql://a:1", replica: null };
/** What the record of a move has. */
const MOVE = {
	list: "shards",
	from: HOST,
	to: HOST,
	waves: [],
	goal: "move",
	aim: "to",
	keepsWay: true,
	skipsRehearsal: false,
};
/** A look that ends before the next sign of life. */
const SHORT = { holderMs: 60, lookMs: 20 };

test("an operation has a sign of life from its first moment, in the same write as its record", async () => {
	const written: (readonly StoreChange[])[] = [];
	const memory = memoryStore();
	const store: TopologyStore = {
		...memory,
		async write(changes) {
			written.push(changes);
			await memory.write(changes);
		},
	};
	await using operation = await Operation.begin(store, ABOUT);
	const { id } = operation.record;
	const paths = (written[0] ?? []).map(({ path }) => path);
	assert.ok(paths.includes(`operations/${id}`), paths.join());
	assert.ok(paths.includes(`heartbeats/${id}`), paths.join());
});

test("who runs an operation is not judged by clocks: an hour between two of them changes nothing", async () => {
	const stored = storedTexts();
	await using operation = await Operation.begin(memoryStore(stored), ABOUT);
	const { id } = operation.record;
	const other = memoryStore(stored);
	for (const hours of [-1, 1]) {
		const now = Date.now;
		const clock = mock.method(Date, "now", () => now() + hours * 3_600_000);
		try {
			assert.equal(await isHeld(other, id), true, `${hours} h`);
		} finally {
			clock.mock.restore();
		}
	}
	await assert.rejects(Operation.takeOver(other, id), {
		code: "CONFLICT",
		message: /is still run by .*3 s after that has ended/,
	});
});

test("an operation whose holder gives no sign of life is taken over by one of several, and the loser says by whom", async () => {
	const stored = storedTexts();
	const store = memoryStore(stored);
	await using first = await Operation.begin(store, ABOUT);
	const { id } = first.record;
	const tries = await Promise.allSettled(
		[1, 2, 3].map(() => Operation.tryTakeOver(memoryStore(stored), id, SHORT)),
	);
	const taken = tries.flatMap((each) =>
		each.status === "fulfilled" && each.value !== null ? [each.value] : [],
	);
	assert.equal(taken.length, 1);
	const [now] = await listOperations(store);
	assert.notEqual(now?.holder, first.record.holder);
	const taker = now?.holder ?? "";
	for (const lost of [
		() => first.save({ step: "fencing" }),
		() => first.requireHeld(),
		() => first.end("done", "over"),
	]) {
		await assert.rejects(lost, {
			code: "CONFLICT",
			message: `${taker} has taken ${id} over.`,
		});
	}
	// It ends, and leaves the sign of life of the other where it is.
	await first[Symbol.asyncDispose]();
	assert.ok((await store.get(`heartbeats/${id}`))?.text.startsWith(taker));
	for (const each of taken) await each[Symbol.asyncDispose]();
});

test("a promotion of a dead primary takes its hosts from a move, which goes on after it; one of a primary that lives waits", async () => {
	const store = memoryStore();
	const [from, to] = ["a:1", "b:1"];
	await using move = await Operation.begin(store, {
		kind: "move",
		from,
		to: "c:1",
		alsoLocks: [to, "d:1"],
		move: MOVE,
	});
	const { id } = move.record;
	await assert.rejects(Operation.begin(store, { kind: "promote", from, to }), {
		code: "CONFLICT",
		message: new RegExp(`a:1 is locked by ${id}\\. Wait for its end`),
	});
	const dead = { kind: "promote --dead", from, to } as const;
	await using promotion = await Operation.begin(store, dead);
	const taken = {
		code: "CONFLICT",
		message: `${promotion.record.holder} has taken ${id} over.`,
	};
	await assert.rejects(move.requireHeld(), taken);
	await assert.rejects(move.save({ step: "cutting over" }), taken);
	await assert.rejects(
		Operation.begin(store, dead),
		/a:1 is locked by promote/,
	);

	// Nobody waits for its signs of life, but for the promotion.
	await using next = await Operation.takeOver(store, id);
	assert.match(next.record.log.join(), /promote-.* has taken its hosts/);
	await assert.rejects(next.keepLocks(), /a:1 is locked by promote/);
	await promotion.end("done", "over");
	await next.keepLocks();
	assert.equal((await store.list("locks")).length, 4);
	await next.end("done", "over");
	assert.deepEqual(await store.list("locks"), []);
});

test("a sign of life between the look and the take-over is one in time", async () => {
	const memory = memoryStore();
	await using first = await Operation.begin(memory, ABOUT);
	const { id, holder } = first.record;
	const path = `heartbeats/${id}`;
	const store: TopologyStore = {
		...memory,
		async write(changes) {
			const found = await memory.get(path);
			const revision = found?.revision ?? null;
			await memory.write([{ path, revision, text: `${holder} once more` }]);
			await memory.write(changes);
		},
	};
	assert.equal(await Operation.tryTakeOver(store, id, SHORT), null);
	await first.requireHeld();
});

test("a store that was paused while somebody looked proves nothing against the holder", async () => {
	const memory = memoryStore();
	await using first = await Operation.begin(memory, ABOUT);
	const { id } = first.record;
	let looks = 0;
	let clock = performance.now();
	const stalled = mock.method(performance, "now", () => clock);
	try {
		const store = {
			async get(path: string) {
				looks++;
				// Five seconds without an answer, and then the same as before.
				clock += looks === 2 ? 5_000 : 20;
				return { text: path, revision: "same" };
			},
		};
		assert.equal(await isHeld(store, id, SHORT), false);
	} finally {
		stalled.mock.restore();
	}
	assert.ok(looks > 3, `it looked ${looks} times`);
});

test("the guard of a move stays until its runner has opened it and is done, or has ended", async () => {
	const store = memoryStore();
	await using operation = await Operation.begin(store, {
		...ABOUT,
		kind: "move",
		move: MOVE,
	});
	const { id } = operation.record;
	// As before `moves reverse`.
	await operation.end("way open", "all waves are over");
	let isOrphaned = false;
	const guard = () => {
		const stopping = new AbortController();
		let isOver = false;
		const options = {
			store,
			environment: {},
			isRunner: (holder: string) => holder === operation.record.holder,
			isOrphaned: () => isOrphaned,
			signal: stopping.signal,
		};
		const guarding = guardMove(options, id).finally(() => {
			isOver = true;
		});
		return { guarding, isOver: () => isOver };
	};
	const first = guard();
	await sleep(300);
	assert.equal(first.isOver(), false, "it is about to be opened again");
	await operation.save({ step: "moving" });
	await sleep(300);
	await operation.save({ step: "way open" });
	assert.equal(await first.guarding, false);

	await operation.save({ step: "moving" });
	const third = guard();
	await sleep(300);
	assert.equal(third.isOver(), false);
	isOrphaned = true;
	assert.equal(await third.guarding, false);

	isOrphaned = false;
	const fourth = guard();
	await sleep(300);
	await operation.save({ step: "lifting" });
	await using other = await Operation.takeOver(store, id, {
		holderMs: 0,
		lookMs: 0,
	});
	isOrphaned = true;
	assert.equal(await fourth.guarding, false);
	await other.requireHeld();

	// One that was begun for somebody who never had it, as by a second resume.
	assert.equal(await guard().guarding, false);
	await other.requireHeld();

	const gone = mock.method(store, "get", async () => null);
	await assert.rejects(guard().guarding, { code: "NOT_FOUND" });
	gone.mock.restore();
});

test("a move that a guard lifts the fences of is resumed when it has", async () => {
	const store = memoryStore();
	await using guard = await Operation.begin(store, {
		...ABOUT,
		kind: "move",
		move: MOVE,
	});
	const { id } = guard.record;
	await guard.save({ step: "lifting" });
	let isOver = false;
	const resuming = resumeMove({ store, environment: {} }, id);
	void resuming.finally(() => {
		isOver = true;
	});
	await sleep(1_500);
	assert.equal(isOver, false, "it waits for the guard");
	await guard.save({ step: "moving" });
	assert.equal((await resuming).step, "moving");
	await guard.requireHeld();
});

test("what is no id of an operation is refused in a sentence", async () => {
	const store = memoryStore();
	for (const id of ["../x", "a b", "", ".", "operations/x", "x\n"]) {
		await assert.rejects(requireRecord(store, id), {
			code: "NOT_FOUND",
			message: /is no id of an operation/,
		});
		await assert.rejects(Operation.takeOver(store, id), { code: "NOT_FOUND" });
	}
	await assert.rejects(requireRecord(store, "nothing"), {
		code: "NOT_FOUND",
		message: "There is no operation nothing.",
	});
});

/** Records that a later version, or a hand, may have written. */
const UNKNOWN: readonly (readonly [
	what: string,
	patch: Readonly<Record<string, unknown>>,
	reason: RegExp,
])[] = [
	["of a later format", { format: 2 }, /format 2, of a later version/],
	["of another kind", { kind: "split shard" }, /the kind "split shard"/],
	["with another step", { step: "merging" }, /step: /],
	["without hosts", { from: undefined }, /from: /],
	["of a move without facts", { kind: "move" }, /move: /],
	["with the loss of another shape", { loss: { gtids: 3 } }, /loss\.gtids: /],
	["under another id", { id: "promote-1" }, /another id than its own/],
];

for (const [what, patch, reason] of UNKNOWN) {
	test(`a record ${what} is left alone by all commands that could change it, and said`, async () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "topology.json");
		const range = [0, 0];
		const primary = "mysql://u:p@127.0.0.1:1";
		const shards = [{ range, primary, open: true }];
		const lookups = [{ range, primary }];
		writeFileSync(file, JSON.stringify({ version: 1, shards, lookups }));
		await using store = openFileStore(file);
		let id = "";
		{
			// Its holder has left, so that an operator would go on with it.
			await using operation = await Operation.begin(store, ABOUT);
			({ id } = operation.record);
		}
		const path = `operations/${id}`;
		const found = await store.get(path);
		const text = JSON.stringify({ ...JSON.parse(found?.text ?? ""), ...patch });
		await store.write([{ path, revision: found?.revision ?? null, text }]);

		const refused = { code: "CONFLICT", message: reason };
		await assert.rejects(requireRecord(store, id), refused);
		await assert.rejects(Operation.takeOver(store, id, SHORT), refused);
		// It keeps its hosts, also from a promotion of a dead primary.
		for (const kind of ["replica remove", "promote --dead"] as const) {
			await assert.rejects(Operation.begin(store, { ...ABOUT, kind }), {
				code: "CONFLICT",
				message:
					/is locked by .* does not know .*Use the version that began it/,
			});
		}
		const env = { CORKBOARD_TOPOLOGY: file };
		const listed = await command(["operations", "list"], { env });
		assert.equal(listed.code, 1);
		assert.match(listed.out, reason);
		assert.doesNotMatch(listed.out, /no operation is under way/);
		const ending = new AbortController();
		let said = "";
		const operator = command(["controller"], {
			env,
			interruptSignal: () => ending.signal,
			stderr: (line) => {
				said += `${line}\n`;
			},
		});
		await until("it is said", () => reason.test(said));
		ending.abort("SIGINT");
		await operator;
		assert.equal(said.match(new RegExp(reason, "g"))?.length, 1);
		assert.equal((await store.get(path))?.text, text);
	});
}

test("operator with half of what a guard needs watches nothing", async () => {
	for (const half of [
		["--guard", "move-20261128-0000"],
		["--runner", "1"],
	]) {
		const { code, err } = await command(["controller", ...half], {
			env: { CORKBOARD_TOPOLOGY: "/nowhere/topology.json" },
		});
		assert.equal(code, 2);
		assert.match(err, /--guard and --runner belong together/);
	}
});

test("operator settles an operation although another cannot be completed", async () => {
	using folder = temporaryFolder();
	const file = join(folder.path, "topology.json");
	// Nothing listens there.
	const [primary, replica] = ["127.0.0.1:1", "127.0.0.1:2"] as const;
	const hosts = {
		primary: `mysql://u:p@${primary}`,
		replica: `mysql://u:p@${replica}`,
	};
	writeFileSync(
		file,
		JSON.stringify({
			version: 1,
			shards: [{ range: [0, 0], ...hosts, open: true }],
			lookups: [{ range: [0, 0], ...hosts }],
		}),
	);
	await using store = openFileStore(file);
	{
		// No map names its hosts.
		await using stuck = await Operation.begin(store, ABOUT);
		await stuck.save({ step: "fencing" });
		const about = { from: primary, to: replica };
		await using _ = await Operation.begin(store, {
			kind: "replica remove",
			...about,
		});
	}
	const ending = new AbortController();
	const operator = command(["controller"], {
		env: { CORKBOARD_TOPOLOGY: file },
		interruptSignal: () => ending.signal,
	});
	try {
		await until("the other is done", async () => {
			const records = await listOperations(store);
			return records.some(
				({ kind, step }) => kind === "replica remove" && step === "done",
			);
		});
	} finally {
		ending.abort("SIGINT");
	}
	const { code, err } = await operator;
	assert.equal(code, 130);
	assert.match(err, /The topology names no primary a:1/);
});

test("a primary that does not answer and was promoted is not believed to have taken no write, whatever is said of it", async () => {
	const store = memoryStore();
	const name = "127.0.0.1:1";
	const look = () =>
		findUnwritten({ store, environment: {}, stated: [name], askMs: 100 }, [
			{ name, url: `mysql://u:p@${name}`, databases: ["db00000"] },
		]);
	assert.deepEqual([...(await look()).names], [name]);
	{
		await using operation = await Operation.begin(store, {
			...ABOUT,
			to: name,
		});
		await operation.end("done", "over");
	}
	const { names, reasons } = await look();
	assert.deepEqual([...names], []);
	assert.match(reasons.join(), /knows it as a server of the fleet/);
});
