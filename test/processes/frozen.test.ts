import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { verify } from "../../src/ops/verify/verify.ts";
import { idOf } from "../helpers/importedGraph.ts";
import { importAll } from "../helpers/importing.ts";
import { untilWritten } from "../helpers/untilWritten.ts";
import { type Fleet, openProcess, type Process, startFleet } from "./fleet.ts";
import { startFrozenImport } from "./importChild.ts";
import { startRemote } from "./remote.ts";
import { makeUser } from "./subjects.ts";

let fleet: Fleet;
let other: Process;
before(async () => {
	fleet = await startFleet();
	other = await openProcess(fleet.addresses);
});
after(async () => {
	await other[Symbol.asyncDispose]();
	await fleet[Symbol.asyncDispose]();
});

/** With the time limits of a real process. docs/consistency.md "2. Writes and the outbox". */
describe("a process that is frozen (SIGSTOP) with its rows locked, before COMMIT", () => {
	it("keeps others from writing the list for seconds, and from nothing else; its own write did not happen, and nothing is left to repair", async () => {
		const attempts: boolean[] = [];
		while (attempts.at(-1) !== true) {
			assert.ok(
				attempts.length < ATTEMPTS,
				"others are written while the list is locked",
			);
			attempts.push(await othersAreWrittenMeanwhile(attempts.length));
		}
		const { damage } = await verify(other.store, {});
		assert.deepEqual(damage, []);
	});
});

/** If the cores are so busy that the lock ends before anybody else got to write, an attempt proves nothing. */
const ATTEMPTS = 5;

/** Freezes a process with its list locked; whether others were written before the lock ended. */
async function othersAreWrittenMeanwhile(attempt: number): Promise<boolean> {
	await using frozen = await startRemote({
		addresses: fleet.addresses,
		as: "ours",
		channel: false,
	});
	const [user, first, second, apart, third] = await Promise.all(
		["user", "first", "second", "apart", "third"].map((name) =>
			makeUser(other, `${name}_${attempt}`, 0),
		),
	);
	assert.ok(user && first && second && apart && third);
	const followUser = other.mapping("followUser");
	const stopped = frozen.send({ do: "freeze" });
	const edge = { mapping: "followUser", from: user, present: true } as const;
	const outcome = frozen.send({ do: "edge", ...edge, to: first }).then(
		() => "written",
		(error: Error) => error.message,
	);
	await stopped;

	let isWritten = false;
	const writing = untilWritten(() =>
		other.writes.setEdge(followUser, user, second, true),
	).finally(() => {
		isWritten = true;
	});
	await untilWritten(() =>
		other.writes.modify(apart, (data) => ({ ...data, name: "new" })),
	);
	await untilWritten(() =>
		other.writes.setEdge(followUser, apart, third, true),
	);
	const wasLocked = !isWritten;
	await writing;

	frozen.thaw();
	const head = async () => {
		const found = await other.head("followUser", user);
		return [found.count, found.slice().map(({ to }) => to)];
	};
	if ((await outcome) === "written") {
		// After the other one: in the order of the locks.
		assert.deepEqual(await head(), [2, [first, second]]);
		return false;
	}
	assert.match(await outcome, /Shard 0 does not answer at the moment/);
	assert.deepEqual(await head(), [1, [second]]);
	return wasLocked;
}

/** docs/consistency.md "7. Import". */
describe("an import that is frozen (SIGSTOP)", () => {
	const PINS = 5;

	for (const at of ["existing objects read", "pins decided"] as const) {
		it(`with its ${at} keeps no locks for long, and creates nothing twice when it continues after another import`, async () => {
			const username = at.replaceAll(" ", "_");
			const parents = [
				{ type: "User", key: `u:${at}`, fields: { name: "U", username } },
				{
					type: "Board",
					key: `b:${at}`,
					fields: { owner: `u:${at}`, name: "B" },
				},
			];
			const lines = [
				...parents,
				...Array.from({ length: PINS }, (_, n) => ({
					type: "Pin",
					key: `p:${at}:${n}`,
					fields: { board: `b:${at}`, details: `${n}` },
				})),
			];
			// Interrupted after the board: the pins are what the frozen one creates.
			const first = await importAll(other, [...parents, "bad"], {
				strict: true,
			});
			assert.equal(first.report.status, "stopped");
			const boardId = await idOf(other, `b:${at}`);
			const userId = await idOf(other, `u:${at}`);
			assert.ok(boardId && userId);
			await using frozen = await startFrozenImport({
				addresses: fleet.addresses,
				lines,
				at,
			});
			await untilWritten(() =>
				other.make("Pin", {
					details: "by a user",
					board_id: boardId,
					user_id: userId,
				}),
			);
			await untilWritten(() => importAll(other, lines));
			frozen.send("SIGCONT");
			const [, outcome] = await frozen.printed("out", /outcome: (.*)\n/);
			const head = await other.head("placePin", boardId);
			assert.equal(head.count, PINS + 1);
			assert.equal(outcome, "UNAVAILABLE");
			const { damage } = await verify(other.store);
			assert.deepEqual(damage, []);
		});
	}
});
