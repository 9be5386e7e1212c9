import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../helpers/browser.ts";
import { ADA, startToy, type Toy, tokens } from "../helpers/toyServer.ts";

const WELCOME = `# Run this.
query Welcome {
  hello(name: "reader")
  viewer
}
`;

suite("GraphiQL in a browser", { timeout: 120_000 }, () => {
	let browser: Browser;
	let toy: Toy;
	before(async () => {
		browser = await openBrowser();
		toy = await startToy({
			graphiql: true,
			demo: {
				token: await tokens.sign(ADA),
				username: "ada",
				query: WELCOME,
			},
		});
	});
	after(async () => {
		await browser?.close();
		await toy?.server.close();
	});

	/** A fresh visitor, and all that went wrong on the page. */
	async function visit(
		host: Toy = toy,
	): Promise<{ page: Page; faults: string[]; requests: string[] }> {
		const context = await browser.newContext();
		const page = await context.newPage();
		page.setDefaultTimeout(20_000);
		const faults: string[] = [];
		const requests: string[] = [];
		page.on("console", (message) => {
			if (message.type() === "error" || message.type() === "warning") {
				faults.push(message.text());
			}
		});
		page.on("pageerror", (error) => faults.push(String(error)));
		page.on("requestfailed", (request) => faults.push(request.url()));
		page.on("response", (response) => {
			if (response.status() >= 400) {
				faults.push(`${response.status()} ${response.url()}`);
			}
		});
		context.on("request", (request) => requests.push(request.url()));
		await page.addInitScript(() => {
			document.addEventListener("securitypolicyviolation", (event) => {
				console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`);
			});
		});
		await page.goto(`${host.server.url}/graphql`);
		await page.locator(".graphiql-query-editor .view-line").first().waitFor();
		return { page, faults, requests };
	}

	async function type(page: Page, editor: string, text: string): Promise<void> {
		await page.locator(`${editor} .view-lines`).first().click();
		await page.keyboard.press("ControlOrMeta+A");
		await page.keyboard.insertText(text);
	}

	async function run(page: Page): Promise<unknown> {
		const answered = page.waitForResponse(
			(response) => response.request().method() === "POST",
		);
		await page.getByRole("button", { name: "Execute query" }).click();
		return (await answered).json();
	}

	function shown(page: Page, text: string): Promise<void> {
		return page
			.locator(".graphiql-response .view-line", { hasText: text })
			.first()
			.waitFor();
	}

	test("says who you are, runs the welcome query as that user and shows the answer", async () => {
		const { page, faults, requests } = await visit();
		assert.equal(await page.title(), "Corkboard: GraphiQL");
		assert.equal(
			await page.locator(".banner p").textContent(),
			"You are @ada, a demo user: the token under Headers says so. Without it you are anonymous.",
		);
		await page
			.locator(".graphiql-editor-tool .view-line", { hasText: "Bearer ey" })
			.waitFor();

		assert.deepEqual(await run(page), {
			data: { hello: "Hello reader", viewer: ADA },
		});
		await shown(page, "Hello reader");

		await page.waitForLoadState("networkidle");
		assert.deepEqual(faults, []);
		const files = new Set(
			requests.map((url) => new URL(url).pathname.split("/")[3]),
		);
		for (const worker of ["editor", "json", "graphql"]) {
			assert.ok(files.has(`${worker}.worker.js`), worker);
		}
		for (const url of requests) {
			assert.ok(
				url.startsWith(`${toy.server.url}/`) || url.startsWith("data:"),
				url,
			);
		}
		await page.context().close();
	});

	test("shows the schema's own words in its docs", async () => {
		const { page, faults } = await visit();
		await page
			.getByRole("button", { name: "Show Documentation Explorer" })
			.click();
		await page.getByRole("link", { name: "Query", exact: true }).click();
		await page
			.locator(".graphiql-doc-explorer", { hasText: "The id of who asks." })
			.waitFor();
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	test("runs a mutation in a second tab, remembers both, and keeps a history", async () => {
		const { page, faults } = await visit();
		await run(page);
		await page.getByRole("button", { name: "New tab" }).click();
		await type(
			page,
			".graphiql-query-editor",
			"mutation Change { setNumber(to: 7) }",
		);
		// The page reads the operation's name a moment after it was typed.
		await page.locator(".graphiql-tab-button", { hasText: "Change" }).waitFor();
		assert.deepEqual(await run(page), { data: { setNumber: 7 } });
		await shown(page, '"setNumber": 7');

		await page.getByRole("button", { name: "Show History" }).click();
		const history = page.locator(".graphiql-history");
		await history.getByText("Welcome").waitFor();
		await history.getByText("Change").waitFor();

		// The page stores its tabs half a second after the last change.
		await page.waitForFunction(() =>
			localStorage.getItem("graphiql:tabState")?.includes("Change"),
		);
		await page.reload();
		await page.locator(".graphiql-query-editor .view-line").first().waitFor();
		assert.deepEqual(
			await page.locator(".graphiql-tab-button").allTextContents(),
			["Welcome", "Change"],
		);
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	test("shows a refusal as it came, and points at a mistake while it is typed", async () => {
		const { page } = await visit();
		await type(page, ".graphiql-query-editor", "query { nothing }");
		await page.locator(".graphiql-query-editor .squiggly-error").waitFor();
		const { errors } = (await run(page)) as { errors: { message: string }[] };
		assert.equal(
			errors[0]?.message,
			'Cannot query field "nothing" on type "Query".',
		);
		await shown(page, "Cannot query field");
		await page.context().close();
	});

	test("without a demo user says that you are anonymous, and how not to be", async () => {
		await using plain = await startToy({ graphiql: true });
		const { page, faults } = await visit(plain);
		assert.equal(
			await page.locator(".banner p").textContent(),
			'You are anonymous. To be somebody, put a token under Headers below: {"Authorization": "Bearer …"}',
		);
		const answer = (await run(page)) as { data: object };
		assert.deepEqual(Object.keys(answer.data), ["__schema"]);
		assert.deepEqual(faults, []);
		await page.context().close();
	});
});
