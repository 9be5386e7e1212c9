import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page, Response } from "playwright-core";
import { type DemoServer, serveDemo } from "../clients/demo.ts";
import { longBoard, plainly } from "../clients/lists.ts";
import { openBrowser } from "../helpers/browser.ts";
import { until } from "../helpers/until.ts";
import { newUser } from "./newUser.ts";
import {
	logIn,
	type Pinboard,
	scrollToEnd,
	servePinboard,
	visit,
} from "./pinboard.ts";

/** The next response to a request whose body matches. */
function responseTo(page: Page, body: RegExp): Promise<Response> {
	return page.waitForResponse((response) =>
		body.test(response.request().postData() ?? ""),
	);
}

describe("the Pinboard example", () => {
	let browser: Browser;
	let demo: DemoServer;
	let pinboard: Pinboard;
	before(async () => {
		[browser, demo] = await Promise.all([openBrowser(), serveDemo()]);
		pinboard = await servePinboard({ api: demo.url });
	});
	after(async () => {
		await browser?.close();
		await pinboard?.[Symbol.asyncDispose]();
		await demo?.[Symbol.asyncDispose]();
	});

	it("shows pins with drawn pictures to an anonymous visitor, and sends requests only to its own origin and the API", async () => {
		const { page, addresses, faults } = await visit(browser, pinboard.url);
		await page.locator(".card").nth(11).waitFor();
		assert.equal(await page.title(), "Pinboard");
		await page.getByRole("heading", { name: "Gardens" }).waitFor();
		assert.ok(
			(await page
				.locator(".card svg.picture")
				.first()
				.locator("path, circle")
				.count()) >= 4,
		);
		await page.getByRole("link", { name: "Baking" }).click();
		await page.getByRole("heading", { name: "Baking" }).waitFor();
		await page.locator(".card").nth(11).waitFor();
		await page.waitForLoadState("networkidle");
		const origins = new Set(
			addresses.map((address) => new URL(address).origin),
		);
		origins.delete("null");
		assert.deepEqual(
			[...origins].toSorted(),
			[new URL(demo.url).origin, new URL(pinboard.url).origin].toSorted(),
		);
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	// Before other tests: each log-in reads the feed, which takes of what waits.
	it("shows the home feed with reasons, new pins on top of it when asked, more below, and never a hidden pin", async () => {
		const { page, asked, faults } = await visit(
			browser,
			`${pinboard.url}#/home/`,
			demo.token,
		);
		const cards = page.locator("[data-pin]");
		const shown = () =>
			cards.evaluateAll((all) =>
				all.map((card) => card.getAttribute("data-pin") ?? "").toSorted(),
			);
		await cards.nth(11).waitFor();
		await page.locator(".why a").first().waitFor();
		const before = await shown();
		await page.getByRole("button", { name: /new pins?$/ }).waitFor();
		// If the machine stalls, the pins come with a later refresh.
		await until("new pins", async () => {
			await page.getByRole("button", { name: /new pins?$|^Refresh$/ }).click();
			await page
				.getByRole("button", { name: "Refreshing …" })
				.waitFor({ state: "detached" });
			return (await cards.count()) > before.length;
		});
		await page.locator("h1:focus").waitFor();
		const refreshed = await shown();
		assert.equal(new Set(refreshed).size, refreshed.length);
		assert.deepEqual(
			before.filter((id) => !refreshed.includes(id)),
			[],
		);
		const [up] = asked.filter(({ variables }) => variables.before);
		assert.deepEqual(
			[up?.operationName, up?.variables.first, up?.variables.last],
			["HomeFeedQuery", null, 50],
		);

		const hide = page.getByRole("button", { name: /^Hide / }).first();
		const hidden = await cards.first().getAttribute("data-pin");
		await hide.focus();
		const answered = responseTo(page, /HidePinMutation/);
		await page.keyboard.press("Enter");
		assert.deepEqual(await (await answered).json(), {
			data: { hideFromHomeFeed: { hiddenPinId: hidden } },
		});
		await page.locator(`[data-pin="${hidden}"]`).waitFor({ state: "detached" });
		await page.locator(".hide:focus").waitFor();

		const all = await scrollToEnd(page);
		assert.equal(new Set(all).size, all.length);
		assert.ok(!all.includes(hidden ?? ""));
		const { viewer } = await plainly(demo.url, demo.token).data<{
			viewer: { homeFeed: { edges: { node: { id: string } }[] } };
		}>("{ viewer { homeFeed(last: 100) { edges { node { id } } } } }");
		assert.deepEqual(
			all.toSorted(),
			viewer.homeFeed.edges.map(({ node }) => node.id).toSorted(),
		);
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	it("is at home after a log-in, finds people, and comes back from being offline with its header in place", async () => {
		const { page, faults } = await visit(browser, pinboard.url);
		await logIn(page, demo.token);
		await page.getByRole("heading", { name: "Home" }).waitFor();
		const home = page.getByRole("link", { name: "Home" });
		assert.equal(await home.getAttribute("aria-current"), "page");
		// No link of the row is cut.
		const row = page.locator(".interests");
		const box = await row.boundingBox();
		assert.ok(box);
		for (const link of await row.locator("a").all()) {
			const at = await link.boundingBox();
			assert.ok(at);
			const isInRow = at.y < box.y + box.height - 1;
			if (isInRow) assert.ok(at.x + at.width <= box.x + box.width + 1);
		}
		await page.getByLabel("Search people").fill("basil ex");
		await page.locator(".search li a", { hasText: "Basil Exampleby" }).click();
		await page.getByRole("heading", { name: "Basil Exampleby" }).waitFor();
		assert.deepEqual(faults, []);

		await page.context().setOffline(true);
		await page.evaluate(() => {
			location.hash = "#/interest/baking";
		});
		await page.getByRole("heading", { name: "You are offline." }).waitFor();
		await home.waitFor();
		await page.context().setOffline(false);
		await page.getByRole("heading", { name: "Baking" }).waitFor();
		await page.context().close();
	});

	it("says what to follow in the empty feed of a new user", async () => {
		const user = await newUser(demo.url, "new_here");
		const { page } = await visit(browser, pinboard.url, user.token);
		await page.getByRole("heading", { name: "Nothing here yet." }).waitFor();
		const interest = page.locator(".empty-feed li").first();
		await interest.getByRole("button", { name: /^Follow / }).click();
		await interest.getByRole("button", { name: /^Unfollow / }).waitFor();
		await page.context().close();
	});

	it("pauses longer and longer between pages of the home feed that are empty, though more may follow", async () => {
		const { page } = await visit(browser, pinboard.url, demo.token);
		await page.locator(".card").nth(5).waitFor();
		const at: number[] = [];
		const enough = Promise.withResolvers<void>();
		// As while the pools do not answer.
		await page.route(demo.url, async (route) => {
			const { operationName, variables } = route.request().postDataJSON();
			if (operationName !== "HomeFeedQuery") return route.continue();
			at.push(performance.now());
			if (at.length === 4) enough.resolve();
			const pageInfo = {
				startCursor: null,
				endCursor: variables.after,
				hasNextPage: true,
				hasPreviousPage: true,
			};
			const homeFeed = { edges: [], pageInfo };
			return route.fulfill({
				json: {
					data: { node: { __typename: "User", id: variables.id, homeFeed } },
				},
			});
		});
		await page.mouse.wheel(0, 30_000);
		await enough.promise;
		const [first = 0, second = 0, third = 0, fourth = 0] = at;
		// At least: a busy machine makes them longer.
		assert.ok(second - first >= 900, String(second - first));
		assert.ok(third - second >= 1_900, String(third - second));
		assert.ok(fourth - third >= 3_900, String(fourth - third));
		await page.context().close();
	});

	it("asks an anonymous visitor who likes a pin to log in", async () => {
		const { page } = await visit(browser, pinboard.url);
		await page
			.getByRole("button", { name: /^Like \d+$/ })
			.first()
			.click();
		await page.getByRole("heading", { name: "Log in with a token" }).waitFor();
		await page.context().close();
	});

	it("logs in with a pasted token, stays logged in after a reload, and logs out", async () => {
		const { page, faults } = await visit(browser, pinboard.url);
		await logIn(page, demo.token);
		await page.getByRole("link", { name: "Marigold Testwell" }).waitFor();
		await page.reload();
		await page.getByRole("link", { name: "Marigold Testwell" }).waitFor();
		await page.getByRole("button", { name: "Log out" }).click();
		await page.getByRole("button", { name: "Log in" }).waitFor();
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	it("reports a token that the server rejects, and continues logged out", async () => {
		const { page } = await visit(browser, pinboard.url);
		await logIn(page, `${demo.token}x`);
		await page.getByText("The server did not take that token.").waitFor();
		await page.getByRole("button", { name: "Log in" }).waitFor();
		await page.locator(".card").first().waitFor();
		await page.context().close();
	});

	it("shows a like before the server responds, and the server stores it", async () => {
		const { page, faults } = await visit(browser, pinboard.url);
		await logIn(page, demo.token);
		const card = page.locator(".card").filter({
			has: page.getByRole("button", { name: /^Like \d+$/ }),
		});
		const id = (await card.first().getAttribute("data-pin")) ?? "";
		const button = page.locator(`[data-pin="${id}"] .like`);
		const before = Number(await button.textContent());
		const answer = Promise.withResolvers<void>();
		await page.route(demo.url, async (route) => {
			await answer.promise;
			await route.continue();
		});
		await button.click();
		await page
			.locator(`[data-pin="${id}"] .like[aria-pressed="true"]`)
			.waitFor();
		assert.equal(Number(await button.textContent()), before + 1);
		const likes = async () => {
			const { pin } = await plainly(demo.url, demo.token).data<{
				pin: { viewerLikes: boolean; likedBy: { totalCount: number } };
			}>(
				"query ($id: ID!) { pin(id: $id) { viewerLikes likedBy(first: 0) { totalCount } } }",
				{ id },
			);
			return [pin.viewerLikes, pin.likedBy.totalCount];
		};
		assert.deepEqual(await likes(), [false, before]);

		const answered = responseTo(page, /likePin/);
		answer.resolve();
		await answered;
		assert.deepEqual(await likes(), [true, before + 1]);
		await page.reload();
		await page
			.locator(`[data-pin="${id}"] .like[aria-pressed="true"]`)
			.waitFor();
		assert.equal(Number(await button.textContent()), before + 1);
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	it("reverts a like that the server rejects, and shows the error", async () => {
		const { page } = await visit(browser, pinboard.url);
		await logIn(page, demo.token);
		const like = page.getByRole("button", { name: /^Like \d+$/ });
		await like.first().waitFor();
		const count = await like.count();
		await page.route(demo.url, (route) =>
			route.fulfill({
				json: {
					data: { likePin: null },
					errors: [
						{
							message: "The shard is not available at the moment.",
							extensions: { code: "UNAVAILABLE" },
						},
					],
				},
				headers: { "access-control-allow-origin": "*" },
			}),
		);
		await like.first().click();
		await page
			.getByText("Not saved: The shard is not available at the moment.")
			.waitFor();
		assert.equal(await like.count(), count);
		await page.context().close();
	});

	it("follows or unfollows a user, and updates the number of followers", async () => {
		const { page, faults } = await visit(
			browser,
			`${pinboard.url}#/user/basil_02`,
		);
		await logIn(page, demo.token);
		const followers = page.locator("[data-followers]");
		const button = page.getByRole("button", { name: /^(Unf|F)ollow / });
		await button.waitFor();
		const count = async () =>
			Number.parseInt((await followers.textContent()) ?? "", 10);
		const [follows, before] = [
			await button.getAttribute("aria-pressed"),
			await count(),
		];
		const change = follows === "true" ? -1 : 1;
		const answered = responseTo(page, /followUser/i);
		await button.click();
		await answered;
		await until(
			"the button pressed, or not any more",
			async () =>
				(await button.getAttribute("aria-pressed")) ===
				String(follows !== "true"),
		);
		await until(
			"the new count",
			async () => (await count()) === before + change,
		);
		await page.reload();
		await button.waitFor();
		await until(
			"the count kept",
			async () => (await count()) === before + change,
		);
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	it("opens a pin of a board in a dialog, adds a comment, and returns to the board", async () => {
		const board = await longBoard(demo.url);
		const { page, faults } = await visit(
			browser,
			`${pinboard.url}#/board/${board.id}`,
		);
		await logIn(page, demo.token);
		await page.locator(`[data-pin="${board.pins[2]}"] .frame`).click();
		const dialog = page.getByRole("dialog");
		await dialog.getByLabel("Your comment").fill("As good as made up.");
		await dialog.getByRole("button", { name: "Say it" }).click();
		await dialog.getByText("As good as made up.").waitFor();
		assert.equal(await dialog.getByLabel("Your comment").inputValue(), "");
		await page.keyboard.press("Escape");
		await page.waitForURL(new RegExp(`#/board/${board.id}$`));
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	it("signs up, with what is wrong beside its field, then makes a board and a pin on it, and edits and deletes them", async () => {
		const { page, asked, faults } = await visit(browser, pinboard.url);
		await page.getByRole("button", { name: "Log in" }).click();
		const dialog = page.getByRole("dialog");
		await dialog.getByRole("button", { name: "Sign up" }).click();
		const username = dialog.getByLabel("Username");
		await username.fill("marigold_01");
		await dialog.getByRole("button", { name: "Sign up" }).click();
		await dialog.getByText(/in use|taken/).waitFor();
		assert.equal(await username.inputValue(), "marigold_01");
		await username.fill(`maker_${process.pid}`);
		await dialog.getByLabel("Name", { exact: true }).fill("Made Up");
		await dialog.getByRole("button", { name: "Sign up" }).click();
		await dialog
			.getByRole("button", { name: /^Follow / })
			.first()
			.click();
		await dialog.getByRole("button", { name: /^Unfollow / }).waitFor();
		await dialog.getByRole("button", { name: "Done" }).click();
		await page.getByRole("link", { name: "Made Up" }).click();
		await page.getByRole("heading", { name: "Made Up" }).waitFor();

		// The profile's list shows the board without being read again.
		await page.getByRole("button", { name: "Create" }).click();
		await dialog.getByRole("button", { name: "Create a board" }).click();
		await dialog.getByLabel("Name").fill("Sheds");
		await dialog.getByRole("button", { name: "Create", exact: true }).click();
		await page.getByRole("heading", { name: "Sheds" }).waitFor();
		const before = asked.length;
		await page.getByRole("button", { name: "Create" }).click();
		await dialog.getByLabel("Title").fill("A shed of doors");
		await dialog.getByRole("button", { name: "Create", exact: true }).click();
		await page.locator(".card", { hasText: "A shed of doors" }).waitFor();
		assert.deepEqual(
			asked.slice(before).map(({ operationName }) => operationName),
			["CreateDialogQuery", "CreateDialogPinMutation"],
		);

		await page.locator(".card .frame").click();
		await dialog.getByRole("button", { name: "Edit" }).click();
		await dialog.getByLabel("Title").fill("A shed of windows");
		await dialog
			.getByRole("button", { name: "Save", exact: true })
			.last()
			.click();
		await dialog.getByRole("heading", { name: "A shed of windows" }).waitFor();
		await dialog.getByRole("button", { name: "Edit" }).click();
		await dialog.getByRole("button", { name: "Delete" }).click();
		await page.locator(".card").waitFor({ state: "detached" });

		await page.getByRole("button", { name: "Edit board" }).click();
		await dialog.getByRole("button", { name: "Delete with its pins" }).click();
		await page.getByRole("heading", { name: "Made Up" }).waitFor();
		await page.getByText("Sheds is deleted.").waitFor();
		assert.equal(await page.locator(".boards li").count(), 0);
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	it("saves a pin to a new board, and takes back what the server refuses", async () => {
		const { page } = await visit(browser, pinboard.url);
		await logIn(page, demo.token);
		const dialog = page.getByRole("dialog");
		const card = page.locator(".card").nth(2);
		await card.locator(".save").focus();
		await page.keyboard.press("Enter");
		await dialog.getByLabel("A new board").fill("Saved for later");
		await page.keyboard.press("Enter");
		await card.getByRole("button", { name: /^Saved/ }).waitFor();
		await page.getByText("Saved to Saved for later.").waitFor();

		const other = page.locator(".card").nth(3).locator(".save");
		const refusal = Promise.withResolvers<void>();
		await page.route(demo.url, async (route) => {
			if (!/useRepinMutation/.test(route.request().postData() ?? "")) {
				return route.continue();
			}
			await refusal.promise;
			return route.fulfill({
				json: {
					data: { repin: null },
					errors: [
						{
							message: "Only its owner may pin there.",
							extensions: { code: "FORBIDDEN" },
						},
					],
				},
				headers: { "access-control-allow-origin": "*" },
			});
		});
		await other.focus();
		await page.keyboard.press("Enter");
		await dialog.getByRole("button", { name: "Saved for later" }).click();
		await until(
			"the pin shown as saved",
			async () => (await other.getAttribute("aria-pressed")) === "true",
		);
		refusal.resolve();
		await page.getByText("Not saved: Only its owner may pin there.").waitFor();
		assert.equal(await other.getAttribute("aria-pressed"), "false");
		await page.context().close();
	});

	it("shows what the server says beside each field, in every form, leads to the first, and keeps what was typed", async () => {
		const user = await newUser(demo.url, "forms_of_pinboard");
		const { page } = await visit(
			browser,
			`${pinboard.url}#/user/${user.username}`,
			user.token,
		);
		const dialog = page.getByRole("dialog").last();
		const button = (name: string) =>
			dialog.getByRole("button", { name, exact: true });
		/** Fills fields by their labels with what is wrong, and finds the messages beside them. */
		async function refused(
			submit: string,
			fields: readonly (readonly [label: string, text: string, says: string])[],
		): Promise<void> {
			for (const [label, text] of fields) {
				await dialog.getByLabel(label, { exact: true }).fill(text);
			}
			await button(submit).click();
			for (const [label, text, says] of fields) {
				const field = dialog.getByLabel(label, { exact: true });
				await until(
					`a message beside ${label}`,
					async () => (await field.getAttribute("aria-invalid")) === "true",
				);
				const [id] =
					(await field.getAttribute("aria-describedby"))?.split(" ") ?? [];
				const message = page.locator(`[id="${id}"]`);
				assert.equal(await message.textContent(), says, label);
				assert.equal(await field.inputValue(), text, label);
			}
			const [[first] = [""]] = fields;
			await until(`the focus in ${first}`, () =>
				dialog
					.getByLabel(first, { exact: true })
					.evaluate((input) => input === document.activeElement),
			);
		}
		const HTTP = "Give an address that begins with http:// or https://.";
		await page.getByRole("button", { name: "Edit profile" }).click();
		await refused("Save", [
			["Username", "x y", "Use 3 to 30 letters, digits or underscores."],
			["Website", "nothing", HTTP],
		]);
		await page.keyboard.press("Escape");

		await page.getByRole("button", { name: "Create" }).click();
		await refused("Create", [
			["Link", "nowhere", HTTP],
			["Address of the picture", "nothing", HTTP],
			["Interests", "Ä", "Use 1 to 100 lowercase letters, digits or hyphens."],
		]);
		await button("Create a board instead").click();
		await refused("Create", [["Name", "", "Fill this in."]]);
		await page.keyboard.press("Escape");

		await page.goto(`${pinboard.url}#/board/${user.board}`);
		await page.getByRole("button", { name: "Edit board" }).click();
		await refused("Save", [
			["Name", "", "Fill this in."],
			["Description", "x".repeat(501), "Use at most 500 characters."],
		]);
		await page.keyboard.press("Escape");
		await page.getByRole("button", { name: "Add sections" }).click();
		await refused("Add", [["A new section", "", "Fill this in."]]);
		await page.keyboard.press("Escape");
		await page.getByRole("button", { name: "Collaborators" }).click();
		await refused("Add", [
			["Add somebody", "nobody_at_all", "There is no user of this name."],
		]);
		await page.keyboard.press("Escape");

		await page.locator(".card .frame").first().click();
		await dialog.getByRole("button", { name: "Edit" }).click();
		await refused("Save", [["Link", "nowhere", HTTP]]);
		await page.keyboard.press("Escape");
		await refused("Say it", [["Your comment", "", "Fill this in."]]);
		await page.context().close();
	});

	it("puts pins in order by the keyboard, at once, and takes back what the server refuses", async () => {
		const user = await newUser(demo.url, "arranges_pinboard");
		const [c, b, a] = user.pins;
		const { page } = await visit(
			browser,
			`${pinboard.url}#/board/${user.board}`,
			user.token,
		);
		const shown = () =>
			page
				.locator("[data-arranged]")
				.evaluateAll((items) =>
					items.map((item) => item.getAttribute("data-arranged")),
				);
		const becomes = (what: string, pins: readonly unknown[]) =>
			until(what, async () => String(await shown()) === String(pins));
		const stored = async () => {
			const { board } = await plainly(demo.url, user.token).data<{
				board: { pins: { nodes: { id: string }[] } };
			}>(
				"query ($id: ID!) { board(id: $id) { pins(first: 10) { nodes { id } } } }",
				{ id: user.board },
			);
			return board.pins.nodes.map(({ id }) => id);
		};
		await page.getByRole("button", { name: "Arrange pins" }).click();
		await becomes("the pins as they are", [c, b, a]);
		const held = Promise.withResolvers<void>();
		await page.route(demo.url, async (route) => {
			await held.promise;
			await route.continue();
		});
		const later = page.getByRole("button", { name: "Move Pin c later" });
		await later.focus();
		await page.keyboard.press("Enter");
		await becomes("the pin moved at once", [b, c, a]);
		assert.deepEqual(await stored(), user.pins);
		// The focus stays on the button, which moves the pin on.
		const answered = responseTo(page, /useMovePinMutation/);
		held.resolve();
		await answered;
		await page.unroute(demo.url);
		const again = responseTo(page, /useMovePinMutation/);
		await page.keyboard.press("Enter");
		await becomes("the pin moved on", [b, a, c]);
		await again;
		assert.deepEqual(await stored(), [b, a, c]);
		await page
			.getByText("Pin c is number 3 of 3.")
			.waitFor({ state: "attached" });

		// Dragged before one that somebody has deleted meanwhile.
		await plainly(demo.url, user.token).data(
			"mutation ($id: ID!) { deletePin(input: { pinId: $id }) { deletedPinId } }",
			{ id: b },
		);
		await page
			.locator(`[data-arranged="${c}"]`)
			.dragTo(page.locator(`[data-arranged="${b}"]`));
		await page.getByText("Not moved: Pin not found.").waitFor();
		await becomes("the pins as they were", [b, a, c]);
		await page.context().close();
	});

	it("makes sections, moves a pin into one, and shares the board with a collaborator", async () => {
		const user = await newUser(demo.url, "sections_pinboard");
		const { page, asked, faults } = await visit(
			browser,
			`${pinboard.url}#/board/${user.board}`,
			user.token,
		);
		const dialog = page.getByRole("dialog").last();
		await page.getByRole("button", { name: "Add sections" }).click();
		for (const name of ["Old", "New"]) {
			await dialog.getByLabel("A new section").fill(name);
			await dialog.getByRole("button", { name: "Add", exact: true }).click();
			await dialog.getByRole("button", { name: `Rename ${name}` }).waitFor();
		}
		await dialog.getByRole("button", { name: "Rename Old" }).click();
		await dialog.getByLabel("New name of Old").fill("Older");
		await dialog.getByRole("button", { name: "Rename", exact: true }).click();
		await dialog.getByRole("button", { name: "Move Older earlier" }).click();
		await page.keyboard.press("Escape");
		const sections = page.getByRole("navigation", { name: "Sections" });
		assert.deepEqual(await sections.getByRole("link").allTextContents(), [
			"All pins",
			"Older",
			"New",
		]);

		await page.locator(".card .frame").first().click();
		await dialog.getByRole("button", { name: "Move", exact: true }).click();
		await dialog.getByLabel("Where to").selectOption("Sheds, Older");
		await dialog.getByRole("button", { name: "Move", exact: true }).click();
		await page.getByText("Moved to Sheds.").waitFor();
		await dialog.getByRole("link", { name: "Older" }).click();
		await until(
			"the one pin of the section",
			async () =>
				String(await page.locator(".card > p").allTextContents()) === "Pin c",
		);

		await page.getByRole("button", { name: "Edit sections" }).click();
		await dialog
			.getByRole("button", { name: "Delete Older, and keep its pins" })
			.click();
		await page.keyboard.press("Escape");
		await page.locator(".card").nth(2).waitFor();

		await page.getByRole("button", { name: "Collaborators" }).click();
		// Shown before it is stored.
		const added = responseTo(page, /CollaboratorsAddMutation/);
		await dialog.getByLabel("Add somebody").fill("Basil P");
		await dialog.getByRole("button", { name: /@basil_02$/ }).click();
		await dialog.getByRole("button", { name: "Remove Basil" }).waitFor();
		await added;
		const { board } = await plainly(demo.url, user.token).data<{
			board: { collaborators: { nodes: { username: string }[] } };
		}>(
			"query ($id: ID!) { board(id: $id) { collaborators(first: 5) { nodes { username } } } }",
			{ id: user.board },
		);
		assert.deepEqual(board.collaborators.nodes, [{ username: "basil_02" }]);
		await dialog.getByRole("button", { name: "Remove Basil" }).click();
		await page.getByText(/^Basil .* is removed\./).waitFor();
		// The page was read once, and kept right by payloads.
		assert.deepEqual(
			asked
				.map(({ operationName }) => operationName)
				.filter((name) => name.endsWith("PageQuery")),
			["BoardPageQuery", "SectionPinsPageQuery"],
		);
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	it("edits a comment in its place, reports, blocks and unblocks, and closes the account", async () => {
		const user = await newUser(demo.url, "speaks_on_pinboard");
		const { pins } = await longBoard(demo.url);
		const { page, faults } = await visit(
			browser,
			`${pinboard.url}#/?pin=${pins[3]}`,
			user.token,
		);
		const dialog = page.getByRole("dialog").last();
		const press = (name: string | RegExp) =>
			dialog.getByRole("button", { name, exact: true }).click();
		await dialog.getByLabel("Your comment").fill("Well sed.");
		await press("Say it");
		await press("Edit the comment “Well sed.”");
		const changed = dialog.getByLabel("Your comment, changed");
		await changed.fill("");
		await press("Save");
		await dialog.getByText("Fill this in.").waitFor();
		await changed.fill("Well said.");
		await page.keyboard.press("Enter");
		await dialog.getByText("Well said.").waitFor();
		await dialog.getByText("edited").waitFor();

		await dialog
			.locator(".pin-actions")
			.getByRole("button", { name: "Report" })
			.click();
		await dialog.getByLabel("Why").selectOption("It is advertising");
		await dialog.getByLabel("What should they know?").fill("Sheds for sale");
		const reported = responseTo(page, /ReportButtonMutation/);
		await press("Send report");
		assert.deepEqual(await (await reported).json(), {
			data: { report: { subject: { __typename: "Pin", id: pins[3] } } },
		});
		await page.getByText("Thank you. The operators will look at it.").waitFor();

		await page.goto(`${pinboard.url}#/user/basil_02`);
		await page.getByRole("button", { name: "Block" }).click();
		await press("Block");
		await page.getByText(/^Basil .* is blocked\./).waitFor();
		await page.getByRole("button", { name: "Unblock" }).click();
		await page.getByText("is not blocked any more.").waitFor();
		await page.getByRole("button", { name: "Block" }).waitFor();

		await page.getByRole("link", { name: "Made Up" }).click();
		await page.getByRole("button", { name: "Edit profile" }).click();
		await press("Close the account");
		await dialog.getByLabel("Your username, to be sure").fill(user.username);
		await press("Close the account");
		await page.getByText("Your account is closed.").waitFor();
		await page.getByRole("button", { name: "Log in" }).waitFor();
		const { user: gone } = await plainly(demo.url).data<{ user: unknown }>(
			"query ($username: String!) { user(by: { username: $username }) { id } }",
			{ username: user.username },
		);
		assert.equal(gone, null);
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	it("says in an empty home feed how it fills, asks a visitor to log in, and shows why a refresh failed", async () => {
		const user = await newUser(demo.url, "follows_nobody");
		const { page } = await visit(browser, `${pinboard.url}#/home/`);
		await page.getByRole("heading", { name: "A feed of your own" }).waitFor();
		await logIn(page, user.token);
		await page.getByRole("heading", { name: "Nothing here yet." }).waitFor();
		await page.route(demo.url, (route) =>
			route.fulfill({
				json: {
					data: { refreshHomeFeed: null },
					errors: [
						{
							message: "The shard is not available at the moment.",
							extensions: { code: "UNAVAILABLE" },
						},
					],
				},
				headers: { "access-control-allow-origin": "*" },
			}),
		);
		await page.getByRole("button", { name: "Refresh" }).click();
		await page
			.getByText("Not refreshed: The shard is not available at the moment.")
			.waitFor();
		await page.context().close();
	});

	it("shows a secret board to its owner only, and to others as missing", async () => {
		const { user } = await plainly(demo.url, demo.token).data<{
			user: { boards: { nodes: { id: string; secret: boolean }[] } };
		}>(
			`{ user(by: {username: "marigold_01"}) { boards(first: 20) { nodes { id secret } } } }`,
		);
		const secret = user.boards.nodes.find((board) => board.secret)?.id;
		const { page } = await visit(browser, `${pinboard.url}#/board/${secret}`);
		await page
			.getByRole("heading", { name: "There is no such board." })
			.waitFor();
		await logIn(page, demo.token);
		await page.getByRole("heading", { name: "Surprise party" }).waitFor();
		await page.context().close();
	});
});
