import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openBrowser, PAGE_LIMIT_MS } from "../helpers/browser.ts";
import { type DemoServer, serveDemo } from "./demo.ts";
import { plainly } from "./lists.ts";
import { CLIENTS, type ClientName, type Pasted, paste } from "./pasted.ts";

/** As the pages have it. */
const PAGE = 10;

describe("the files of docs/frontends, in a browser", () => {
	let browser: Browser;
	let demo: DemoServer;
	let pins: readonly { readonly id: string; readonly details: string }[];
	const apps = new Map<ClientName, { readonly url: string }>();
	const stack = new AsyncDisposableStack();
	before(async () => {
		[browser, demo] = await Promise.all([openBrowser(), serveDemo()]);
		stack.use(demo);
		stack.defer(() => browser.close());
		for (const client of CLIENTS) {
			const project: Pasted = stack.use(paste(client));
			if (client === "relay") await project.compile();
			apps.set(
				client,
				stack.use(
					await project.serve({
						VITE_API_URL: demo.url,
						VITE_TOKEN: demo.token,
					}),
				),
			);
		}
		const { interest } = await plainly(demo.url).data<{
			interest: { pins: { nodes: { id: string; details: string }[] } };
		}>(
			`{ interest(by: {slug: "gardens"}) { pins(first: 100) { nodes { id details } } } }`,
		);
		pins = interest.pins.nodes;
	});
	after(() => stack.disposeAsync());

	for (const client of ["apollo", "relay", "urql"] as const) {
		it(`${client} shows page after page, each pin once and in order`, async () => {
			const { page, faults } = await open(client);
			const shown = page.locator("li");
			const more = page.getByRole("button", { name: "More" });
			for (let read = PAGE; read <= 3 * PAGE; read += PAGE) {
				await shown.nth(read - 1).waitFor();
				const texts = await shown.allTextContents();
				assert.equal(texts.length, read);
				for (const [n, text] of texts.entries()) {
					assert.ok(text.startsWith(`${pins[n]?.details} `), `${n}: ${text}`);
				}
				await more.click();
			}
			assert.deepEqual(faults, []);
			await page.context().close();
		});

		it(`${client} shows a like before the response, and rolls it back after an error`, async () => {
			const { page } = await open(client, { token: null });
			const answer = Promise.withResolvers<void>();
			await page.route(demo.url, async (route) => {
				if (/likePin/.test(route.request().postData() ?? "")) {
					await answer.promise;
				}
				await route.fallback();
			});
			const item = page.locator("li").first();
			await item.getByRole("button", { name: "Like", disabled: false }).click();
			await item
				.getByRole("button", { name: "Like", disabled: true })
				.waitFor();
			answer.resolve();
			await item.getByRole("alert").getByText("UNAUTHENTICATED").waitFor();
			await item
				.getByRole("button", { name: "Like", disabled: false })
				.waitFor();
			await page.context().close();
		});

		it(`${client} likes as the viewer that the token names, and the like stays`, async () => {
			const unliked = await firstUnliked();
			const { page, faults } = await open(client);
			const item = page.locator("li").nth(unliked.place);
			const answered = page.waitForResponse(
				(response) =>
					/likePin/.test(response.request().postData() ?? "") && response.ok(),
			);
			await item.getByRole("button", { name: "Like", disabled: false }).click();
			await (await answered).finished();
			// The page has acted on the response by the time of a later timer of its own.
			await page.evaluate(() => new Promise((done) => setTimeout(done, 300)));
			await item
				.getByRole("button", { name: "Like", disabled: true })
				.waitFor();
			const { pin } = await plainly(demo.url, demo.token).data<{
				pin: { viewerLikes: boolean };
			}>("query ($id: ID!) { pin(id: $id) { viewerLikes } }", {
				id: unliked.id,
			});
			assert.equal(pin.viewerLikes, true);
			assert.deepEqual(faults, []);
			await page.context().close();
		});

		it(`${client} shows the code of a rejected token`, async () => {
			const { page } = await open(client, { token: `${demo.token}x` });
			await page.getByRole("alert").getByText("UNAUTHENTICATED").waitFor();
			await page.context().close();
		});
	}

	it("relay reads a list backward from its end, in the list's order", async () => {
		const viewer = plainly(demo.url, demo.token);
		const id = pins[0]?.id;
		for (let n = 1; n <= 8; n++) {
			await viewer.data(
				"mutation ($input: AddCommentInput!) { addComment(input: $input) { comment { id } } }",
				{ input: { pinId: id, text: `What there is to say, part ${n}` } },
			);
		}
		const { pin } = await viewer.data<{
			pin: { comments: { nodes: { text: string }[] } };
		}>(
			"query ($id: ID!) { pin(id: $id) { comments(first: 100) { nodes { text } } } }",
			{ id },
		);
		const comments = pin.comments.nodes.map(({ text }) => text);
		const { page, faults } = await open("relay");
		const said = page.locator("li").first().locator("p");
		const earlier = page
			.locator("li")
			.first()
			.getByRole("button", { name: "Earlier" });
		for (const count of [2, 7]) {
			await said.nth(count - 1).waitFor();
			assert.deepEqual(await said.allTextContents(), comments.slice(-count));
			await earlier.click();
		}
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	it("graphql-request reads a list to its end", async () => {
		const { page, faults } = await open("graphql-request");
		await page.locator("li").nth(99).waitFor();
		assert.deepEqual(
			(await page.locator("li").allTextContents()).slice(0, 100),
			pins.map(({ details }) => details),
		);
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	it("a page may send headers of its own", async () => {
		const { page } = await open("apollo");
		const status = await page.evaluate(async (url) => {
			const response = await fetch(url, {
				method: "POST",
				headers: {
					"content-type": "application/json",
					"apollographql-client-name": "web",
					"apollographql-client-version": "1.2.3",
				},
				body: JSON.stringify({ query: "{ viewer { id } }" }),
			});
			return response.status;
		}, demo.url);
		assert.equal(status, 200);
		await page.context().close();
	});

	async function firstUnliked() {
		const { nodes } = await plainly(demo.url, demo.token).data<{
			nodes: { id: string; viewerLikes: boolean }[];
		}>(
			"query ($ids: [ID!]!) { nodes(ids: $ids) { id ... on Pin { viewerLikes } } }",
			{
				ids: pins.slice(0, PAGE).map(({ id }) => id),
			},
		);
		const place = nodes.findIndex(({ viewerLikes }) => !viewerLikes);
		assert.notEqual(place, -1, "expected a pin that is not liked");
		return { place, id: nodes[place]?.id ?? "" };
	}

	/** With the demo user's token, unless another is given; null for none. */
	async function open(
		client: ClientName,
		as?: { readonly token: string | null },
	): Promise<{ readonly page: Page; readonly faults: string[] }> {
		const context = await browser.newContext();
		const page = await context.newPage();
		page.setDefaultTimeout(PAGE_LIMIT_MS);
		const faults: string[] = [];
		page.on("console", (message) => {
			if (message.type() === "error") faults.push(message.text());
		});
		page.on("pageerror", (error) => faults.push(String(error)));
		if (as) {
			await page.route(demo.url, (route) => {
				const { authorization, ...headers } = route.request().headers();
				return route.continue({
					headers:
						as.token === null || authorization === undefined
							? headers
							: { ...headers, authorization: `Bearer ${as.token}` },
				});
			});
		}
		await page.goto(apps.get(client)?.url ?? "");
		return { page, faults };
	}
});
