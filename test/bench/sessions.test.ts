import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	type Answers,
	type BoardPin,
	READERS,
} from "../../bench/sessions/answers.ts";
import type { Kind } from "../../bench/sessions/documents.ts";
import { Checks, Expectations } from "../../bench/sessions/expectations.ts";
import { readHabits } from "../../bench/sessions/habits.ts";
import type { Person } from "../../bench/sessions/messages.ts";
import { peopleGraph } from "../../bench/sessions/peopleGraph.ts";
import { type Ask, Session } from "../../bench/sessions/session.ts";
import { seededRandom } from "../../src/util/random.ts";

const PINS = 60;
const PAGE = 25;

/** An app with one user, whose one board is scrolled; it may lose what was written, or repeat pins. */
class App {
	readonly #fault: "none" | "loses" | "repeats";
	readonly #pins: BoardPin[] = Array.from({ length: PINS }, (_, n) => ({
		id: `pin${n}`,
		details: `Pin ${n}`,
		viewerLikes: false,
		likes: 0,
	}));
	#isFollowed = false;

	constructor(fault: "none" | "loses" | "repeats") {
		this.#fault = fault;
	}

	answer({ kind, id, after }: Ask): Answers[Kind] {
		const owner = { id: "other", username: "other" };
		const page = () => {
			const behind = this.#pins.findIndex((one) => one.id === after);
			const from =
				this.#fault === "repeats" && after !== null ? behind : behind + 1;
			const items = this.#pins.slice(from, from + PAGE);
			const isLast = from + PAGE >= this.#pins.length;
			return { items, next: isLast ? null : (items.at(-1)?.id ?? null) };
		};
		const pin = this.#pins.find((one) => one.id === id);
		switch (kind) {
			case "profile":
				return {
					id,
					username: id,
					bio: null,
					following: 0,
					pins: PINS,
					viewerFollows: this.#isFollowed,
					followers: this.#isFollowed ? 1 : 0,
					boards: this.#boards(null),
				};
			case "boards":
				return this.#boards(after);
			case "board":
				return { id, name: id, owner, pins: page() };
			case "boardPage":
				return page();
			case "pin":
				return {
					...(pin as BoardPin),
					link: null,
					likers: [],
					board: { id: "board", name: "" },
					owner: { ...owner, viewerFollows: this.#isFollowed },
				};
			case "likePin":
				if (this.#fault !== "loses") {
					this.#pins.splice(this.#pins.indexOf(pin as BoardPin), 1, {
						...(pin as BoardPin),
						viewerLikes: true,
						likes: (pin as BoardPin).likes + 1,
					});
				}
				return id;
			case "createPin": {
				const created = `pin${this.#pins.length}`;
				const details = created;
				const made = { id: created, details, viewerLikes: false, likes: 0 };
				if (this.#fault === "loses") this.#pins.push(made);
				else this.#pins.unshift(made);
				return created;
			}
			case "followUser":
				this.#isFollowed = this.#fault !== "loses";
				return id;
		}
	}

	#boards(after: string | null) {
		const board = { id: "board", name: "board", pins: [] };
		return after === null
			? { items: [board], next: "second" }
			: { items: [{ ...board, id: "board2" }], next: null };
	}
}

/** What a person sees in so many sessions of an app. */
function use(fault: "none" | "loses" | "repeats") {
	const random = seededRandom(7);
	const checks = new Checks();
	const expectations = new Expectations();
	const person: Person = {
		user: "me",
		token: "token",
		boards: ["board"],
		followees: [],
	};
	const app = new App(fault);
	const kinds = new Map<Kind, number>();
	for (let n = 0; n < 200; n++) {
		const session = new Session({
			person,
			expectations,
			random,
			habits: readHabits("usual"),
			visited: () => "other",
			checks: () => checks,
		});
		while (!session.isOver) {
			const { ask } = session;
			assert.equal(session.ask, ask, "asked again, it is the same request");
			kinds.set(ask.kind, (kinds.get(ask.kind) ?? 0) + 1);
			session.answered(ask.kind, app.answer(ask) as never);
		}
	}
	return { checked: checks.checked, firstWrong: checks.firstWrong, kinds };
}

