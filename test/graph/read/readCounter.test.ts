import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createReadCounter } from "../../../src/graph/read/readCounter.ts";
import type { Node } from "../../../src/graph/types.ts";
import { type Id, packId } from "../../../src/id/ids.ts";
import { theModel } from "../../helpers/model.ts";

const { model, domain } = theModel();
const idOf = (type: number, local: number): Id =>
	packId({ shard: 0, type, local });
const [pinId, otherPinId, boardId, userId] = [
	idOf(1, 1),
	idOf(1, 2),
	idOf(2, 1),
	idOf(3, 1),
];
const node = (id: Id, type: string, data: Node["data"]): Node =>
	({ id, type, data }) as Node;
const user = node(userId, "User", {});
const board = node(boardId, "Board", { user_id: userId });
const pin = node(pinId, "Pin", { board_id: boardId, user_id: userId });
const otherPin = node(otherPinId, "Pin", pin.data);
const kept = new Map([user, board, pin, otherPin].map((one) => [one.id, one]));
const keptOf = (id: Id) => kept.get(id);

describe("ReadCounter", () => {
	it("counts each object once, together with its parents and owners", () => {
		const counter = createReadCounter(model, domain.visibility);
		counter.addObjects([pinId], [pin], keptOf);
		assert.equal(counter.total, 3);
		counter.addObjects(
			[pinId, otherPinId, boardId],
			[pin, otherPin, board],
			keptOf,
		);
		assert.equal(counter.total, 4);
		counter.addEdges(5);
		assert.equal(counter.total, 9);
	});

	it("counts a hidden object like an id that does not exist, whatever else was read", () => {
		for (const before of [[], [userId], [boardId, userId]]) {
			const reads = [pinId, idOf(1, 999)].map((id) => {
				const counter = createReadCounter(model, domain.visibility);
				counter.addObjects(
					before,
					before.map((one) => keptOf(one) ?? null),
					keptOf,
				);
				const already = counter.total;
				counter.addObjects([id], [null], keptOf);
				return counter.total - already;
			});
			// The pin, its owner, its board, the board's owner.
			assert.deepEqual(reads, [4, 4]);
		}
	});

	it("counts an id of no type as one", () => {
		const counter = createReadCounter(model, domain.visibility);
		counter.addObjects([idOf(77, 1)], [null], keptOf);
		assert.equal(counter.total, 1);
	});
});
