import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	checkAsked,
	checkPages,
	checkResponse,
	type Violation,
} from "./checks.ts";
import {
	type Board,
	LISTS,
	type ListField,
	Model,
	type Pin,
	type User,
} from "./model.ts";
import { checkNames } from "./names.ts";
import {
	BOUNDS,
	Freshness,
	type Operation,
	type Reading,
	Register,
} from "./register.ts";
import { Timeline } from "./timeline.ts";

const FOR_EVER = Number.POSITIVE_INFINITY;

/** A history that never happened, in the model, and what its checks say about readings of it. */
function history() {
	let time = 0;
	const timeline = new Timeline([0, 1], () => time);
	const model = new Model(new Freshness(timeline));
	const found: Violation[] = [];
	const operation = (
		outcome: Operation["outcome"] = "done",
		process = "0#1",
	): Operation => {
		time += 10;
		const write: Operation = {
			name: "write",
			objects: [],
			process,
			invokedAt: time,
			endedAt: outcome === "running" ? FOR_EVER : time + 5,
			outcome,
			detail: "a write",
		};
		time += 10;
		return write;
	};
	const existing = (create: Operation) => {
		const exists = new Register(false);
		exists.write(true, create);
		return exists;
	};
	let ids = 0;
	const user = (create = operation()): User => {
		const id = String(++ids);
		const one: User = {
			kind: "User",
			serial: `user-${id}`,
			create,
			id: null,
			exists: existing(create),
			token: "token",
			username: new Register(`name${id}`),
			name: new Register("n"),
			email: new Register<string | null>(null),
			active: new Register(true),
		};
		model.add(one);
		model.learn(one, id);
		return one;
	};
	const board = (owner: User): Board => {
		const create = operation();
		const id = String(++ids);
		const one: Board = {
			kind: "Board",
			serial: `board-${id}`,
			create,
			id: null,
			exists: existing(create),
			owner,
			name: new Register("old"),
			secret: new Register(false),
			order: [],
			positions: [],
		};
		model.add(one);
		model.edgeOfNew(one, "ownBoard", { from: owner.id as string });
		model.learn(one, id);
		return one;
	};
	const pin = (on: Board): Pin => {
		const create = operation();
		const id = String(++ids);
		const one: Pin = {
			kind: "Pin",
			serial: `pin-${id}`,
			create,
			id: null,
			exists: existing(create),
			owner: on.owner,
			board: new Register(on),
			details: new Register("d"),
			positions: [create],
		};
		model.add(one);
		model.edgeOfNew(one, "placePin", { from: on.id as string });
		model.learn(one, id);
		on.order.push(id);
		return one;
	};
	/** A reading of the next 10 ms, by a process. */
	const reading = (process = "0#1", after?: Operation): Reading => {
		const from = time + 1;
		time += 10;
		return { process, from, to: time, ...(after && { after }) };
	};
	const asked = (viewer: User | null, by: Reading) => ({
		viewer,
		reading: by,
		errors: [],
		report: (violation: Violation) => void found.push(violation),
	});
	return {
		model,
		timeline,
		operation,
		user,
		board,
		pin,
		reading,
		pass: (ms: number) => {
			time += ms;
		},
		shows: (viewer: User | null, data: unknown, by = reading()) => {
			checkResponse(model, data, asked(viewer, by));
			return kinds();
		},
		hides: (viewer: User | null, thing: User | Board | Pin, by = reading()) => {
			checkAsked(model, thing, null, ["node"], asked(viewer, by));
			return kinds();
		},
		pages: (on: Board, pages: readonly (readonly Pin[])[], isWhole = true) => {
			checkPages(
				model,
				LISTS["Board.pins"] as ListField,
				on.id as string,
				pages.map((pins) => ({
					keys: pins.map(({ id }) => id as string),
					reading: reading(),
				})),
				isWhole,
				asked(null, reading()),
			);
			return kinds();
		},
		names: (one: User) => {
			checkNames(model, one, (violation) => void found.push(violation));
			return kinds();
		},
	};
	function kinds(): readonly string[] {
		return found.splice(0).map(({ kind }) => kind);
	}
}

const boardJson = ({ id, owner }: Board, more: object = {}) => ({
	__typename: "Board",
	id,
	owner: { __typename: "User", id: owner.id },
	...more,
});

