import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../helpers/browser.ts";
import { type DemoServer, serveDemo } from "../helpers/demoServer.ts";
import { type Visit, visitGraphiql } from "../helpers/graphiqlPage.ts";

suite("GraphiQL on the demo graph", { timeout: 240_000 }, () => {
	let browser: Browser;
	let demo: DemoServer;
	before(async () => {
		browser = await openBrowser();
		demo = await serveDemo();
	});
	after(async () => {
		await browser?.close();
		await demo?.[Symbol.asyncDispose]();
	});

	const visit = (options = {}) => visitGraphiql(browser, demo.url, options);
	const tab = (page: Page, name: string) =>
		page.getByRole("tab", { name, exact: true });

	/** Each step's line of text, as a reader of screens is told it. */
	async function lines(page: Page): Promise<string[]> {
		const texts = await page.locator(".step-line[data-ran]").allTextContents();
		return texts.map((text) => text.replaceAll(/\s+/g, " ").trim());
	}

	/**
	 * Shows a tab. GraphiQL reads the name of its operation 100 ms later, by a
	 * timer of the page's, and this waits for a later one of the same page.
	 */
	async function open({ page }: Visit, name: string): Promise<void> {
		await tab(page, name).click();
		await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
	}

	test("shows the steps of the very run that answered, with the price against the limit, only while it is open", async () => {
		await using visited = await visit();
		const { page, faults, requests } = visited;
		const plain = await visited.run();
		assert.equal(plain.request().headers()["corkboard-explain"], undefined);
		assert.equal((await plain.json()).extensions?.explain, undefined);

		await tab(page, "Explain").click();
		await page.getByText("Run the operation with this view open").waitFor();
		const [explained] = await Promise.all([
			page.waitForResponse(
				(response) => response.request().method() === "POST",
			),
			page.getByRole("button", { name: "Run and explain" }).click(),
		]);
		const { explain } = (await explained.json()).extensions;
		assert.equal(explain.operation, "query Welcome");

		await page
			.getByRole("img", { name: `price ${explain.price} of at most 50000` })
			.waitFor();
		await page.getByRole("heading", { name: "query Welcome" }).waitFor();
		const steps = await lines(page);
		assert.deepEqual(
			steps.map((line) => /(call|scan|fetch) [\w.]+ ·/.exec(line)?.[0]),
			[
				"call Query.user ·",
				"fetch User ·",
				"scan followUser.inverse ·",
				"fetch User ·",
				"scan ownBoard ·",
				"fetch Board ·",
				"scan placePin ·",
				"fetch Pin ·",
				"scan likePin.inverse ·",
				"fetch User ·",
				"scan commentPin ·",
				"fetch Comment ·",
			],
		);
		assert.match(steps[6] ?? "", /^pins ?3 lists → 12 edges.*price 12/);
		assert.match(steps[6] ?? "", /\d\.\d\d ms/);
		// The demo graph was just made, or run before: the process has much of it.
		await page
			.getByRole("img", { name: /^answered by: .*process \d+/ })
			.first()
			.waitFor();

		// What the response shows is the answer, without its account.
		await tab(page, "Response").click();
		await page
			.locator(".graphiql-response .view-line", { hasText: '"user"' })
			.first()
			.waitFor();
		assert.equal(
			await page
				.locator(".graphiql-response .view-line", { hasText: "extensions" })
				.count(),
			0,
		);
		const again = await visited.run();
		assert.equal(again.request().headers()["corkboard-explain"], undefined);

		assert.deepEqual(faults, []);
		for (const url of requests) {
			assert.ok(url.startsWith(`${demo.url}/`) || url.startsWith("data:"), url);
		}
	});

	test("is reached and read by keyboard, and tells statements with their shards and hosts", async () => {
		await using visited = await visit({ width: 1000, height: 700 });
		const { page } = visited;
		await open(visited, "Persisted");
		await tab(page, "Response").focus();
		await page.keyboard.press("ArrowRight");
		assert.equal(
			await page.evaluate(() => document.activeElement?.textContent),
			"Explain",
		);
		await page.getByRole("button", { name: "Run and explain" }).press("Enter");
		const step = page.locator("details.step").first();
		await step.locator("summary").press("Enter");
		await step.locator(".step-details").waitFor();
		assert.match(
			(await step.locator(".step-details").textContent()) ?? "",
			/^pathinterestsfieldQuery\.interestsshards[\d, ]+hostsdb\d{5}\.sqlite[\w., ]*caches\w+ had \d+ of \d+/,
		);
		assert.match(
			(await step.locator("summary").textContent()) ?? "",
			/scan listInterest · (no statement|\d statements?, \d+ rows?) · (shard 0 on|\d shards on)/,
		);
	});

	test("says that an operation over the limit was refused, and shows what it would have cost where", async () => {
		await using visited = await visit({
			stored: {
				name: "Dear",
				query:
					"query Dear { interests(first: 100) { nodes { pins(first: 100) { nodes { likedBy(first: 100) { nodes { name } } } } } } }",
			},
		});
		const { page } = visited;
		await tab(page, "Explain").click();
		const answer = await visited.run();
		const { errors, extensions } = await answer.json();
		assert.equal(errors[0].extensions.code, "TOO_EXPENSIVE");
		assert.equal(extensions.explain.statements, 0);
		await page.getByText("Refused before anything was read").waitFor();
		await page
			.getByRole("img", { name: /^price \d+ of at most 50000$/ })
			.waitFor();
		assert.match((await lines(page)).join("\n"), /likedBy.*price 1M/);
	});

	test("opens with a query, a page walk, a mutation and a persisted call, and each of them runs", async () => {
		await using visited = await visit();
		const { page, faults } = visited;
		assert.deepEqual(
			await page.locator(".graphiql-tab-button").allTextContents(),
			["Welcome", "PageWalk", "LikePin", "Persisted"],
		);
		await open(visited, "PageWalk");
		const walked = await (await visited.run()).json();
		const { pageInfo, edges } = walked.data.user.followers;
		assert.equal(edges.length, 5);
		assert.equal(pageInfo.hasNextPage, true);
		const sent = JSON.parse(
			(await requestBody(visited, () => visited.run())) ?? "{}",
		);
		assert.deepEqual(sent.variables, { after: null });

		await open(visited, "LikePin");
		await tab(page, "Explain").click();
		const liked = await (await visited.run()).json();
		assert.equal(liked.errors, undefined);
		assert.equal(liked.data.likePin.pin.viewerLikes, true);
		assert.equal(liked.extensions.explain.operation, "mutation LikePin");
		assert.equal(liked.extensions.explain.steps[0].writes, true);

		// Each tab has the account of its own run.
		await page.getByRole("heading", { name: "mutation LikePin" }).waitFor();
		await open(visited, "Persisted");
		await page.getByRole("button", { name: "Run and explain" }).waitFor();
		const body = await requestBody(visited, () => visited.run());
		const { query } = JSON.parse(body ?? "{}");
		const calls = [...query.matchAll(/^# curl -s (\S+) .* -d '(.*)'$/gm)];
		assert.equal(calls.length, 2);
		for (const [, address, text] of calls) {
			assert.equal(address, `${demo.url}/graphql`);
			const answer = await fetch(address, {
				method: "POST",
				headers: { "content-type": "application/json" },
				body: text,
			});
			const { data } = (await answer.json()) as {
				data: { interests: { nodes: object[] } };
			};
			assert.equal(data.interests.nodes.length, 3);
		}
		assert.deepEqual(faults, []);
	});

	async function requestBody(
		{ page }: Visit,
		act: () => Promise<unknown>,
	): Promise<string | null> {
		const [request] = await Promise.all([
			page.waitForRequest((one) => one.method() === "POST"),
			act(),
		]);
		return request.postData();
	}
});
