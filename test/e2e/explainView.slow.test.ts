import assert from "node:assert/strict";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, suite, test } from "node:test";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../helpers/browser.ts";
import { client } from "../helpers/client.ts";
import { type DemoServer, serveDemo } from "../helpers/demoServer.ts";
import { type Visit, visitGraphiql } from "../helpers/graphiqlPage.ts";
import { join as joinUp, type Member, made } from "../helpers/member.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

suite("GraphiQL on the demo graph", () => {
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

	/** The text of each step's line, as a screen reader reads it. */
	async function lines(page: Page): Promise<string[]> {
		const texts = await page.locator(".step-line[data-ran]").allTextContents();
		return texts.map((text) => text.replaceAll(/\s+/g, " ").trim());
	}

	/** Shows a tab. GraphiQL reads the name of its operation a moment later, and stores it with the tab. */
	async function open({ page }: Visit, name: string): Promise<void> {
		await page.locator(".graphiql-tab-button", { hasText: name }).click();
		await page.waitForFunction((name) => {
			const stored = localStorage.getItem("graphiql:tabState");
			const { tabs, activeTabIndex } = JSON.parse(stored ?? "{}");
			return tabs?.[activeTabIndex]?.operationName === name;
		}, name);
	}

	test("shows the steps of the execution that answered, and its cost against the limit, only while the view is open", async () => {
		await using visited = await visit();
		const { page, problems, requests } = visited;
		const plain = await visited.run();
		assert.equal(plain.request().headers()["corkboard-explain"], undefined);
		assert.equal((await plain.json()).extensions?.explain, undefined);

		await tab(page, "Explain").click();
		await page.getByText("Run the operation while this view is open").waitFor();
		const [explained] = await Promise.all([
			page.waitForResponse(
				(response) => response.request().method() === "POST",
			),
			page.getByRole("button", { name: "Run and explain" }).click(),
		]);
		const { explain } = (await explained.json()).extensions;
		assert.equal(explain.operation, "query Welcome");

		await page
			.getByRole("img", { name: `cost ${explain.cost} of 60,000` })
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
		assert.match(steps[6] ?? "", /^pins ?3 lists → 12 edges.*cost 12/);
		assert.match(steps[6] ?? "", /\d\.\d+ ms/);
		// The legend names what is on the sheet.
		assert.deepEqual(await page.locator(".explain-kinds b").allTextContents(), [
			"call",
			"scan",
			"fetch",
		]);
		// Making the demo graph, or an earlier run, filled the process cache.
		await page
			.getByRole("img", { name: /^read from: .*process \d+/ })
			.first()
			.waitFor();

		// The Response view leaves out the explain output.
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

		assert.deepEqual(problems, []);
		for (const url of requests) {
			assert.ok(url.startsWith(`${demo.url}/`) || url.startsWith("data:"), url);
		}
	});

	test("works by keyboard, and lists statements with their shards and hosts", async () => {
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
		await step.locator("> summary").press("Enter");
		await step.locator(".step-details").waitFor();
		assert.match(
			(await step.locator(".step-details").textContent()) ?? "",
			/^pathinterestsfieldQuery\.interestsshards[\d, ]+hostsdb\d{5}\.sqlite[\w., ]*caches\w+ \d+\/\d+ hits/,
		);
		assert.match(
			(await step.locator("> summary").textContent()) ?? "",
			/scan listInterest · (no statement|\d statements?, \d+ rows?) · (shard 0 on|\d shards on)/,
		);
	});

	test("says that an operation over the cost limit read nothing, and shows the cost of each step", async () => {
		await using visited = await visit({
			stored: {
				name: "Expensive",
				query:
					"query Expensive { interests(first: 100) { nodes { pins(first: 100) { nodes { likedBy(first: 100) { nodes { name } } } } } } }",
			},
		});
		const { page } = visited;
		await tab(page, "Explain").click();
		const response = await visited.run();
		const { errors, extensions } = await response.json();
		assert.equal(errors[0].extensions.code, "TOO_EXPENSIVE");
		assert.equal(extensions.explain.statements, 0);
		await page
			.getByText("The cost is over the limit, so nothing was read.")
			.waitFor();
		assert.equal(
			await page.locator(".explain-problems li").textContent(),
			`TOO_EXPENSIVE ${errors[0].message} `,
		);
		await page.getByRole("img", { name: /^cost [\d,]+ of 60,000$/ }).waitFor();
		assert.match((await lines(page)).join("\n"), /likedBy.*cost 1M/);
	});

	test("shows each transaction of a mutation, its outbox entry with its job, and its statements", async () => {
		// The inverse edge of this follow is on another shard, so it goes through the outbox.
		const [viewer, other] = await apart(demo);
		await using visited = await visit({
			stored: {
				name: "Follow",
				query: `mutation Follow { followUser(input: {userId: "${other}"}) { user { username } } }`,
			},
		});
		const { page, problems } = visited;
		await tab(page, "Explain").click();
		const { extensions } = await (await visited.run()).json();
		assert.equal(extensions.explain.written, 2);
		await page.getByRole("heading", { name: "mutation Follow" }).waitFor();
		const steps = await lines(page);
		const [here, there] = [viewer, other].map(
			(id) => `shard ${shardOf(id)} on db\\d{5}\\.sqlite`,
		);
		const expected = [
			"^followUser.*call Mutation\\.followUser · ",
			`^followUser ?1 write → 1 row.*transaction · \\d statements · ${here} · outbox: 1 edge, 1 job, pending$`,
			`^followUser\\.inverse ?1 write → 1 row.*transaction · \\d statements · ${there}$`,
			"^user.*fetch User · ",
		];
		assert.equal(steps.length, expected.length, steps.join("\n"));
		for (const [at, pattern] of expected.entries()) {
			assert.match(steps[at] ?? "", new RegExp(pattern));
		}
		const write = page.locator("details.kind-write").first();
		await write.locator("> summary").click();
		assert.deepEqual(
			(await write.locator(".statement-name").allTextContents()).filter(
				(name) => ["begin", "insert outbox", "commit"].includes(name),
			),
			["begin", "insert outbox", "commit"],
		);
		await write
			.locator(".statements details", { hasText: "insert outbox" })
			.locator("summary")
			.click();
		await write
			.getByText('INSERT INTO "outbox" (entry, ts)\nVALUES (?, ?)')
			.waitFor();
		await write.getByText("parameters JSON object, ").first().waitFor();
		assert.deepEqual(problems, []);
	});

	test("highlights the step that failed and names its host", async () => {
		using folder = temporaryFolder();
		await using down = await serveDemo({ CORKBOARD_DATA: folder.path });
		const [viewer, other, member] = await apart(down);
		const host = `db${String(shardOf(other)).padStart(5, "0")}.sqlite`;
		await using visited = await visitGraphiql(browser, down.url, {
			stored: {
				name: "Down",
				query: `query Down { nodes(ids: ["${viewer}", "${other}"]) { ... on User { boards { totalCount } } } }`,
			},
		});
		const { page } = visited;
		await tab(page, "Explain").click();
		// A write and a read: the process has the user in memory, and for ten seconds from now.
		await made(member, "updateUser", { bio: "new" }, "user");
		await member.data("{ viewer { bio } }");
		const path = join(folder.path, host);
		{
			using file = new DatabaseSync(path);
			file.exec("PRAGMA wal_checkpoint(TRUNCATE)");
		}
		// Overwritten in place: truncating a mapped file would kill the server with SIGBUS.
		const { size } = statSync(path);
		writeFileSync(path, "garbage ".repeat(size / 8), { flag: "r+" });
		const { errors } = await (await visited.run()).json();
		assert.deepEqual(
			errors.map(({ path }: { path: unknown }) => path),
			[["nodes", 1, "boards"]],
		);
		await page.getByRole("heading", { name: "query Down" }).waitFor();
		assert.match(
			(await page.locator(".explain-errors").textContent()) ?? "",
			/^errors ?1$/,
		);
		assert.match(
			(await page.locator(".explain-problems li").textContent()) ?? "",
			/^UNAVAILABLE \S.*\. at nodes\.1\.boards$/,
		);
		const failed = (await lines(page)).filter((line) => /error/.test(line));
		assert.equal(failed.length, 1);
		assert.match(failed[0] ?? "", /^boards ?2 lists → 0 edges/);
		assert.ok(failed[0]?.includes(`1 error (UNAVAILABLE, ${host}) · scan`));
	});

	test("opens with tabs for a query, paging, a mutation and a persisted document, and each runs", async () => {
		await using visited = await visit();
		const { page, problems } = visited;
		assert.deepEqual(
			await page.locator(".graphiql-tab-button").allTextContents(),
			["Welcome", "Paging", "HomeFeed", "LikePin", "Persisted"],
		);
		await open(visited, "Paging");
		const walked = await (await visited.run()).json();
		const { pageInfo, edges } = walked.data.user.followers;
		assert.equal(edges.length, 5);
		assert.equal(pageInfo.hasNextPage, true);
		const sent = JSON.parse(
			(await requestBody(visited, () => visited.run())) ?? "{}",
		);
		assert.deepEqual(sent.variables, { after: null });

		await open(visited, "HomeFeed");
		const feed = await (await visited.run()).json();
		assert.equal(feed.errors, undefined);
		assert.ok(feed.data.viewer.homeFeed.edges.length > 0);

		await open(visited, "LikePin");
		await tab(page, "Explain").click();
		const liked = await (await visited.run()).json();
		assert.equal(liked.errors, undefined);
		assert.equal(liked.data.likePin.pin.viewerLikes, true);
		assert.equal(liked.extensions.explain.operation, "mutation LikePin");

		// Each tab keeps the output of its own execution.
		await page.getByRole("heading", { name: "mutation LikePin" }).waitFor();
		const [call, write] = await lines(page);
		assert.match(call ?? "", /^likePin.*call Mutation\.likePin · /);
		assert.match(
			write ?? "",
			/^likePin(?:, likePin\.inverse)? ?1 write → \d rows?.* ms ?transaction · \d+ statements · shard \d+ on db\d{5}\.sqlite/,
		);
		await open(visited, "Persisted");
		await page.getByRole("button", { name: "Run and explain" }).waitFor();
		const body = await requestBody(visited, () => visited.run());
		const { query } = JSON.parse(body ?? "{}");
		const calls = [...query.matchAll(/^# curl -s (\S+) .* -d '(.*)'$/gm)];
		assert.equal(calls.length, 2);
		for (const [, address, text] of calls) {
			assert.equal(address, `${demo.url}/graphql`);
			const response = await fetch(address, {
				method: "POST",
				headers: { "content-type": "application/json" },
				body: text,
			});
			const { data } = (await response.json()) as {
				data: { interests: { nodes: object[] } };
			};
			assert.equal(data.interests.nodes.length, 3);
		}
		assert.deepEqual(problems, []);
	});

	const shardOf = (id: string) => BigInt(id) >> 46n;

	/** The demo user, and a new one on another shard. */
	async function apart(server: DemoServer): Promise<[string, string, Member]> {
		const demoUser = client(server.url, server.token);
		const { viewer } = await demoUser.data<{ viewer: { id: string } }>(
			"{ viewer { id } }",
		);
		for (let n = 0; ; n++) {
			const member = await joinUp(server.url, `somebody_${n}`);
			if (shardOf(member.id) !== shardOf(viewer.id)) {
				return [viewer.id, member.id, member];
			}
		}
	}

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
