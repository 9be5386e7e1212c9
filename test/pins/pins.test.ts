import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Id } from "../../src/id/ids.ts";
import {
	globalListId,
	type Mapping,
	type Model,
} from "../../src/model/types.ts";
import { model, NOW, Resolving } from "../helpers/resolving.ts";

const IMAGE = { url: "https://example.com/loaf.jpg", width: 640 };
const ROOT = globalListId(model, model.mappings.get("listInterest") as Mapping);

describe("createPin", () => {
	it("creates a pin on a board of the viewer", async () => {
		const at = new Resolving();
		const boardId = at.board(at.ada);
		const { pin } = await at.change("createPin", {
			boardId,
			title: " Sourdough ",
			details: " A loaf ",
			link: "https://example.com/loaf",
			image: { ...IMAGE, height: null, alt: "" },
		});
		assert.deepEqual(at.graph.data(pin as Id), {
			title: "Sourdough",
			details: "A loaf",
			link: "https://example.com/loaf",
			image: IMAGE,
			created_at: NOW,
			board_id: boardId,
			user_id: at.ada,
		});
		assert.deepEqual(at.graph.calls, [`objects ${boardId}`, "create Pin"]);
	});

	it("creates a pin without any optional field", async () => {
		const at = new Resolving();
		const boardId = at.board(at.ada);
		const { pin } = await at.change("createPin", {
			boardId,
			details: " ",
			link: null,
			image: null,
			interests: null,
		});
		assert.deepEqual(at.graph.data(pin as Id), {
			created_at: NOW,
			board_id: boardId,
			user_id: at.ada,
		});
	});

	it("createPin reports all problems of its input at once", async () => {
		const at = new Resolving();
		assert.equal(
			await at.refused("BAD_USER_INPUT", "createPin", {
				boardId: "my board",
				title: "t".repeat(101),
				details: "d".repeat(1_001),
				link: "ftp://example.com",
				image: { url: "", width: 0 },
				interests: ["Bread"],
			}),
			[
				'createPin: boardId must be an id, which is a decimal number, got "my board"',
				"title must have at most 100 characters, got 101",
				"details must have at most 1000 characters, got 1001",
				'link must be an http or https address, got "ftp://example.com"',
				"image.url must not be empty",
				"image.width must be a positive number of pixels, got 0",
				'interests[0] must be 1 to 100 of a-z 0-9 -, got "Bread".',
			].join("; "),
		);
	});

	it("creates one pin for a repeated idempotency key", async () => {
		const at = new Resolving();
		const input = {
			boardId: at.board(at.ada),
			interests: ["bread"],
			idempotencyKey: "k1",
		};
		const first = await at.change("createPin", input);
		assert.deepEqual(await at.change("createPin", input), first);
		await at.refused("BAD_USER_INPUT", "createPin", {
			...input,
			details: "Another",
		});
	});
});

describe("the interests of a new pin", () => {
	it("get the pin in its own creation, and are created and listed where they are new", async () => {
		const at = new Resolving();
		const boardId = at.board(at.ada);
		const bread = at.graph.add("Interest", { slug: "bread", name: "Bread!" });
		at.graph.addEdge("listInterest", ROOT, bread);
		const { pin } = await at.change("createPin", {
			boardId,
			interests: ["bread", "home-decor", "bread"],
		});
		const home = (await at.answer("Query.interest", {
			by: { slug: "home-decor" },
		})) as Id;
		assert.deepEqual(at.graph.data(home), {
			slug: "home-decor",
			name: "Home decor",
		});
		assert.equal(at.graph.data(bread)?.name, "Bread!");
		assert.ok(at.graph.hasEdge("listInterest", ROOT, home));
		assert.ok(at.graph.hasEdge("filePin", pin as Id, bread));
		assert.ok(at.graph.hasEdge("filePin", pin as Id, home));
	});

	it("take one lookup and no write besides the pin's, however many they are", async () => {
		const at = new Resolving();
		const boardId = at.board(at.ada);
		for (const slug of ["a", "b"]) {
			at.graph.add("Interest", { slug, name: slug });
		}
		await at.change("createPin", { boardId, interests: ["a", "b", "new"] });
		assert.deepEqual(at.graph.calls, [
			`objects ${boardId}`,
			"lookup slug a,b,new",
			"create Pin",
		]);
	});

	it("are those of another request that creates them at the same moment", async () => {
		const at = new Resolving();
		const boardId = at.board(at.ada);
		let theirs: Id | undefined;
		at.graph.beforeCreate = () => {
			theirs = at.graph.add("Interest", { slug: "bread", name: "Bread" });
			at.graph.beforeCreate = () => {};
		};
		const { pin } = await at.change("createPin", {
			boardId,
			interests: ["bread"],
		});
		assert.ok(theirs);
		assert.ok(at.graph.hasEdge("filePin", pin as Id, theirs));
	});

	it("that cannot be looked up leave no pin behind", async () => {
		const at = new Resolving();
		const boardId = at.board(at.ada);
		at.graph.down.add("bread");
		await at.refused("UNAVAILABLE", "createPin", {
			boardId,
			interests: ["bread"],
		});
		assert.deepEqual(at.graph.calls, [
			`objects ${boardId}`,
			"lookup slug bread",
		]);
	});

	it("have a name even when the slug is all dashes", async () => {
		const at = new Resolving();
		await at.change("createPin", {
			boardId: at.board(at.ada),
			interests: ["--"],
		});
		const id = (await at.answer("Query.interest", {
			by: { slug: "--" },
		})) as Id;
		assert.equal(at.graph.data(id)?.name, "--");
	});
});

