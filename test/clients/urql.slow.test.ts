import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { gql } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { type DemoServer, serveDemo } from "./demo.ts";
import {
	homeFeed,
	longBoard,
	pageWhileItGrows,
	plainly,
	REFUSED,
} from "./lists.ts";
import type { UrqlModule } from "./modules.ts";
import { type Pasted, paste } from "./pasted.ts";
import { recording } from "./recording.ts";
import { allPins, shownFeed } from "./urql/pages.ts";

describe("urql 5", () => {
	let demo: DemoServer;
	let project: Pasted;
	let createClient: UrqlModule["createClient"];
	let codeOf: UrqlModule["codeOf"];
	let fieldsOf: UrqlModule["fieldsOf"];
	before(async () => {
		project = paste("urql");
		({ createClient, codeOf, fieldsOf } =
			await project.load<UrqlModule>("src/client.ts"));
		demo = await serveDemo();
	});
	after(async () => {
		await demo?.[Symbol.asyncDispose]();
		project?.[Symbol.dispose]();
	});

	it("pages through a list by its cursors, each item once and in order", async () => {
		const client = createClient({ url: demo.url, token: () => null });
		const board = await longBoard(demo.url);
		using recorded = recording();
		assert.deepEqual(await allPins(client, board.id, 10), board.pins);
		assert.equal(recorded.sent.length, Math.ceil(board.pins.length / 10));
		// Its cache has every page now.
		assert.deepEqual(await allPins(client, board.id, 10), board.pins);
		assert.equal(recorded.sent.length, Math.ceil(board.pins.length / 10));
	});

	it("is the viewer that its token names, and after a mutation queries again what changed", async () => {
		const client = createClient({ url: demo.url, token: () => demo.token });
		const { pins } = await longBoard(demo.url);
		const query = gql`
			query Pin($id: ID!) { pin(id: $id) { id viewerLikes } viewer { username } }
		`;
		const read = () => client.query(query, { id: pins[1] });
		const before = await read();
		assert.equal(before.data.viewer.username, "marigold_01");
		const liked = before.data.pin.viewerLikes as boolean;
		const { data } = await client.mutation(
			liked
				? gql`mutation Unlike($id: ID!) { unlikePin(input: { pinId: $id }) { pin { id viewerLikes } } }`
				: gql`mutation Like($id: ID!) { likePin(input: { pinId: $id }) { pin { id viewerLikes } } }`,
			{ id: pins[1] },
		);
		assert.equal((data.likePin ?? data.unlikePin).pin.viewerLikes, !liked);
		assert.equal((await read()).data.pin.viewerLikes, !liked);
	});

	it("pages the home feed down and up while it grows, the new pins above the pages that are shown: no pin twice, none skipped", async () => {
		const client = createClient({ url: demo.url, token: () => demo.token });
		const { data } = await client.query(gql`query Me { viewer { id } }`, {});
		const feed = await shownFeed(client, 10);
		await pageWhileItGrows(
			{
				...feed,
				refresh: () =>
					client
						.mutation(
							gql`mutation Refresh($input: RefreshHomeFeedInput!) { refreshHomeFeed(input: $input) { added } }`,
							{ input: { userId: data.viewer.id } },
						)
						.toPromise(),
			},
			() => homeFeed(demo.url, demo.token),
		);
	});

	it("returns errors with their code and path, beside partial data", async () => {
		const client = createClient({ url: demo.url, token: () => null });
		const { data, error } = await client.mutation(
			gql`mutation Follow { followUser(input: { userId: "1" }) { user { id } } }`,
			{},
		);
		assert.deepEqual(data, { followUser: null });
		assert.equal(error && codeOf(error), "UNAUTHENTICATED");
		assert.deepEqual(error?.graphQLErrors[0]?.path, ["followUser"]);
		assert.equal(error?.networkError, undefined);
	});

	it("has the messages for the fields of a refused input, and none for another error", async () => {
		const client = createClient({ url: demo.url, token: () => null });
		const join = await client.mutation(
			gql`mutation Join($input: CreateUserInput!) { createUser(input: $input) { token } }`,
			{ input: REFUSED.input },
		);
		assert.ok(join.error);
		assert.deepEqual(fieldsOf(join.error), REFUSED.fields);
		const follow = await client.mutation(
			gql`mutation Follow { followUser(input: { userId: "1" }) { user { id } } }`,
			{},
		);
		assert.ok(follow.error);
		assert.deepEqual(fieldsOf(follow.error), {});
	});

	it("reads an empty list again after a mutation that selects its parent", async () => {
		const client = createClient({ url: demo.url, token: () => demo.token });
		const { createBoard } = await plainly(demo.url, demo.token).data<{
			createBoard: { board: { id: string } };
		}>('mutation { createBoard(input: { name: "Empty" }) { board { id } } }');
		const { id } = createBoard.board;
		const read = async () => {
			const { data } = await client.query(
				gql`query Titles($id: ID!) { board(id: $id) { id pins(first: 5) { nodes { id title } } } }`,
				{ id },
			);
			return data.board.pins.nodes.map(({ title }: { title: string }) => title);
		};
		assert.deepEqual(await read(), []);
		await client.mutation(
			gql`mutation Add($input: CreatePinInput!) { createPin(input: $input) { board { id } } }`,
			{ input: { boardId: id, title: "One" } },
		);
		assert.deepEqual(await read(), ["One"]);
	});

	it("reports a rejected token by the code of its error and the status of the response", async () => {
		const client = createClient({
			url: demo.url,
			token: () => `${demo.token}x`,
		});
		const { error } = await client.query(
			gql`query Viewer { viewer { id } }`,
			{},
		);
		assert.equal(error && codeOf(error), "UNAUTHENTICATED");
		assert.equal(error?.response.status, 401);
	});

	it("sends an operation's text once to a server that does not know it, and from then on its hash", async () => {
		const query = gql`query ByHashAlone { viewer { username } }`;
		const visit = async () => {
			using recorded = recording();
			const client = createClient({
				url: demo.url,
				token: () => demo.token,
				exchanges: [persistedExchange({ preferGetForPersistedQueries: false })],
			});
			const { data } = await client.query(query, {});
			assert.equal(data.viewer.username, "marigold_01");
			return recorded.sent.map(({ method, parameters, status }) => ({
				method,
				status,
				text: "query" in parameters,
				hash: "extensions" in parameters,
			}));
		};
		const byHash = { method: "POST", status: 200, text: false, hash: true };
		assert.deepEqual(await visit(), [byHash, { ...byHash, text: true }]);
		assert.deepEqual(await visit(), [byHash]);
	});
});