describe("sessions of the benchmark", () => {
	it("asks for everything, and finds nothing wrong with an app that shows what was written", () => {
		const { checked, firstWrong, kinds } = use("none");
		assert.equal(firstWrong, null);
		assert.equal(kinds.size, 8);
		for (const [name, { of, wrong }] of Object.entries(checked)) {
			assert.ok(of > 0, `nothing was looked at for ${name}`);
			assert.equal(wrong, 0, name);
		}
	});

	it("finds each own write that is not shown, and repeats in a scroll", () => {
		const { repeats, ...own } = use("loses").checked;
		assert.equal(repeats.wrong, 0);
		for (const [name, { wrong }] of Object.entries(own)) {
			assert.ok(wrong > 0, name);
		}
		const { checked } = use("repeats");
		assert.ok(checked.repeats.wrong > 0);
		assert.equal(checked.ownLike.wrong, 0);
	});

	it("reads the answers of all schemas alike", () => {
		const page = { hasNextPage: true, endCursor: "c" };
		const shared = { id: "1", details: "d", link: null };
		const named = { id: "2", username: "u" };
		const board = { id: "3", name: "b" };
		const [ours, standard, rows] = [
			{
				...shared,
				viewerLikes: true,
				board,
				owner: { ...named, viewerFollows: null },
				likedBy: { totalCount: 4, nodes: [named] },
			},
			{
				...shared,
				viewerLikes: true,
				board,
				likeCount: 4,
				owner: { ...named, viewerFollows: null },
				likedBy: { nodes: [named] },
			},
			{
				...shared,
				viewerLikes: { totalCount: 1 },
				board,
				owner: { ...named, viewerFollows: { totalCount: 0 } },
				likedBy: { totalCount: 4, nodes: [{ user: named }] },
			},
		].map((pin) => READERS.pin({ pin }));
		assert.deepEqual(standard, ours);
		assert.deepEqual(rows, ours);
		assert.deepEqual(ours?.likers, [named]);
		assert.deepEqual(
			READERS.boards({ user: { boards: { nodes: [], pageInfo: page } } }),
			{ items: [], next: "c" },
		);
	});

	it("generates a graph with the shape of a real one, by its seed", async () => {
		const cut = { folder: null, users: 300, kind: "walk", rows: 1 } as const;
		const graph = await peopleGraph({ ...cut, seed: 3 });
		assert.deepEqual(await peopleGraph({ ...cut, seed: 3 }), graph);
		assert.equal(graph.users.length, 300);
		const median = (counts: readonly number[]) =>
			counts.toSorted((a, b) => a - b)[counts.length >> 1] as number;
		const countsOf = (keys: readonly number[]) => {
			const groups = Map.groupBy(keys, (key) => key);
			return [...groups.values()].map(({ length }) => length);
		};
		const lengths = countsOf(graph.pins.map(({ board }) => board));
		assert.ok(median(lengths) >= 7 && median(lengths) <= 21);
		assert.ok(lengths.some((length) => length > 100));
		const followees = countsOf(graph.follows.map(({ from }) => from));
		assert.ok(Math.max(...followees) > 4 * median(followees));
		const edges = new Set(graph.follows.map(({ from, to }) => `${from} ${to}`));
		assert.equal(edges.size, graph.follows.length);
		assert.ok(graph.follows.every(({ from, to }) => from !== to));
		const likes = new Set(graph.likes.map(({ user, pin }) => `${user} ${pin}`));
		assert.equal(likes.size, graph.likes.length);
		assert.ok(likes.size > graph.pins.length / 10);
	});
});
