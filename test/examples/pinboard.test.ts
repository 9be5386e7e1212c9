import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page, Response } from "playwright-core";
import { type DemoServer, serveDemo } from "../clients/demo.ts";
import { longBoard, plainly } from "../clients/lists.ts";
import { openBrowser } from "../helpers/browser.ts";
import { until } from "../helpers/until.ts";
import {
	logIn,
	type Pinboard,
	seriousViolations,
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

	it("puts the message for each field of a refused input beside the field, and leads to the first", async () => {
		const { page } = await visit(browser, `${pinboard.url}#/user/marigold_01`);
		await logIn(page, demo.token);
		await page.getByRole("button", { name: "Edit profile" }).click();
		const dialog = page.getByRole("dialog");
		await page.route(demo.url, (route) =>
			route.fulfill({
				json: {
					data: { updateUser: null },
					errors: [
						{
							message: "The input was refused.",
							extensions: {
								code: "BAD_USER_INPUT",
								fields: [
									{
										path: ["input", "website"],
										code: "BAD_USER_INPUT",
										message: "Use an address that begins with https.",
									},
								],
							},
						},
					],
				},
				headers: { "access-control-allow-origin": "*" },
			}),
		);
		await dialog.getByLabel("Website").fill("nothing");
		await dialog.getByRole("button", { name: "Save" }).click();
		await dialog.getByText("Use an address that begins with https.").waitFor();
		const field = dialog.getByLabel("Website");
		assert.equal(await field.getAttribute("aria-invalid"), "true");
		await until("the focus in the field", () =>
			field.evaluate((input) => input === document.activeElement),
		);
		assert.equal(await field.inputValue(), "nothing");
		await page.context().close();
	});

	it("has no serious accessibility violation, in light and dark and on a phone, and nothing wider than a phone", async () => {
		const { page } = await visit(browser, pinboard.url);
		// A color on its way to another has a contrast of its own.
		await page.emulateMedia({ reducedMotion: "reduce" });
		await logIn(page, demo.token);
		await page.locator(".card").nth(3).waitFor();
		const found: string[] = [];
		const check = async (what: string) =>
			found.push(
				...(await seriousViolations(page)).map((one) => `${what}: ${one}`),
			);
		await check("start");
		await page.setViewportSize({ width: 390, height: 844 });
		await page.emulateMedia({ colorScheme: "dark" });
		await check("start, dark, on a phone");
		assert.equal(
			await page.evaluate(() => document.documentElement.scrollWidth),
			390,
		);
		await page.locator(".card .frame").first().click();
		await page.getByLabel("Your comment").waitFor();
		await check("a pin, dark, on a phone");
		await page.emulateMedia({ colorScheme: "light" });
		await page.keyboard.press("Escape");
		await page.getByRole("button", { name: "Create" }).click();
		await page.getByLabel("Board", { exact: true }).waitFor();
		await check("a form, on a phone");
		assert.deepEqual(found, []);
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
