import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page, Response } from "playwright-core";
import { type DemoServer, serveDemo } from "../clients/demo.ts";
import { longBoard, plainly } from "../clients/lists.ts";
import { openBrowser } from "../helpers/browser.ts";
import { until } from "../helpers/until.ts";
import { logIn, type Pinboard, servePinboard, visit } from "./pinboard.ts";

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
			.getByRole("button", { name: "Like", exact: true })
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
			has: page.getByRole("button", { name: "Like", exact: true }),
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
		const like = page.getByRole("button", { name: "Like", exact: true });
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
