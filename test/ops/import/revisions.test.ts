import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Id } from "../../../src/id/ids.ts";
import { importLines } from "../../../src/ops/import/importLines.ts";
import type { RawLine } from "../../../src/ops/import/readBatches.ts";
import { DELETED } from "../../../src/ops/import/revision.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import type { LookupChange, ScanResult } from "../../../src/storage/rows.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { ada, board, bob, idOf, pin } from "../../helpers/importedGraph.ts";
import { importAll } from "../../helpers/importing.ts";
import { theFieldReaders } from "../../helpers/model.ts";

const adaWith = (rev: string, fields: Readonly<Record<string, unknown>>) => ({
	...ada,
	rev,
	fields: { ...ada.fields, ...fields },
});

async function contentOf(graph: Embedded, key: string) {
	const id = (await idOf(graph, key)) as Id;
	const [text] = await graph.storage.read("objects", [id]);
	return JSON.parse(text as string);
}

async function* pageOf(lines: readonly RawLine[]) {
	yield lines;
}

async function counts(graph: Embedded, lines: readonly unknown[]) {
	const { report, bad } = await importAll(graph, lines);
	const { changed, deleted, newerHere, existing } = report;
	return { changed, deleted, newerHere, existing, bad };
}

const NOTHING = { changed: 0, deleted: 0, newerHere: 0, existing: 0, bad: [] };

async function assertSound({ store }: Embedded) {
	assert.deepEqual((await verify(store)).damage.length, 0);
}