describe("repin", () => {
	it("copies title, link, image and description of the saved pin", async () => {
		const at = new Resolving();
		const first = at.pin(at.ben, at.board(at.ben));
		const pinId = at.pin(at.ben, at.board(at.ben), {
			title: "Sourdough",
			details: "A loaf",
			link: "https://example.com/loaf",
			image: IMAGE,
			origin_id: first,
		});
		const boardId = at.board(at.ada);
		for (const rest of [{}, { details: null }, { details: " " }]) {
			const { pin } = await at.change("repin", { pinId, boardId, ...rest });
			assert.deepEqual(at.graph.data(pin as Id), {
				title: "Sourdough",
				details: "A loaf",
				link: "https://example.com/loaf",
				image: IMAGE,
				created_at: NOW,
				board_id: boardId,
				user_id: at.ada,
				origin_id: pinId,
			});
		}
	});

	it("copies what else a pin stores, also a field that was added to the model, and no natural key or reference", async () => {
		const pinType = model.objects.get("Pin") ?? assert.fail();
		const added = { default: null, nullable: true, required: false };
		const grown: Model = {
			...model,
			objects: new Map(model.objects).set("Pin", {
				...pinType,
				stored: [
					...pinType.stored,
					{ ...added, field: "alt", key: "alt_text", typesByPath: new Map() },
					{ ...added, field: "code", key: "code", typesByPath: new Map() },
				],
				lookups: [
					{
						name: "code",
						type: "Pin",
						parts: [
							{ field: "code", key: "code", default: null, isReference: false },
						],
						fold: "NONE",
					},
				],
			}),
			sources: new Map(model.sources).set(
				"Pin",
				new Map(model.sources.get("Pin")).set("alt", {
					kind: "stored",
					key: "alt_text",
					default: null,
				}),
			),
		};
		const at = new Resolving(grown);
		const pinId = at.pin(at.ben, at.board(at.ben), {
			title: "Sourdough",
			alt_text: "A round loaf",
			code: "unique",
			section_id: "1",
		});
		const boardId = at.board(at.ada);
		const { pin } = await at.change("repin", { pinId, boardId });
		assert.deepEqual(at.graph.data(pin as Id), {
			title: "Sourdough",
			alt_text: "A round loaf",
			created_at: NOW,
			board_id: boardId,
			user_id: at.ada,
			origin_id: pinId,
		});
	});

	it("uses the viewer's title and description if they are given", async () => {
		const at = new Resolving();
		const pinId = at.pin(at.ben, at.board(at.ben), { details: "A loaf" });
		const { pin } = await at.change("repin", {
			pinId,
			boardId: at.board(at.ada),
			title: "Mine",
			details: "To bake",
		});
		assert.equal(at.graph.data(pin as Id)?.title, "Mine");
		assert.equal(at.graph.data(pin as Id)?.details, "To bake");
	});

	it("saves the viewer's own pin, and the same pin twice", async () => {
		const at = new Resolving();
		const boardId = at.board(at.ada);
		const input = { pinId: at.pin(at.ada, boardId), boardId };
		assert.notDeepEqual(
			await at.change("repin", input),
			await at.change("repin", input),
		);
		const keyed = { ...input, idempotencyKey: "k1" };
		assert.deepEqual(
			await at.change("repin", keyed),
			await at.change("repin", keyed),
		);
	});
});

