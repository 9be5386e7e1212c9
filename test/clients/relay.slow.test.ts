import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import {
	ConnectionHandler,
	commitMutation,
	createOperationDescriptor,
	type Environment,
	fetchQuery,
} from "relay-runtime";
import {
	compilePersisted,
	logIn,
	type Pinboard,
	run,
	scrollToEnd,
	servePinboard,
	visit,
} from "../examples/pinboard.ts";
import { openBrowser } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { type DemoServer, serveDemo } from "./demo.ts";
import {
	assertSent,
	carryOutAll,
	newcomer,
	pageQuery,
	type Shown,
	type Variables,
} from "./everyMutation.ts";
import {
	homeFeed,
	ids,
	longBoard,
	pageWhileItGrows,
	plainly,
	REFUSED,
	talkedAbout,
} from "./lists.ts";
import type { RelayModule } from "./modules.ts";
import { paste } from "./pasted.ts";
import { operationsOf, recording } from "./recording.ts";
import { compileRelay } from "./relay/compile.ts";
import { CHANGED, keyOf, list, SELECTIONS } from "./relay/everyMutation.ts";

describe("Relay 21, in the example app", () => {
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

	it("the compiler accepts the public schema, and its artifacts are those checked in", async () => {
		// It fails if a file would change.
		await run("relay-compiler", ["--validate", "relay.config.json"]);
		await run("tsc", ["-p", "."]);
	});

	it("usePaginationFragment reads forward to the end, each item once, by node and a cursor", async () => {
		const board = await longBoard(demo.url);
		const { page, asked, faults } = await visit(
			browser,
			`${pinboard.url}#/board/${board.id}`,
		);
		const shown = await scrollToEnd(page);
		assert.deepEqual(shown.toSorted(), board.pins.toSorted());
		const pages = asked.filter(
			({ operationName }) => operationName === "BoardPinsQuery",
		);
		assert.equal(pages.length, Math.ceil(board.pins.length / 12) - 1);
		for (const { query, variables } of pages) {
			assert.match(query ?? "", /\bnode\(id: \$id\)/);
			assert.equal(variables.id, board.id);
			assert.equal(variables.count, 12);
		}
		assert.equal(
			new Set(pages.map(({ variables }) => variables.cursor)).size,
			pages.length,
		);
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	it("usePaginationFragment reads backward to the start, in the list's order", async () => {
		const pin = await talkedAbout(demo.url, demo.token);
		const { page, asked, faults } = await visit(
			browser,
			`${pinboard.url}#/?pin=${pin.id}`,
		);
		const shown = () =>
			page
				.locator("[data-comment]")
				.evaluateAll((comments) =>
					comments.map((comment) => comment.getAttribute("data-comment")),
				);
		const earlier = page.getByRole("button", { name: "Earlier comments" });
		await earlier.waitFor();
		assert.deepEqual(await shown(), pin.comments.slice(-3));
		let read = 3;
		while (read < pin.comments.length) {
			await earlier.click();
			read = Math.min(read + 5, pin.comments.length);
			await page
				.locator("[data-comment]")
				.nth(read - 1)
				.waitFor();
			assert.deepEqual(await shown(), pin.comments.slice(-read));
		}
		await earlier.waitFor({ state: "detached" });
		const pages = asked.filter(
			({ operationName }) => operationName === "PinCommentsQuery",
		);
		assert.equal(pages.length, Math.ceil((pin.comments.length - 3) / 5));
		for (const { query } of pages) {
			assert.match(query ?? "", /\bnode\(id: \$id\)/);
			assert.match(
				query ?? "",
				/\bcomments\(last: \$count, before: \$cursor\)/,
			);
		}
		assert.deepEqual(faults, []);
		await page.context().close();
	});

	it("keeps an open page right through every mutation of the schema by @appendEdge, @prependEdge, @deleteEdge, @deleteRecord and payloads: no refetch, no updater", async () => {
		const { url } = demo;
		const operationOf = (mutation: string) =>
			`Every${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Mutation`;
		const compiled = await compileRelay([
			pageQuery("EveryQuery", list),
			...Object.entries(SELECTIONS).map(([name, payload]) => {
				const type = operationOf(name).replace(
					/^Every(.*)Mutation$/,
					"$1Input",
				);
				const connections = CHANGED[name] ? ", $connections: [ID!]!" : "";
				return `mutation ${operationOf(name)}($input: ${type}!${connections}) { ${name}(input: $input) { ${payload} } }`;
			}),
		]);
		const artifact = (name: string) => {
			const found = compiled.get(name);
			assert.ok(found, name);
			return found;
		};
		using project = paste("relay");
		const { createEnvironment, fieldsOf } =
			await project.load<RelayModule>("src/environment.ts");
		using recorded = recording();
		const mutationsOf =
			(environment: Environment, variables?: Variables) =>
			<Payload>(name: string, input: object): Promise<Payload> => {
				const [whose, field] = CHANGED[name] ?? [];
				const parent =
					whose === "viewer" ? viewer : variables?.[whose ?? "own"];
				const connections =
					field === undefined
						? {}
						: {
								connections: [
									ConnectionHandler.getConnectionID(parent ?? "", keyOf(field)),
								],
							};
				return new Promise((resolve, reject) => {
					commitMutation(environment, {
						mutation: artifact(operationOf(name)),
						variables: { input, ...connections },
						onCompleted: (data) =>
							resolve((data as Record<string, Payload>)[name] as Payload),
						onError: reject,
					});
				});
			};
		const join = mutationsOf(createEnvironment({ url, token: null }));
		await assert.rejects(join("createUser", REFUSED.input), (error: Error) => {
			assert.deepEqual(fieldsOf(error), REFUSED.fields);
			return true;
		});
		const { token, variables } = await newcomer(
			url,
			"relay_page",
			async (input) =>
				(await join<{ token: string }>("createUser", input)).token,
		);
		const environment = createEnvironment({ url, token });
		const page = createOperationDescriptor(artifact("EveryQuery"), variables);
		using kept = new DisposableStack();
		const retained = environment.retain(page);
		kept.defer(() => retained.dispose());
		await fetchQuery(environment, page.request.node, variables).toPromise();
		const shown = () =>
			environment.lookup(page.fragment).data as unknown as Shown;
		const viewer = shown().viewer.id;
		const mutate = mutationsOf(environment, variables);
		await carryOutAll({ shown, mutate }, variables);

		await mutate("deactivateUser", { userId: viewer });
		assert.equal(shown().viewer, null);
		assertSent(
			operationsOf(recorded).map((name) =>
				name.replace(
					/^Every(.)(.*)Mutation$/,
					(_, letter, rest) => `${letter.toLowerCase()}${rest}`,
				),
			),
			"EveryQuery",
		);
	});

	it("pages the home feed down and up while it grows: no pin twice, none skipped, the new ones on top", async () => {
		const compiled = await compileRelay([
			`query FeedQuery($first: Int, $after: String, $last: Int, $before: String) {
				viewer { id ${list("homeFeed(first: $first, after: $after, last: $last, before: $before)", "id")} }
			}`,
			"mutation RefreshMutation($input: RefreshHomeFeedInput!) { refreshHomeFeed(input: $input) { added } }",
		]);
		const query = compiled.get("FeedQuery");
		const mutation = compiled.get("RefreshMutation");
		assert.ok(query && mutation);
		using project = paste("relay");
		const { createEnvironment } =
			await project.load<RelayModule>("src/environment.ts");
		const environment = createEnvironment({
			url: demo.url,
			token: demo.token,
		});
		const page = createOperationDescriptor(query, { first: 10 });
		using kept = new DisposableStack();
		const retained = environment.retain(page);
		kept.defer(() => retained.dispose());
		const read = (variables: Record<string, unknown>) =>
			fetchQuery(environment, query, variables, {
				networkCacheConfig: { force: true },
			}).toPromise();
		await read({ first: 10 });
		const viewer = () =>
			(
				environment.lookup(page.fragment).data as unknown as {
					viewer: {
						id: string;
						homeFeed: {
							edges: { node: { id: string } }[];
							pageInfo: {
								startCursor: string;
								endCursor: string;
								hasNextPage: boolean;
								hasPreviousPage: boolean;
							};
						};
					};
				}
			).viewer;
		const feed = () => viewer().homeFeed;
		await pageWhileItGrows(
			{
				ids: () => ids(feed().edges),
				async older() {
					await read({ first: 10, after: feed().pageInfo.endCursor });
					return feed().pageInfo.hasNextPage;
				},
				async newer() {
					await read({ last: 10, before: feed().pageInfo.startCursor });
					return feed().pageInfo.hasPreviousPage;
				},
				refresh: () =>
					new Promise((resolve, reject) => {
						commitMutation(environment, {
							mutation,
							variables: { input: { userId: viewer().id } },
							onCompleted: resolve,
							onError: reject,
						});
					}),
			},
			() => homeFeed(demo.url, demo.token),
		);
	});

	it("with a persisted file it sends only ids, to a server in strict mode", async () => {
		using folder = temporaryFolder();
		const { artifacts, file } = await compilePersisted(folder.path);
		const texts = JSON.parse(readFileSync(file, "utf8")) as object;
		assert.ok(Object.keys(texts).length >= 14);
		await using strict = await serveDemo({
			CORKBOARD_DOCUMENTS: "strict",
			CORKBOARD_DOCUMENT_FILES: file,
		});
		await using built = await servePinboard({ api: strict.url, artifacts });
		const board = await longBoardOf(demo.url);
		const { page, asked, faults } = await visit(
			browser,
			`${built.url}#/user/${board.owner}`,
		);
		await logIn(page, strict.token);
		await page.getByRole("button", { name: "Log out" }).waitFor();
		await page.getByRole("link", { name: board.name }).click();
		await scrollToEnd(page);
		const like = page.getByRole("button", { name: /^Like \d+$/ });
		await like.first().click();
		await page.getByRole("button", { name: "Unlike" }).first().waitFor();
		await page.waitForLoadState("networkidle");
		assert.ok(
			asked.some(({ operationName }) => operationName === "BoardPinsQuery"),
		);
		assert.ok(
			asked.some(
				({ operationName }) => operationName === "LikeButtonLikeMutation",
			),
		);
		for (const { id, query, operationName } of asked) {
			assert.equal(query, undefined, operationName);
			assert.ok(id !== undefined && id in texts, operationName);
		}
		assert.deepEqual(faults, []);
		await page.context().close();
	});
});

/** The name of the long board, and whose it is: the same in every demo graph. */
async function longBoardOf(
	url: string,
): Promise<{ readonly owner: string; readonly name: string }> {
	const { id } = await longBoard(url);
	const { board } = await plainly(url).data<{
		board: { name: string; owner: { username: string } };
	}>("query ($id: ID!) { board(id: $id) { name owner { username } } }", { id });
	return { name: board.name, owner: board.owner.username };
}