describe("lines with a rev", () => {
	it("change the object when the rev is another one, and clear what is null", async () => {
		await using graph = await openEmbedded();
		await importAll(graph, [adaWith("1", { bio: "first" }), bob]);
		const same = adaWith("1", { bio: "first" });
		assert.deepEqual(await counts(graph, [same]), { ...NOTHING, existing: 1 });
		assert.deepEqual(await counts(graph, [adaWith("2", { bio: null })]), {
			...NOTHING,
			changed: 1,
		});
		const data = await contentOf(graph, "u:ada");
		assert.deepEqual([data.bio, data.version], [undefined, 2]);
		const again = adaWith("2", { bio: null });
		assert.deepEqual(await counts(graph, [again]), { ...NOTHING, existing: 1 });
		await assertSound(graph);
	});

	it("are not read if their object has it, also when it is deleted", async () => {
		await using graph = await openEmbedded();
		const read: string[] = [];
		const revised = (
			line: { key: string; [name: string]: unknown },
			rev: string,
		) => ({
			key: line.key,
			rev,
			text() {
				read.push(`${line.key} ${rev}`);
				return JSON.stringify(line);
			},
		});
		const importRevised = async (...lines: readonly RawLine[]) => {
			read.length = 0;
			const { changed, deleted, existing, objects, bad } = await importLines(
				graph.store,
				pageOf(lines),
				{ fields: theFieldReaders() },
			);
			const made = objects.User ?? 0;
			return { counts: [made, changed, deleted, existing, bad], read };
		};
		const first = revised(adaWith("1", { bio: "first" }), "1");
		const bobs = revised({ ...bob, rev: "b" }, "b");
		const second = revised(adaWith("2", { bio: "second" }), "2");
		const gone = { type: "User", key: bob.key, deleted: true };
		const deleted = revised(gone, DELETED);
		const tooLong = revised({ ...ada, key: "k".repeat(201) }, "1");
		const cases = [
			{ lines: [first, bobs], counts: [2, 0, 0, 0, 0], read: 2 },
			{ lines: [first, bobs], counts: [0, 0, 0, 2, 0], read: 0 },
			// The later line about an object counts.
			{ lines: [first, second, deleted], counts: [0, 1, 1, 1, 0], read: 2 },
			{ lines: [deleted, second], counts: [0, 0, 0, 2, 0], read: 0 },
			{ lines: [tooLong], counts: [0, 0, 0, 0, 1], read: 1 },
		];
		for (const { lines, ...expected } of cases) {
			const got = await importRevised(...lines);
			assert.deepEqual({ ...got, read: got.read.length }, expected);
		}
		assert.equal((await contentOf(graph, "u:ada")).bio, "second");
		await assertSound(graph);
	});

	it("give a required field its default when its text is blank, also in a change", async () => {
		await using graph = await openEmbedded();
		const named = (rev: string, bio: string) =>
			adaWith(rev, { name: "  ", bio });
		await importAll(graph, [named("1", "first")]);
		assert.deepEqual(await counts(graph, [named("2", "second")]), {
			...NOTHING,
			changed: 1,
		});
		const { name, username, bio } = await contentOf(graph, "u:ada");
		assert.deepEqual([name, bio], [username, "second"]);
		await assertSound(graph);
	});

	it("leave alone what was changed here since", async () => {
		await using graph = await openEmbedded();
		await importAll(graph, [adaWith("1", { bio: "first" })]);
		const id = (await idOf(graph, "u:ada")) as Id;
		await graph.writes.modify(id, (data) => ({ ...data, bio: "mine" }));
		assert.deepEqual(await counts(graph, [adaWith("2", { bio: "theirs" })]), {
			...NOTHING,
			newerHere: 1,
		});
		assert.equal((await contentOf(graph, "u:ada")).bio, "mine");
	});

	it("change what an import that died has changed, whatever they say by then", async () => {
		let left = Number.POSITIVE_INFINITY;
		await using graph = await openEmbedded({
			wrap: (storage) =>
				new Proxy(storage, {
					get(target, name) {
						if (name !== "compareAndSetLookups") {
							const value: unknown = Reflect.get(target, name, target);
							return typeof value === "function" ? value.bind(target) : value;
						}
						return async (changes: readonly LookupChange[]) => {
							const isKey = changes.some(({ key }) => key === "u:ada");
							if (isKey && left-- === 0) throw new Error("killed");
							return target.compareAndSetLookups(changes);
						};
					},
				}),
		});
		const bio = async () => (await contentOf(graph, "u:ada")).bio;
		/** Dies when import keys are written for the nth time. */
		const dyingAt = async (nth: number, line: unknown) => {
			left = nth;
			await assert.rejects(importAll(graph, [line]), /killed/);
			left = Number.POSITIVE_INFINITY;
		};
		await importAll(graph, [adaWith("1", { bio: "first" })]);
		await dyingAt(1, adaWith("2", { bio: "second" }));
		assert.equal(await bio(), "second");
		assert.equal(
			(await counts(graph, [adaWith("3", { bio: "third" })])).changed,
			1,
		);
		assert.equal(await bio(), "third");
		await dyingAt(1, { type: "User", key: "u:ada", deleted: true });
		assert.equal(
			(await counts(graph, [adaWith("4", { bio: "back" })])).changed,
			1,
		);
		assert.equal(await bio(), "back");
		// A change of somebody else is none of its own.
		await dyingAt(1, adaWith("5", { bio: "fifth" }));
		const id = (await idOf(graph, "u:ada")) as Id;
		await graph.writes.modify(id, (data) => ({ ...data, bio: "mine" }));
		assert.equal(
			(await counts(graph, [adaWith("6", { bio: "sixth" })])).newerHere,
			1,
		);
		assert.equal(await bio(), "mine");
		await assertSound(graph);
	});

	it("say which name is taken, and take it once it is free", async () => {
		await using graph = await openEmbedded();
		const bobWith = { ...bob, rev: "1" };
		await importAll(graph, [adaWith("1", { email: "a@example.org" }), bobWith]);
		const collides = {
			...bob,
			rev: "2",
			fields: { ...bob.fields, email: "A@example.org" },
		};
		const { bad } = await counts(graph, [collides]);
		assert.deepEqual(bad, ["line 1: The User's email is taken."]);
		assert.deepEqual(
			await counts(graph, [adaWith("3", { email: null }), collides]),
			{ ...NOTHING, changed: 2 },
		);
		await assertSound(graph);
	});

	it("delete objects and edges, and bring them back", async () => {
		await using graph = await openEmbedded();
		const at = "2020-01-02T03:04:05.000Z";
		const like = { edge: "likePin", from: "u:ada", to: "p:1", at };
		const first = { ...pin(1), rev: "1" };
		await importAll(graph, [ada, board, first, pin(2), like]);
		const gone = { type: "Pin", key: "p:1", deleted: true };
		assert.deepEqual(
			await counts(graph, [
				gone,
				{ edge: "likePin", from: "u:ada", to: "p:1", deleted: true },
				{ type: "Pin", key: "p:7", deleted: true },
			]),
			{ ...NOTHING, deleted: 2, existing: 1 },
		);
		assert.equal((await contentOf(graph, "p:1")).active, false);
		assert.deepEqual(await counts(graph, [gone]), { ...NOTHING, existing: 1 });
		await assertSound(graph);
		const back = await importAll(graph, [first, like]);
		assert.deepEqual([back.report.changed, back.report.edges.likePin], [1, 1]);
		await assertSound(graph);
	});

	it("give edges the time that they had, in both lists", async () => {
		await using graph = await openEmbedded();
		const like = (to: string, at: string) => ({
			edge: "likePin",
			from: "u:ada",
			to,
			at,
		});
		await importAll(graph, [
			ada,
			board,
			...[1, 2, 3].map((n) => pin(n)),
			like("p:1", "2021-01-01T00:00:00.000Z"),
			like("p:2", "2019-01-01T00:00:00.000Z"),
			like("p:3", "2020-01-01T00:00:00.000Z"),
		]);
		const from = (await idOf(graph, "u:ada")) as Id;
		const [read] = await graph.storage.read("lists", [
			{ mapping: graph.mapping("likePin"), from, backward: false, limit: 5 },
		]);
		const years = (read as ScanResult).edges.map((edge) =>
			new Date(edge.sequence / 1_000).getUTCFullYear(),
		);
		assert.deepEqual(years, [2021, 2020, 2019]);
		await assertSound(graph);
		const again = [like("p:3", "2022-01-01T00:00:00.000Z")];
		const stays = await importAll(graph, again);
		assert.deepEqual([stays.report.changed, stays.report.existing], [0, 1]);
		const moves = await importAll(graph, again, { movesEdges: true });
		assert.deepEqual([moves.report.changed, moves.report.existing], [1, 0]);
		const mapping = graph.mapping("likePin");
		const [moved] = await graph.storage.read("lists", [
			{ mapping, from, backward: false, limit: 1 },
		]);
		const [newest] = (moved as ScanResult).edges;
		assert.equal(newest?.to, await idOf(graph, "p:3"));
		await assertSound(graph);
	});
});
