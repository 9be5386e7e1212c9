import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../helpers/browser.ts";
import { visitGraphiql } from "../helpers/graphiqlPage.ts";
import { ADA, BEN, startToy, type Toy, tokens } from "../helpers/toyServer.ts";
import { until } from "../helpers/until.ts";

const WELCOME = `# Run this.
query Welcome {
  hello(name: "reader")
  viewer
}
`;

suite("GraphiQL in a browser", () => {
	let browser: Browser;
	let toy: Toy;
	before(async () => {
		browser = await openBrowser();
		toy = await startToy({
			graphiql: "everyone",
			demo: {
				token: await tokens.sign(ADA),
				username: "ada",
				others: [{ token: await tokens.sign(BEN), username: "ben" }],
				examples: [{ query: WELCOME }],
			},
		});
	});
	after(async () => {
		await browser?.close();
		await toy?.server.close();
	});

	const visit = (host: Toy = toy) => visitGraphiql(browser, host.server.url);

	async function type(page: Page, editor: string, text: string): Promise<void> {
		await page.locator(`${editor} .view-lines`).first().click();
		await page.keyboard.press("ControlOrMeta+A");
		// Around a selection the editor would put quotes and braces.
		await page.keyboard.press("Delete");
		await page.keyboard.insertText(text);
	}

	function shown(page: Page, text: string): Promise<void> {
		return page
			.locator(".graphiql-response .view-line", { hasText: text })
			.first()
			.waitFor();
	}

	test("shows the demo user, executes the first query as that user and shows the response", async () => {
		await using visited = await visit();
		const { page, problems, requests } = visited;
		assert.equal(await page.title(), "Corkboard: GraphiQL");
		assert.equal(
			await page.locator(".banner p").textContent(),
			"You are the demo user @ada.",
		);
		// One button runs it, in one color.
		assert.equal(
			await page.getByRole("button", { name: /^(?:Run|Execute)/ }).count(),
			1,
		);

		const empty = page.getByText("The response appears here.");
		await empty.waitFor();
		const response = await visited.run();
		assert.deepEqual(await response.json(), {
			data: { hello: "Hello reader", viewer: ADA },
		});
		await shown(page, "Hello reader");
		await empty.waitFor({ state: "detached" });

		for (const worker of ["editor", "json", "graphql"]) {
			await until(`a request for the ${worker} worker`, () =>
				requests.some((url) => url.endsWith(`/${worker}.worker.js`)),
			);
		}
		assert.deepEqual(problems, []);
		for (const url of requests) {
			assert.ok(
				url.startsWith(`${toy.server.url}/`) || url.startsWith("data:"),
				url,
			);
		}
	});

	test("says who the viewer is, after another was chosen or a token was set under Headers", async () => {
		await using visited = await visit();
		const { page, problems } = visited;
		const says = (text: string) =>
			page.locator(".banner p", { hasText: text }).waitFor();
		const viewer = async () => (await (await visited.run()).json()).data.viewer;
		const menu = page.getByLabel("Sign in as");
		await menu.selectOption("ben");
		await says("You are the demo user @ben.");
		assert.equal(await viewer(), BEN);
		await menu.selectOption("");
		await says("You are anonymous.");
		assert.equal(await viewer(), null);
		// It stays so, and is in no tab, history or link.
		await visited.reload();
		await says("You are anonymous.");
		await page.getByRole("button", { name: "Headers", exact: true }).click();
		const headers = ".graphiql-editor-tool .graphiql-editor:not(.hidden)";
		const token = await tokens.sign(ADA);
		await type(page, headers, `{"Authorization": "Bearer ${token}"}`);
		await says("You are the demo user @ada, by the token under Headers.");
		assert.equal(await viewer(), ADA);
		await type(page, headers, '{"Authorization": "Bearer x.e30.z"}');
		await says("Requests send the Authorization that is under Headers.");
		assert.deepEqual(problems.splice(0), []);
		await visited.run();
		await says("The server does not accept the token under Headers.");
		problems.length = 0;
		await type(page, headers, "{}");
		await says("You are anonymous.");
		assert.deepEqual(problems, []);
	});

	test("shows the schema's descriptions in the documentation explorer", async () => {
		await using visited = await visit();
		const { page, problems } = visited;
		await page
			.getByRole("button", { name: "Show Documentation Explorer" })
			.click();
		await page.getByRole("link", { name: "Query", exact: true }).click();
		await page
			.locator(".graphiql-doc-explorer", { hasText: "The id of who asks." })
			.waitFor();
		assert.deepEqual(problems, []);
	});

	test("opens the operation of its address in a tab, adds a field of the field explorer, and copies a link to it", async () => {
		const parameters = new URLSearchParams({
			query: "query Linked($name: String) { hello(name: $name) }",
			variables: '{"name": "you"}',
		});
		await using visited = await visitGraphiql(browser, toy.server.url, {
			search: `?${parameters}`,
		});
		const { page, problems } = visited;
		assert.deepEqual(
			await page.locator(".graphiql-tab-button").allTextContents(),
			["Linked", "Welcome"],
		);
		assert.equal(page.url(), `${toy.server.url}/graphql`);
		assert.deepEqual((await (await visited.run()).json()).data, {
			hello: "Hello you",
		});

		await page.getByRole("button", { name: "Show Field Explorer" }).click();
		await page
			.locator('[data-field-name="viewer"]')
			.getByText("viewer")
			.click();
		assert.deepEqual((await (await visited.run()).json()).data, {
			hello: "Hello you",
			viewer: ADA,
		});

		await page
			.context()
			.grantPermissions(["clipboard-read", "clipboard-write"]);
		await page.getByRole("button", { name: "Copy link" }).click();
		await page.getByRole("status").getByText("Link copied").waitFor();
		const link = new URL(
			await page.evaluate(() => navigator.clipboard.readText()),
		);
		assert.match(link.searchParams.get("query") ?? "", /hello.*\s+viewer/s);
		assert.equal(
			link.searchParams.get("variables"),
			parameters.get("variables"),
		);
		assert.deepEqual([...link.searchParams.keys()], ["query", "variables"]);
		assert.deepEqual(problems, []);
	});

	test("executes a mutation in a second tab, and keeps both tabs and the history", async () => {
		await using visited = await visit();
		const { page, problems } = visited;
		await visited.run();
		await page.getByRole("button", { name: "New tab" }).click();
		await type(
			page,
			".graphiql-query-editor",
			"mutation Change { setNumber(to: 7) }",
		);
		// GraphiQL updates the operation name shortly after typing.
		await page.locator(".graphiql-tab-button", { hasText: "Change" }).waitFor();
		const response = await visited.run();
		assert.deepEqual(await response.json(), { data: { setNumber: 7 } });
		await shown(page, '"setNumber": 7');

		await page.getByRole("button", { name: "Show History" }).click();
		const history = page.locator(".graphiql-history");
		await history.getByText("Welcome").waitFor();
		await history.getByText("Change").waitFor();

		// GraphiQL stores its tabs half a second after the last change.
		await page.waitForFunction(() =>
			localStorage.getItem("graphiql:tabState")?.includes("Change"),
		);
		await visited.reload();
		assert.deepEqual(
			await page.locator(".graphiql-tab-button").allTextContents(),
			["Welcome", "Change"],
		);
		assert.deepEqual(problems, []);
	});

	test("shows errors of the response, and underlines an invalid field while typing", async () => {
		await using visited = await visit();
		const { page } = visited;
		await type(page, ".graphiql-query-editor", "query { nothing }");
		await page.locator(".graphiql-query-editor .squiggly-error").waitFor();
		const { errors } = await (await visited.run()).json();
		assert.equal(
			errors[0]?.message,
			'Cannot query field "nothing" on type "Query".',
		);
		await shown(page, "Cannot query field");
		await page.getByRole("tab", { name: "Explain", exact: true }).click();
		assert.deepEqual(
			await page.locator(".explain-problems li").allTextContents(),
			[
				'GRAPHQL_VALIDATION_FAILED Cannot query field "nothing" on type "Query". line 1, column 9',
			],
		);
	});

	test("shows an anonymous visitor how to sign in", async () => {
		await using plain = await startToy({ graphiql: "everyone" });
		await using visited = await visit(plain);
		const { page, problems } = visited;
		assert.equal(
			await page.locator(".banner p").textContent(),
			'You are anonymous. To sign in, set a token under Headers: {"Authorization": "Bearer …"}',
		);
		const { data } = await (await visited.run()).json();
		assert.deepEqual(Object.keys(data), ["__schema"]);
		assert.deepEqual(problems, []);
	});

	test("lets an operator sign in, read the schema, explain, and sign out in production", async () => {
		await using closed = await startToy({
			graphiql: "operators",
			mode: "production",
			operators: { ids: new Set([ADA]), claims: [] },
		});
		const operatorToken = await tokens.sign(ADA);
		await using visited = await visitGraphiql(browser, closed.server.url, {
			operatorToken,
		});
		const { page, problems } = visited;
		// The sign-in page has status 401.
		assert.deepEqual(problems.splice(0).toSorted(), [
			`401 ${closed.server.url}/graphql`,
			"Failed to load resource: the server responded with a status of 401 (Unauthorized)",
		]);
		assert.equal(
			await page.locator(".banner p").textContent(),
			"You are signed in as an operator. Requests send your token unless you set Authorization under Headers.",
		);
		await page.getByText("Explain").first().waitFor();
		const { data } = await (await visited.run()).json();
		assert.deepEqual(Object.keys(data), ["__schema"]);
		await page
			.getByRole("button", { name: "Show Documentation Explorer" })
			.click();
		await page.getByRole("link", { name: "Query", exact: true }).click();
		await page
			.locator(".graphiql-doc-explorer", { hasText: "The id of who asks." })
			.waitFor();
		assert.deepEqual(problems, []);
		await page.waitForFunction(() => localStorage.getItem("graphiql:tabState"));
		const stored = await page.evaluate(() => JSON.stringify(localStorage));
		assert.match(stored, /graphiql:queries/);
		assert.ok(!stored.includes(operatorToken));

		await page.getByRole("button", { name: "Sign out" }).click();
		await page.getByLabel("An operator's token").fill("not.a.token");
		await page.getByRole("button", { name: "Sign in" }).click();
		assert.equal(
			await page.getByRole("alert").textContent(),
			"The token is not valid.",
		);
	});

	test("has no Explain view if the server does not support explain", async () => {
		await using plain = await startToy({
			graphiql: "everyone",
			mode: "production",
		});
		await using visited = await visit(plain);
		assert.equal(await visited.page.getByText("Explain").count(), 0);
	});
});