describe("updatePin", () => {
	it("updatePin changes given fields, clears with null and keeps absent fields", async () => {
		const at = new Resolving();
		const board = at.board(at.ada);
		const pin = at.pin(at.ada, board, { details: "A loaf", image: IMAGE });
		assert.deepEqual(
			await at.change("updatePin", {
				pinId: pin,
				link: "https://example.com",
				image: null,
			}),
			{ pin, viewer: at.ada },
		);
		assert.deepEqual(at.graph.data(pin), {
			details: "A loaf",
			link: "https://example.com",
			created_at: "2026-01-03T00:00:00.000Z",
			board_id: board,
			user_id: at.ada,
		});
	});

	it("replaces the interests, and keeps them where none are given", async () => {
		const at = new Resolving();
		const pin = at.pin(at.ada, at.board(at.ada));
		const [old, kept] = ["old", "kept"].map((slug) => {
			const interest = at.graph.add("Interest", { slug, name: slug });
			at.graph.addEdge("filePin", pin, interest);
			return interest;
		}) as [Id, Id];
		await at.change("updatePin", { pinId: pin, title: "A loaf" });
		assert.ok(at.graph.hasEdge("filePin", pin, old));
		await at.change("updatePin", { pinId: pin, interests: ["kept", "new"] });
		const added = (await at.answer("Query.interest", {
			by: { slug: "new" },
		})) as Id;
		assert.deepEqual(
			[old, kept, added].map((to) => at.graph.hasEdge("filePin", pin, to)),
			[false, true, true],
		);
		await at.change("updatePin", { pinId: pin, interests: null });
		assert.ok(!at.graph.hasEdge("filePin", pin, kept));
		await at.refused("BAD_USER_INPUT", "updatePin", {
			pinId: pin,
			interests: ["Not a slug"],
		});
	});

	it("replaces the whole image", async () => {
		const at = new Resolving();
		const pin = at.pin(at.ada, at.board(at.ada), { image: IMAGE });
		const image = { url: "https://example.com/other.jpg", alt: "Other" };
		await at.change("updatePin", { pinId: pin, image });
		assert.deepEqual(at.graph.data(pin)?.image, image);
	});
});

describe("deletePin", () => {
	it("deletePin deletes the viewer's pin and returns its id", async () => {
		const at = new Resolving();
		const board = at.board(at.ada);
		const pin = at.pin(at.ada, board);
		assert.deepEqual(await at.change("deletePin", { pinId: pin }), {
			deletedPinId: pin,
			board,
			section: null,
			viewer: at.ada,
			origin: null,
		});
		assert.equal(at.graph.data(pin), undefined);
	});
});

describe("movePin", () => {
	function boards() {
		const at = new Resolving();
		const [here, there] = [at.board(at.ada), at.board(at.ada)];
		return {
			at,
			here,
			there,
			pin: at.pin(at.ada, here),
			beside: at.pin(at.ada, here),
			yonder: at.pin(at.ada, there),
		};
	}

	it("moves a pin to the top of its board by default", async () => {
		const { at, here, pin } = boards();
		for (const rest of [
			{},
			{ boardId: null, beforePinId: null, afterPinId: null },
		]) {
			assert.deepEqual(await at.change("movePin", { pinId: pin, ...rest }), {
				pin,
				board: here,
				section: null,
				previousBoard: here,
				previousSection: null,
			});
			assert.equal(at.graph.calls.at(-1), `place placePin ${pin} on ${here}`);
		}
	});

	it("moves a pin before or after a pin of its board", async () => {
		const { at, here, pin, beside } = boards();
		for (const side of ["before", "after"]) {
			await at.change("movePin", { pinId: pin, [`${side}PinId`]: beside });
			assert.equal(
				at.graph.calls.at(-1),
				`place placePin ${pin} on ${here} ${side} ${beside}`,
			);
		}
	});

	it("moves a pin to another board, to the top or beside a pin, and keeps its id", async () => {
		const { at, there, pin, yonder } = boards();
		await at.change("movePin", {
			pinId: pin,
			boardId: there,
			afterPinId: yonder,
		});
		assert.equal(
			at.graph.calls.at(-1),
			`place placePin ${pin} on ${there} after ${yonder}`,
		);
		assert.equal(at.graph.data(pin)?.board_id, there);
	});

	it("changes nothing when a pin is moved beside itself", async () => {
		const { at, here, pin } = boards();
		for (const side of ["before", "after"]) {
			assert.deepEqual(
				await at.change("movePin", { pinId: pin, [`${side}PinId`]: pin }),
				{
					pin,
					board: here,
					section: null,
					previousBoard: here,
					previousSection: null,
				},
			);
			assert.equal(
				at.graph.calls.some((call) => call.startsWith("place")),
				false,
			);
		}
		await at.change("movePin", { pinId: pin, boardId: here, afterPinId: pin });
		assert.equal(
			at.graph.calls.some((call) => call.startsWith("place")),
			false,
		);
	});

	it("refuses a neighbor on another board than the target, even the pin itself", async () => {
		const { at, there, pin, beside, yonder } = boards();
		assert.equal(
			await at.refused("BAD_USER_INPUT", "movePin", {
				pinId: pin,
				beforePinId: yonder,
			}),
			"movePin: beforePinId must be a pin of the target board.",
		);
		for (const after of [beside, pin]) {
			assert.equal(
				await at.refused("BAD_USER_INPUT", "movePin", {
					pinId: pin,
					boardId: there,
					afterPinId: after,
				}),
				"movePin: afterPinId must be a pin of the target board.",
			);
		}
	});

	it("refuses before together with after, and reports every other problem", async () => {
		const { at, pin, beside } = boards();
		assert.equal(
			await at.refused("BAD_USER_INPUT", "movePin", {
				pinId: pin,
				boardId: "x",
				beforePinId: beside,
				afterPinId: beside,
			}),
			'movePin: boardId must be an id, which is a decimal number, got "x"; afterPinId must not be given beside beforePinId.',
		);
	});

	it("returns NOT_FOUND for a neighbor that is hidden or not a pin", async () => {
		const { at, here, pin } = boards();
		const secret = at.pin(at.ben, at.board(at.ben, { secret: true }));
		for (const before of [secret, here]) {
			await at.refused("NOT_FOUND", "movePin", {
				pinId: pin,
				beforePinId: before,
			});
		}
	});

	it("returns FORBIDDEN for another user's board and NOT_FOUND for a secret one", async () => {
		const { at, pin } = boards();
		await at.refused("FORBIDDEN", "movePin", {
			pinId: pin,
			boardId: at.board(at.ben),
		});
		await at.refused("NOT_FOUND", "movePin", {
			pinId: pin,
			boardId: at.board(at.ben, { secret: true }),
		});
	});
});

