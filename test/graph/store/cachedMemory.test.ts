// Runs in a process of its own: it measures the heap.
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ENTRY_BYTES } from "../../../src/cache/heapEntries.ts";
import { CachedObject } from "../../../src/graph/store/cachedObject.ts";
import { Head } from "../../../src/graph/store/head.ts";
import { packJson, unpackJson } from "../../../src/graph/store/packedJson.ts";
import type { Id } from "../../../src/id/ids.ts";
import { heldBytes } from "../../helpers/heldBytes.ts";

const idAt = (at: number) => String(914862393786369n + BigInt(at)) as Id;

/** Text as it arrives from a server: in one piece, which nothing else refers to. */
const received = (text: string) => Buffer.from(text).toString();

function headAt(at: number): Head {
	const edges = Array.from({ length: 32 }, (_, edge) => ({
		to: idAt(at * 32 + edge),
		sequence: 1_795_233_161_169_500 - edge,
	}));
	const from = idAt(at);
	return Head.of({ from, count: 40, epoch: 0, complete: false }, edges);
}

describe("the head of a list", () => {
	it("weighs at least what it takes, made or decoded, once its ids are let go of", () => {
		const decoded = (at: number) => {
			const text = received(headAt(at).encoded());
			return Head.decoded(idAt(at), text) as Head;
		};
		for (const make of [headAt, decoded]) {
			const bytes = heldBytes(1_000, (at) => {
				const head = make(at);
				head.slice();
				Head.letGo(head);
				return head;
			});
			const { weight } = make(0);
			assert.ok(bytes <= weight + ENTRY_BYTES, `${bytes} bytes`);
		}
	});

	it("has the same ids after they were let go of", () => {
		const head = headAt(1);
		const edges = head.slice();
		Head.letGo(head);
		assert.deepEqual(head.slice(), edges);
		assert.equal(head.leadsTo(edges[31]?.to as Id), true);
		assert.equal(head.leadsTo(idAt(0)), undefined);
	});

	it("has the ids that it was made of, the longest too, and those of no other head", () => {
		const ids = ["0", "7", "9999999999", "10000000000", "10000000007"];
		const all = [...ids, String(2n ** 62n - 1n)] as Id[];
		const list = { from: idAt(0), count: 6, epoch: 0, complete: true };
		const edges = all.map((to, sequence) => ({ to, sequence }));
		const head = Head.of(list, edges);
		const decoded = Head.decoded(list.from, head.encoded());
		headAt(1);
		assert.deepEqual(head.slice(), edges);
		assert.deepEqual(decoded?.slice(), edges);
		const noId = { to: "1x" as Id, sequence: 1 };
		assert.throws(() => Head.of(list, [noId]), /1x, which is no id/);
	});

	it("of another list is not decoded", () => {
		const text = headAt(1).encoded();
		assert.equal(Head.decoded(idAt(2), text), null);
		assert.deepEqual(Head.decoded(idAt(1), text)?.slice(), headAt(1).slice());
	});
});

describe("a cached object weighs at least what it takes", () => {
	for (const [script, letter] of [
		["Latin", "a"],
		["Cyrillic", "д"],
	] as const) {
		it(`with a text of ${script} letters`, () => {
			const make = (at: number) => {
				const text = received(
					JSON.stringify({
						details: letter.repeat(500),
						board: idAt(at),
						owner: idAt(at + 1),
					}),
				);
				const data = JSON.parse(text);
				const node = { id: idAt(at), type: "Pin", data };
				const facts = { ...FACTS, parent: idAt(at) };
				return CachedObject.stored({ node, facts }, text);
			};
			const bytes = heldBytes(1_000, make);
			const { weight } = make(0);
			assert.ok(bytes <= weight + ENTRY_BYTES, `${bytes} bytes`);
		});

		it(`with a text of ${script} letters, made of what was packed`, () => {
			const into = Buffer.alloc(10_000);
			const make = (at: number) => {
				const data = {
					details: letter.repeat(80),
					link: `https://www.example.com/image/${at}`,
					created_at: "2026-11-30T04:05:06.789Z",
					board_id: idAt(at),
					user_id: idAt(at + 1),
				};
				const end = packJson(data, into);
				const facts = { ...FACTS, parent: idAt(at) };
				const unpacked = unpackJson(into, 0, end);
				const node = { id: idAt(at), type: "Pin", data: unpacked };
				return CachedObject.unpacked({ node, facts }, end);
			};
			const bytes = heldBytes(1_000, make);
			const { weight } = make(0);
			assert.ok(bytes <= weight + ENTRY_BYTES, `${bytes}, ${weight}`);
		});
	}
});

const FACTS = { owner: null, isVisible: null, sharedBy: null };
