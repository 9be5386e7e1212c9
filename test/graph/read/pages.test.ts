import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { CorkboardError } from "../../../src/errors.ts";
import type { Page, PageArguments } from "../../../src/graph/types.ts";
import type { Id } from "../../../src/id/ids.ts";
import {
	callsOf,
	type Embedded,
	openEmbedded,
} from "../../helpers/embedded.ts";

const ALL = {
	edges: true,
	hasNextPage: true,
	hasPreviousPage: true,
	cursors: true,
	totalCount: true,
};

/** One owner; the boards of other users are followed by a reader, some of them secret, some deleted. */
describe("pages", () => {
	let graph: Embedded;
	let owner: Id;
	let reader: Id;
	/** Newest follow first, as the list has them. */
	const boards: { id: Id; name: string; hidden: boolean }[] = [];

	before(async () => {
		graph = await openEmbedded();
		const { writes } = graph;
		owner = await writes.create({ type: "User", data: { username: "owner" } });
		reader = await writes.create({
			type: "User",
			data: { username: "reader" },
		});
		for (let n = 0; n < 60; n++) {
			// A run of hidden ones in the middle is longer than all top-ups of a small page.
			const hidden = n % 7 === 3 || (n >= 20 && n < 40);
			const id = await writes.create({
				type: "Board",
				data: { name: `board ${n}`, secret: hidden, user_id: owner },
			});
			await writes.setEdge(graph.mapping("followBoard"), reader, id, true);
			boards.unshift({ id, name: `board ${n}`, hidden });
		}
	});
	after(() => graph[Symbol.asyncDispose]());

	async function page(
		args: Omit<PageArguments, "fields">,
		viewer: Id | null = reader,
		fields: PageArguments["fields"] = ALL,
	): Promise<Page> {
		const [answer] = await graph
			.view(viewer)
			.readPages(graph.mapping("followBoard"), [reader], { ...args, fields });
		assert.ok(answer && !(answer instanceof CorkboardError));
		return answer;
	}
	const names = (answer: Page) =>
		answer.edges.map(({ node }) =>
			node instanceof CorkboardError ? "down" : node.data.name,
		);
	const visible = () =>
		boards.filter(({ hidden }) => !hidden).map(({ name }) => name);

	it("show a viewer only objects that it may see, and count all edges", async () => {
		const answer = await page({ first: 5 });
		assert.deepEqual(names(answer), visible().slice(0, 5));
		assert.equal(answer.totalCount, 60);
	});

	it("show an owner everything", async () => {
		const answer = await page({ first: 100 }, owner);
		assert.deepEqual(
			names(answer),
			boards.map(({ name }) => name),
		);
		assert.equal(answer.hasNextPage, false);
	});

	it("report a next page only if a visible object follows", async () => {
		const count = visible().length;
		assert.equal((await page({ first: count })).hasNextPage, false);
		assert.equal((await page({ first: count - 1 })).hasNextPage, true);
	});

	it("report a next page also to queries that read nothing else", async () => {
		const fields = {
			edges: false,
			hasNextPage: true,
			hasPreviousPage: true,
			cursors: false,
			totalCount: false,
		};
		const count = visible().length;
		for (const [size, more] of [
			[count - 1, true],
			[count, false],
			[count + 1, false],
			[0, true],
		] as const) {
			assert.equal(
				(await page({ first: size }, reader, fields)).hasNextPage,
				more,
				`first ${size}`,
			);
			assert.equal(
				(await page({ last: size }, reader, fields)).hasPreviousPage,
				more,
				`last ${size}`,
			);
		}
	});

	it("report a previous page only if a visible object precedes", async () => {
		const first = await page({ first: 5 });
		assert.equal(first.hasPreviousPage, false);
		const second = await page({
			first: 5,
			after: first.endCursor as string,
		});
		assert.equal(second.hasPreviousPage, true);
		const empty = await page({ first: 5, before: first.startCursor as string });
		assert.deepEqual(
			[names(empty), empty.hasPreviousPage, empty.hasNextPage],
			[[], false, true],
		);
	});

	it("between a cursor and itself are empty, and report its object on either side", async () => {
		const all = await page({ first: 100 });
		for (const edge of [all.edges[0], all.edges[5], all.edges.at(-1)]) {
			const cursor = edge?.cursor() as string;
			for (const size of [{ first: 2 }, { last: 2 }]) {
				const empty = await page({ ...size, after: cursor, before: cursor });
				assert.deepEqual(
					[names(empty), empty.hasPreviousPage, empty.hasNextPage],
					[[], true, true],
				);
			}
		}
	});

	it("may be short when the top-ups run out, and continue after the last edge scanned", async () => {
		const met: unknown[] = [];
		let cursor: string | undefined;
		let short = 0;
		for (let pages = 0; pages < 60; pages++) {
			const answer: Page = await page({
				first: 2,
				...(cursor !== undefined && { after: cursor }),
			});
			met.push(...names(answer));
			if (!answer.hasNextPage) break;
			if (answer.edges.length < 2) short++;
			cursor = answer.endCursor as string;
		}
		assert.deepEqual(met, visible());
		assert.ok(short > 0, "no page was cut short: the run is too short to test");
	});

	for (const direction of ["forward", "backward"] as const) {
		it(`return every object exactly once, in order, ${direction}, at every page size`, async () => {
			for (const size of [1, 2, 3, 7, 20, 50, 100]) {
				const met: unknown[] = [];
				let cursor: string | undefined;
				for (;;) {
					const answer: Page = await page(
						direction === "forward"
							? { first: size, ...(cursor && { after: cursor }) }
							: { last: size, ...(cursor && { before: cursor }) },
					);
					if (direction === "forward") met.push(...names(answer));
					else met.unshift(...names(answer));
					const more =
						direction === "forward"
							? answer.hasNextPage
							: answer.hasPreviousPage;
					if (!more) break;
					cursor = (
						direction === "forward" ? answer.endCursor : answer.startCursor
					) as string;
				}
				assert.deepEqual(met, visible(), `by ${size}`);
			}
		});
	}

	it("equal a slice of the list, for any bounds", async () => {
		const everything = await page({ first: 100 }, owner);
		const cursors = everything.edges.map((edge) => edge.cursor());
		const all = boards.map(({ name }) => name);
		await fc.assert(
			fc.asyncProperty(
				fc.boolean(),
				fc.integer({ min: 0, max: 70 }),
				fc.option(fc.integer({ min: 0, max: 59 })),
				fc.option(fc.integer({ min: 0, max: 59 })),
				async (forward, size, from, to) => {
					const start = from === null ? 0 : from + 1;
					const end = Math.max(start, to === null ? 60 : to);
					const range = all.slice(start, end);
					const expected = forward
						? range.slice(0, size)
						: range.slice(Math.max(0, range.length - size));
					const answer = await page(
						{
							...(forward ? { first: size } : { last: size }),
							...(from !== null && { after: cursors[from] as string }),
							...(to !== null && { before: cursors[to] as string }),
						},
						owner,
					);
					assert.deepEqual(names(answer), expected);
					if (expected.length > 0) {
						const first = all.indexOf(expected[0] as string);
						assert.equal(answer.hasPreviousPage, first > 0);
						assert.equal(
							answer.hasNextPage,
							first + expected.length < all.length,
						);
					}
				},
			),
			{ numRuns: 150 },
		);
	});

	it("of size 0 return the count and read no object", async () => {
		const store = graph.cold();
		const { View } = await import("../../../src/graph/read/view.ts");
		const calls = await callsOf(async () => {
			const [answer] = await new View(store, reader).readPages(
				graph.mapping("followBoard"),
				[reader],
				{
					first: 0,
					fields: {
						edges: true,
						hasNextPage: false,
						hasPreviousPage: false,
						cursors: false,
						totalCount: true,
					},
				},
			);
			assert.equal((answer as Page).totalCount, 60);
		});
		assert.deepEqual(calls, ["scanLists 1"]);
	});

	it("refuse a cursor of another list and an invalid cursor", async () => {
		const [own] = await graph
			.view(owner)
			.readPages(graph.mapping("ownBoard"), [owner], { first: 1, fields: ALL });
		for (const cursor of [(own as Page).endCursor as string, "garbage", ""]) {
			const [answer] = await graph
				.view(reader)
				.readPages(graph.mapping("followBoard"), [reader], {
					first: 5,
					after: cursor,
					fields: ALL,
				});
			assert.ok(answer instanceof CorkboardError);
			assert.equal(answer.code, "BAD_USER_INPUT");
		}
	});

	it("continue from a cursor whose edge is gone", async () => {
		const gone = boards[2] as (typeof boards)[number];
		const start = await page({ first: 3 }, owner);
		assert.equal(names(start)[2], gone.name);
		await graph.writes.setEdge(
			graph.mapping("followBoard"),
			reader,
			gone.id,
			false,
		);
		const next = await page(
			{ first: 1, after: start.endCursor as string },
			owner,
		);
		assert.deepEqual(names(next), [boards[3]?.name]);
		await graph.writes.setEdge(
			graph.mapping("followBoard"),
			reader,
			gone.id,
			true,
		);
		boards.splice(2, 1);
		boards.unshift(gone);
	});

	it("of many lists take one scan and one object read together", async () => {
		const store = graph.cold();
		const { View } = await import("../../../src/graph/read/view.ts");
		const calls = await callsOf(() =>
			new View(store, owner).readPages(
				graph.mapping("followBoard.inverse"),
				boards.map(({ id }) => id),
				{ first: 3, fields: ALL },
			),
		);
		// And once, at the level of the first objects, the viewer's block lists.
		assert.deepEqual(calls, ["scanLists 60", "scanLists 2", "readObjects 1"]);
	});
});