describe("the section of a pin", () => {
	function setting() {
		const at = new Resolving();
		const board = at.board(at.ada);
		const section = at.section(board);
		const pin = at.pin(at.ada, board);
		const sectionOf = (id: Id) => at.graph.data(id)?.section_id;
		return { at, board, section, pin, sectionOf };
	}

	it("is given when the pin is created or saved, and is one of the board's", async () => {
		const { at, board, section, pin, sectionOf } = setting();
		const created = await at.change("createPin", {
			boardId: board,
			sectionId: section,
		});
		const saved = await at.change("repin", {
			pinId: pin,
			boardId: board,
			sectionId: section,
		});
		assert.deepEqual(
			[created.pin, saved.pin].map((id) => sectionOf(id as Id)),
			[section, section],
		);
		const elsewhere = { boardId: at.board(at.ada), sectionId: section };
		for (const [mutation, input] of [
			["createPin", elsewhere],
			["repin", { ...elsewhere, pinId: pin }],
			["movePin", { ...elsewhere, pinId: pin }],
		] as const) {
			assert.equal(
				await at.refused("BAD_USER_INPUT", mutation, input),
				`${mutation}: sectionId must be a section of the board.`,
			);
		}
	});

	it("changes with movePin, which places the pin among those of the section", async () => {
		const { at, board, section, pin, sectionOf } = setting();
		const neighbor = at.pin(at.ada, board, { section_id: section });
		const outside = at.pin(at.ada, board);
		await at.change("movePin", { pinId: pin, sectionId: section });
		assert.equal(sectionOf(pin), section);
		await at.change("movePin", {
			pinId: pin,
			sectionId: section,
			afterPinId: neighbor,
		});
		assert.equal(
			at.graph.calls.at(-1),
			`place placeInSection ${pin} on ${section} after ${neighbor}`,
		);
		assert.equal(
			await at.refused("BAD_USER_INPUT", "movePin", {
				pinId: pin,
				sectionId: section,
				afterPinId: outside,
			}),
			"movePin: afterPinId must be a pin of the target section.",
		);
		// A move on the board keeps it, null takes the pin out.
		await at.change("movePin", { pinId: pin, afterPinId: outside });
		assert.equal(sectionOf(pin), section);
		await at.change("movePin", { pinId: pin, sectionId: null });
		assert.equal(sectionOf(pin), undefined);
		assert.equal(at.graph.calls.at(-1), `modify ${pin}`);
	});

	it("is lost on another board, and leads to its own", async () => {
		const { at, board, section, pin, sectionOf } = setting();
		const other = at.board(at.ada);
		await at.change("movePin", { pinId: pin, sectionId: section });
		await at.change("movePin", { pinId: pin, boardId: other });
		assert.deepEqual(
			[sectionOf(pin), at.graph.data(pin)?.board_id],
			[undefined, other],
		);
		await at.change("movePin", { pinId: pin, sectionId: section });
		assert.deepEqual(
			[sectionOf(pin), at.graph.data(pin)?.board_id],
			[section, board],
		);
	});
});