describe("the checks of the attack", () => {
	it("catch an old value, by the process that acknowledged the new one at once, by others after the bound", () => {
		const { user, board, operation, reading, shows, pass } = history();
		const one = board(user());
		pass(60_000);
		const write = operation("done", "0#1");
		one.name.write("new", write);
		const old = boardJson(one, { name: "old" });
		assert.deepEqual(shows(null, old, reading("0#1")), ["stale"]);
		assert.deepEqual(shows(null, old, reading("1#1")), []);
		assert.deepEqual(shows(null, old, reading("0#2")), []);
		pass(BOUNDS.quiet);
		assert.deepEqual(shows(null, old, reading("1#1")), ["stale"]);
		assert.deepEqual(
			shows(null, boardJson(one, { name: "new" }), reading("1#1")),
			[],
		);
	});

	it("catch what was hidden sooner than an old value", () => {
		const { user, board, operation, reading, shows, pass } = history();
		const one = board(user());
		pass(60_000);
		const write = { ...operation("done", "0#1"), hides: true };
		one.secret.write(true, write);
		const shown = boardJson(one);
		assert.deepEqual(shows(null, shown, reading("1#1")), []);
		pass(BOUNDS.hidden);
		assert.deepEqual(shows(null, shown, reading("1#1")), ["privacy"]);
	});

	it("allow an old value for longer while the fleet is impaired, but not for as long as that lasts", () => {
		const { user, board, operation, reading, shows, pass, timeline } =
			history();
		const one = board(user());
		pass(60_000);
		const fault = timeline.begin("cut redis for server 1", [1]);
		one.name.write("new", operation());
		const old = boardJson(one, { name: "old" });
		pass(BOUNDS.quiet + 1_000);
		assert.deepEqual(shows(null, old, reading("1#1")), []);
		pass(BOUNDS.delivery + BOUNDS.cached);
		assert.deepEqual(shows(null, old, reading("1#1")), ["stale"]);
		timeline.end(fault);
	});

	it("allow either value after a write of unknown outcome, for ever", () => {
		const { user, board, operation, reading, shows, pass } = history();
		const one = board(user());
		pass(60_000);
		one.name.write("maybe", operation("unknown"));
		one.name.write("new", operation());
		pass(60_000);
		for (const name of ["maybe", "new"]) {
			assert.deepEqual(
				shows(null, boardJson(one, { name }), reading("1#1")),
				[],
			);
		}
		assert.deepEqual(
			shows(null, boardJson(one, { name: "old" }), reading("1#1")),
			["stale"],
		);
	});

	it("catch a payload that is older than its mutation", () => {
		const { user, board, operation, reading, shows, pass } = history();
		const one = board(user());
		pass(60_000);
		const write = operation("done", "1#1");
		one.name.write("new", write);
		assert.deepEqual(
			shows(null, boardJson(one, { name: "old" }), reading("1#1", write)),
			["stale"],
		);
	});

	it("catch a value and an object that nobody wrote, also one whose create was refused", () => {
		const { user, board, operation, shows, pass } = history();
		const one = board(user());
		const refused = user(operation("refused"));
		pass(60_000);
		assert.deepEqual(shows(null, boardJson(one, { name: "other" })), [
			"invented",
		]);
		assert.deepEqual(
			shows(null, { __typename: "Board", id: "999", name: "x" }),
			["invented"],
		);
		assert.deepEqual(
			shows(null, { __typename: "User", id: refused.id, username: "name2" }),
			["invented"],
		);
	});

	it("catch a secret board and its pins before other viewers, and not before their owner", () => {
		const { user, board, pin, operation, shows, pass } = history();
		const owner = user();
		const other = user();
		const one = board(owner);
		const pinned = pin(one);
		pass(60_000);
		one.secret.write(true, operation());
		const pinJson = { __typename: "Pin", id: pinned.id };
		assert.deepEqual(shows(other, boardJson(one)), ["privacy"]);
		assert.deepEqual(shows(null, { nodes: [pinJson] }), ["privacy"]);
		assert.deepEqual(shows(owner, boardJson(one, { secret: true })), []);
	});

	it("catch what belongs to a user who blocks the viewer, or whose account is closed", () => {
		const { model, user, board, operation, shows, pass } = history();
		const owner = user();
		const other = user();
		const one = board(owner);
		pass(60_000);
		model
			.edge("blockUser", owner.id as string, other.id as string)
			.present.write(true, operation());
		pass(BOUNDS.quiet + 1);
		assert.deepEqual(shows(null, boardJson(one)), []);
		assert.deepEqual(shows(other, boardJson(one)), ["privacy", "privacy"]);
		owner.active.write(false, operation());
		assert.deepEqual(shows(null, { __typename: "User", id: owner.id }), [
			"privacy",
		]);
	});

	it("catch an object that is missing though all may see it", () => {
		const { user, board, operation, reading, hides, pass } = history();
		const one = board(user());
		assert.deepEqual(hides(null, one, reading("1#1")), []);
		pass(60_000);
		assert.deepEqual(hides(null, one, reading("1#1")), ["missing"]);
		one.exists.write(false, operation());
		assert.deepEqual(hides(null, one), []);
	});

	it("catch a list that lost an edge or its count", () => {
		const { user, board, shows, pass } = history();
		const owner = user();
		const one = board(owner);
		const two = board(owner);
		pass(60_000);
		const listed = (totalCount: number, boards: readonly Board[]) => ({
			__typename: "User",
			id: owner.id,
			boards: {
				totalCount,
				nodes: boards.map((each) => boardJson(each)),
				pageInfo: { hasNextPage: false, hasPreviousPage: false },
			},
		});
		assert.deepEqual(shows(null, listed(2, [two, one])), []);
		assert.deepEqual(shows(null, listed(2, [two])), ["missing"]);
		assert.deepEqual(shows(null, listed(1, [two, one])), ["count"]);
	});

	it("catch pages that repeat, skip or reorder what did not move", () => {
		const { user, board, pin, pages, pass, operation } = history();
		const one = board(user());
		const [a, b, c] = [pin(one), pin(one), pin(one)];
		pass(60_000);
		assert.deepEqual(pages(one, [[a, b], [c]]), []);
		assert.deepEqual(
			pages(one, [
				[a, b],
				[b, c],
			]),
			["duplicate"],
		);
		assert.deepEqual(pages(one, [[a], [c]]), ["missing"]);
		assert.deepEqual(pages(one, [[a, c], [b]]), ["order"]);
		assert.deepEqual(pages(one, [[a], [c]], false), []);
		b.positions.push(operation("running"));
		assert.deepEqual(
			pages(one, [
				[a, b],
				[b, c],
			]),
			[],
		);
	});

	it("catch one name of two users", () => {
		const { user, operation, names } = history();
		const one = user();
		const two = user();
		one.username.write("Wanted", operation());
		assert.deepEqual(names(one), []);
		const rename = operation("running");
		two.username.write("wanted", rename);
		assert.deepEqual(names(two), []);
		rename.outcome = "done";
		rename.endedAt = rename.invokedAt + 1;
		assert.deepEqual(names(two), ["name"]);
		one.username.write("away", operation("unknown"));
		assert.deepEqual(names(two), []);
	});
});
