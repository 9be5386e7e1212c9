import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Id } from "../../src/id/ids.ts";
import { NOW, Resolving } from "../helpers/resolving.ts";

describe("createBoard", () => {
	it("creates a board that the viewer owns", async () => {
		const at = new Resolving();
		const { board } = await at.change("createBoard", {
			name: " Kitchens ",
			description: "Small ones.",
			cover: { url: "https://example.com/kitchen.jpg", alt: " A stove " },
			secret: true,
		});
		assert.deepEqual(at.graph.data(board as Id), {
			name: "Kitchens",
			description: "Small ones.",
			cover: { url: "https://example.com/kitchen.jpg", alt: "A stove" },
			secret: true,
			created_at: NOW,
			user_id: at.ada,
		});
	});

	it("creates a public board without a description by default", async () => {
		const at = new Resolving();
		for (const rest of [{}, { description: null, secret: null }]) {
			const { board } = await at.change("createBoard", { name: "K", ...rest });
			assert.deepEqual(at.graph.data(board as Id), {
				name: "K",
				secret: false,
				created_at: NOW,
				user_id: at.ada,
			});
		}
	});

	it("refuses a blank name and values that are too long", async () => {
		const at = new Resolving();
		assert.equal(
			await at.refused("BAD_USER_INPUT", "createBoard", {
				name: " ",
				description: "d".repeat(501),
			}),
			"createBoard: name must not be null or empty; description must have at most 500 characters, got 501.",
		);
		assert.equal(
			await at.refused("BAD_USER_INPUT", "createBoard", {
				name: "n".repeat(101),
			}),
			"createBoard: name must have at most 100 characters, got 101.",
		);
	});

	it("creates one board for a repeated idempotency key of one viewer", async () => {
		const at = new Resolving();
		const input = { name: "Kitchens", idempotencyKey: "k1" };
		const first = await at.change("createBoard", input);
		assert.deepEqual(await at.change("createBoard", input), first);
		await at.refused("BAD_USER_INPUT", "createBoard", {
			...input,
			secret: true,
		});
		assert.notDeepEqual(
			await at.as(at.ben).change("createBoard", input),
			first,
		);
	});
});

describe("updateBoard", () => {
	it("updateBoard changes given fields, clears with null and keeps absent fields", async () => {
		const at = new Resolving();
		const board = at.board(at.ada);
		assert.deepEqual(
			await at.change("updateBoard", { boardId: board, description: "Small." }),
			{ board, viewer: at.ada },
		);
		await at.change("updateBoard", { boardId: board, secret: true });
		assert.deepEqual(at.graph.data(board), {
			name: "Kitchens",
			description: "Small.",
			secret: true,
			created_at: "2026-01-02T00:00:00.000Z",
			user_id: at.ada,
		});
		await at.change("updateBoard", { boardId: board, description: null });
		assert.equal("description" in (at.graph.data(board) ?? {}), false);
	});

	it("refuses to clear name and secret", async () => {
		const at = new Resolving();
		assert.equal(
			await at.refused("BAD_USER_INPUT", "updateBoard", {
				boardId: at.board(at.ada),
				name: null,
				secret: null,
			}),
			"updateBoard: name must not be null or empty; secret must not be null or empty.",
		);
	});
});

describe("deleteBoard", () => {
	it("deleteBoard deletes the viewer's board and returns its id", async () => {
		const at = new Resolving();
		const board = at.board(at.ada, { secret: true });
		assert.deepEqual(await at.change("deleteBoard", { boardId: board }), {
			deletedBoardId: board,
			viewer: at.ada,
		});
		assert.deepEqual(at.graph.calls, [`objects ${board}`, `remove ${board}`]);
	});

	it("returns NOT_FOUND for a deleted board", async () => {
		const at = new Resolving();
		const board = at.board(at.ada);
		await at.change("deleteBoard", { boardId: board });
		await at.refused("NOT_FOUND", "deleteBoard", { boardId: board });
	});
});

describe("moveBoard", () => {
	it("moves a board of the viewer before or after another one, or to the top", async () => {
		const at = new Resolving();
		const board = at.board(at.ada);
		const other = at.board(at.ada);
		for (const [beside, where] of [
			[{}, ""],
			[{ beforeBoardId: other }, ` before ${other}`],
			[{ afterBoardId: other }, ` after ${other}`],
		] as const) {
			assert.deepEqual(
				await at.change("moveBoard", { boardId: board, ...beside }),
				{ board, viewer: at.ada },
			);
			assert.equal(
				at.graph.calls.at(-1),
				`place ownBoard ${board} on ${at.ada}${where}`,
			);
		}
		await at.change("moveBoard", { boardId: board, afterBoardId: board });
		assert.ok(!at.graph.calls.some((call) => call.startsWith("place")));
	});

	it("refuses boards of others, and both neighbors at once", async () => {
		const at = new Resolving();
		const boardId = at.board(at.ada);
		const theirs = at.board(at.ben);
		assert.equal(
			await at.refused("BAD_USER_INPUT", "moveBoard", {
				boardId,
				afterBoardId: theirs,
			}),
			"moveBoard: afterBoardId must be a board of the viewer.",
		);
		await at.refused("FORBIDDEN", "moveBoard", { boardId: theirs });
		await at.refused("NOT_FOUND", "moveBoard", {
			boardId,
			beforeBoardId: at.board(at.ben, { secret: true }),
		});
		await at.refused("BAD_USER_INPUT", "moveBoard", {
			boardId,
			beforeBoardId: boardId,
			afterBoardId: boardId,
		});
	});
});

describe("the sections of a board", () => {
	it("are created, renamed, moved and deleted by those who may pin on it", async () => {
		const at = new Resolving();
		const boardId = at.board(at.ada);
		at.graph.addEdge("collaborate", boardId, at.ben);
		const other = at.section(boardId);
		at.as(at.ben);
		const { section } = await at.change("createSection", {
			boardId,
			name: " Favorites ",
		});
		assert.deepEqual(at.graph.data(section as Id), {
			name: "Favorites",
			created_at: NOW,
			board_id: boardId,
		});
		await at.change("updateSection", { sectionId: section, name: "Best" });
		assert.equal(at.graph.data(section as Id)?.name, "Best");
		await at.change("moveSection", {
			sectionId: section,
			afterSectionId: other,
		});
		assert.equal(
			at.graph.calls.at(-1),
			`place placeSection ${section} on ${boardId} after ${other}`,
		);
		assert.deepEqual(await at.change("deleteSection", { sectionId: section }), {
			deletedSectionId: section,
			board: boardId,
			viewer: at.ben,
		});
		assert.equal(at.graph.data(section as Id), undefined);
	});

	it("are not for others to change", async () => {
		const at = new Resolving();
		const boardId = at.board(at.ben);
		const sectionId = at.section(boardId);
		await at.refused("FORBIDDEN", "createSection", { boardId, name: "x" });
		await at.refused("FORBIDDEN", "updateSection", { sectionId, name: "x" });
		await at.refused("FORBIDDEN", "moveSection", { sectionId });
		await at.refused("FORBIDDEN", "deleteSection", { sectionId });
		assert.equal(
			await at.as(at.ben).refused("BAD_USER_INPUT", "moveSection", {
				sectionId,
				beforeSectionId: at.section(at.board(at.ben)),
			}),
			"moveSection: beforeSectionId must be a section of the same board.",
		);
	});
});

describe("collaborators of a board", () => {
	function shared() {
		const at = new Resolving();
		const boardId = at.board(at.ada, { secret: true });
		return { at, boardId, edge: { boardId, userId: at.ben } };
	}

	it("are added by its owner, and then see it and pin there", async () => {
		const { at, boardId, edge } = shared();
		const pinId = at.pin(at.ben, at.board(at.ben));
		await at.as(at.ben).refused("NOT_FOUND", "createPin", { boardId });
		assert.deepEqual(await at.as(at.ada).change("addCollaborator", edge), {
			board: boardId,
			user: at.ben,
			viewer: at.ada,
		});
		at.as(at.ben);
		const { pin } = await at.change("createPin", { boardId });
		assert.deepEqual(
			[at.graph.data(pin as Id)?.user_id, at.graph.data(pin as Id)?.board_id],
			[at.ben, boardId],
		);
		await at.change("repin", { pinId, boardId });
		await at.change("movePin", { pinId, boardId });
		// It is not theirs to change.
		await at.refused("FORBIDDEN", "updateBoard", { boardId, name: "x" });
		await at.refused("FORBIDDEN", "addCollaborator", edge);
	});

	it("are no others, also on a board that everybody sees", async () => {
		const at = new Resolving();
		const boardId = at.board(at.ada);
		assert.equal(
			await at.as(at.ben).refused("FORBIDDEN", "createPin", { boardId }),
			"Only its owner and its collaborators may pin on this board.",
		);
		assert.equal(
			await at.as(at.ada).refused("BAD_USER_INPUT", "addCollaborator", {
				boardId,
				userId: at.ada,
			}),
			"addCollaborator: userId must not be the viewer's own id.",
		);
	});

	it("are removed by its owner or by themselves, and by nobody else", async () => {
		const at = new Resolving();
		const boardId = at.board(at.ada);
		const eve = at.graph.add("User", { username: "eve_made_up" });
		const edge = { boardId, userId: at.ben };
		for (const who of [at.ada, at.ben]) {
			await at.as(at.ada).change("addCollaborator", edge);
			await at.as(eve).refused("FORBIDDEN", "removeCollaborator", edge);
			await at.as(who).change("removeCollaborator", edge);
			await at.as(at.ben).refused("FORBIDDEN", "createPin", { boardId });
		}
	});

	it("and the owner see that they can pin there", async () => {
		const { at, boardId, edge } = shared();
		await at.change("addCollaborator", edge);
		const open = at.board(at.ada);
		const canPin = (who: Id | null) =>
			at.as(who).ofObjects("Board.viewerCanPin", [boardId, open]);
		assert.deepEqual(await canPin(at.ada), [true, true]);
		assert.deepEqual(await canPin(at.ben), [true, false]);
		assert.deepEqual(await canPin(null), [null, null]);
	});
});
