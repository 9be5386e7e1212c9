import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { gql, type InMemoryCache } from "@apollo/client";
import { CombinedGraphQLErrors } from "@apollo/client/errors";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { buildSchema, isObjectType } from "graphql";
import { COPIES } from "../update.ts";
import {
	BOARD_PINS,
	COUNT_PINS,
	LIKE_PIN,
	PIN_COMMENTS,
	PREVIEW_PINS,
	VIEWER,
} from "./apollo/documents.ts";
import { type DemoServer, serveDemo } from "./demo.ts";
import { ids, longBoard, plainly, talkedAbout } from "./lists.ts";
import type { ApolloModule } from "./modules.ts";
import { type Pasted, paste } from "./pasted.ts";
import { recording } from "./recording.ts";

describe("Apollo Client 4", () => {
	let demo: DemoServer;
	let project: Pasted;
	let createClient: ApolloModule["createClient"];
	let codeOf: ApolloModule["codeOf"];
	before(async () => {
		project = paste("apollo");
		({ createClient, codeOf } =
			await project.load<ApolloModule>("src/client.ts"));
		demo = await serveDemo();
	});
	after(async () => {
		await demo?.[Symbol.asyncDispose]();
		project?.[Symbol.dispose]();
	});

	const asViewer = () => {
		const { url, token } = demo;
		return createClient({ url, token: () => token });
	};

	it("pages forward into one list with relayStylePagination, each item once and in order", async () => {
		const client = asViewer();
		const board = await longBoard(demo.url);
		using recorded = recording();
		const shown = client.watchQuery({
			query: BOARD_PINS,
			variables: { id: board.id, first: 10 },
		});
		let { data } = await client.query({
			query: BOARD_PINS,
			variables: { id: board.id, first: 10 },
		});
		let pages = 1;
		while (data?.board?.pins.pageInfo.hasNextPage && pages < 10) {
			const { endCursor } = data.board.pins.pageInfo;
			await shown.fetchMore({ variables: { after: endCursor } });
			data = client.readQuery({
				query: BOARD_PINS,
				variables: { id: board.id, first: 10 },
			}) as typeof data;
			pages++;
		}
		assert.deepEqual(ids(data?.board?.pins.edges ?? []), board.pins);
		assert.equal(pages, Math.ceil(board.pins.length / 10));
		assert.equal(recorded.sent.length, pages);
	});

	it("keeps an open page right through every mutation by its payload alone: no refetch, no cache update by hand", async () => {
		const { url } = demo;
		const { createUser } = await plainly(url).data<{
			createUser: { user: { id: string }; token: string };
		}>(
			'mutation { createUser(input: { username: "apollo_page" }) { user { id } token } }',
		);
		const board = await longBoard(url);
		const { user: other, interest } = await plainly(url).data<{
			user: { id: string };
			interest: { id: string };
		}>(
			'{ user(by: { username: "basil_02" }) { id } interest(by: { slug: "gardens" }) { id } }',
		);
		const pin = board.pins[0] as string;
		const client = createClient({ url, token: () => createUser.token });
		const own = await client.mutate<{
			createBoard: { board: { id: string } };
		}>({
			mutation: gql`mutation { createBoard(input: { name: "Own" }) { board { id } } }`,
		});
		const ownBoard = own.data?.createBoard.board.id as string;

		const list = (fields: string) =>
			`{ edges { cursor node { ${fields} } } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } }`;
		const boards = `viewer { id boards(first: 50) ${list("id name")} }`;
		const pins = `board { id pins(first: 20) ${list("id title")} }`;
		const comments = `pin { id comments(last: 10) ${list("id text")} }`;
		const page = gql`query Page($pin: ID!, $board: ID!, $own: ID!, $user: ID!, $interest: ID!) {
			${boards}
			me: viewer { id name blockedUsers(first: 0) { totalCount } }
			own: board(id: $own) { id name pins(first: 20) ${list("id title")} }
			board(id: $board) { id viewerFollows followers(first: 0) { totalCount } }
			pin(id: $pin) { id viewerLikes likedBy(first: 0) { totalCount } comments(last: 10) ${list("id text")} }
			user(by: { id: $user }) { id viewerFollows followers(first: 0) { totalCount } }
			interest(by: { id: $interest }) { id viewerFollows followers(first: 0) { totalCount } }
		}`;
		interface List<Node> {
			readonly edges: readonly { readonly node: Node }[];
		}
		interface Followed {
			readonly viewerFollows: boolean;
			readonly followers: { readonly totalCount: number };
		}
		interface Shown {
			readonly viewer: { readonly boards: List<{ name: string }> };
			readonly me: {
				readonly name: string;
				readonly blockedUsers: { readonly totalCount: number };
			};
			readonly own: {
				readonly name: string;
				readonly pins: List<{ id: string; title: string | null }>;
			};
			readonly board: Followed;
			readonly pin: {
				readonly viewerLikes: boolean;
				readonly likedBy: { readonly totalCount: number };
				readonly comments: List<{ id: string; text: string }>;
			};
			readonly user: Followed;
			readonly interest: Followed;
		}
		const variables = {
			pin,
			board: board.id,
			own: ownBoard,
			user: other.id,
			interest: interest.id,
		};
		let shown = {} as Shown;
		using recorded = recording();
		const subscription = client
			.watchQuery<Shown>({ query: page, variables })
			.subscribe(({ data, dataState }) => {
				if (dataState === "complete") shown = data;
			});
		await client.query({ query: page, variables });
		const mutate = async <Payload>(
			name: string,
			input: object,
			selection: string,
		): Promise<Payload> => {
			const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
			const { data } = await client.mutate<Record<string, Payload>>({
				mutation: gql(
					`mutation ${name}Page($input: ${type}!) { ${name}(input: $input) { ${selection} } }`,
				),
				variables: { input },
			});
			return data?.[name] as Payload;
		};
		const titles = () => shown.own.pins.edges.map(({ node }) => node.title);
		const names = () => shown.viewer.boards.edges.map(({ node }) => node.name);
		const texts = () =>
			shown.pin.comments.edges.map(({ node }) => node.text).slice(-1);

		await mutate("updateUser", { name: "A Page" }, "user { id name }");
		assert.equal(shown.me.name, "A Page");

		const second = await mutate<{ board: { id: string } }>(
			"createBoard",
			{ name: "Second" },
			`board { id } ${boards}`,
		);
		assert.deepEqual(names(), ["Second", "Own"]);
		const boardId = second.board.id;
		await mutate("updateBoard", { boardId, name: "2nd" }, "board { id name }");
		assert.deepEqual(names(), ["2nd", "Own"]);
		await mutate("deleteBoard", { boardId }, boards);
		assert.deepEqual(names(), ["Own"]);

		const created: string[] = [];
		for (const title of ["one", "two"]) {
			const made = await mutate<{ pin: { id: string } }>(
				"createPin",
				{ boardId: ownBoard, title },
				`pin { id } ${pins}`,
			);
			created.push(made.pin.id);
		}
		assert.deepEqual(titles(), ["two", "one"]);
		const [pinId, afterPinId] = [...created].reverse();
		await mutate("movePin", { pinId, afterPinId }, pins);
		assert.deepEqual(titles(), ["one", "two"]);
		await mutate("updatePin", { pinId, title: "2" }, "pin { id title }");
		assert.deepEqual(titles(), ["one", "2"]);
		await mutate("deletePin", { pinId }, `deletedPinId ${pins}`);
		assert.deepEqual(titles(), ["one"]);
		await mutate(
			"repin",
			{ pinId: pin, boardId: ownBoard, title: "Saved" },
			pins,
		);
		assert.deepEqual(titles(), ["Saved", "one"]);

		const likes = shown.pin.likedBy.totalCount;
		const liked = "pin { id viewerLikes likedBy(first: 0) { totalCount } }";
		for (const [name, change] of [
			["likePin", 1],
			["unlikePin", 0],
		] as const) {
			await mutate(name, { pinId: pin }, liked);
			assert.equal(shown.pin.viewerLikes, change === 1);
			assert.equal(shown.pin.likedBy.totalCount, likes + change);
		}
		const before = texts();
		const { comment } = await mutate<{ comment: { id: string } }>(
			"addComment",
			{ pinId: pin, text: "As it is" },
			`comment { id } ${comments}`,
		);
		assert.deepEqual(texts(), ["As it is"]);
		const commentId = comment.id;
		await mutate(
			"updateComment",
			{ commentId, text: "As it was" },
			"comment { id text }",
		);
		assert.deepEqual(texts(), ["As it was"]);
		await mutate("deleteComment", { commentId }, comments);
		assert.deepEqual(texts(), before);

		for (const [kind, id] of [
			["board", board.id],
			["user", other.id],
			["interest", interest.id],
		] as const) {
			const followers = shown[kind].followers.totalCount;
			const type = `${kind[0]?.toUpperCase()}${kind.slice(1)}`;
			const followed = `${kind} { id viewerFollows followers(first: 0) { totalCount } }`;
			await mutate(`follow${type}`, { [`${kind}Id`]: id }, followed);
			assert.equal(shown[kind].viewerFollows, true);
			assert.equal(shown[kind].followers.totalCount, followers + 1);
			await mutate(`unfollow${type}`, { [`${kind}Id`]: id }, followed);
			assert.equal(shown[kind].viewerFollows, false);
			assert.equal(shown[kind].followers.totalCount, followers);
		}
		const blocked = "viewer { id blockedUsers(first: 0) { totalCount } }";
		await mutate("blockUser", { userId: other.id }, blocked);
		assert.equal(shown.me.blockedUsers.totalCount, 1);
		await mutate("unblockUser", { userId: other.id }, blocked);
		assert.equal(shown.me.blockedUsers.totalCount, 0);

		subscription.unsubscribe();
		const [first, ...rest] = recorded.sent.map(({ parameters }) =>
			String(parameters.operationName),
		);
		assert.equal(first, "Page");
		assert.equal(rest.length, 23);
		for (const name of rest) assert.match(name, /^[a-z]\w+Page$/);
	});

	it("pages backward from the end into one list", async () => {
		const client = asViewer();
		const pin = await talkedAbout(demo.url, demo.token);
		const variables = { id: pin.id, last: 4 };
		const { data } = await client.query({ query: PIN_COMMENTS, variables });
		assert.deepEqual(
			ids(data?.pin.comments.edges ?? []),
			pin.comments.slice(-4),
		);
		assert.equal(data?.pin.comments.pageInfo.hasPreviousPage, true);
		assert.equal(data.pin.comments.pageInfo.hasNextPage, false);

		const shown = client.watchQuery({ query: PIN_COMMENTS, variables });
		await shown.fetchMore({
			variables: { before: data.pin.comments.pageInfo.startCursor },
		});
		const both = client.readQuery({ query: PIN_COMMENTS, variables });
		assert.deepEqual(
			ids(both?.pin.comments.edges ?? []),
			pin.comments.slice(-8),
		);
	});

	it("keeps a count apart from the pages of the same list", async () => {
		const client = asViewer();
		const board = await longBoard(demo.url);
		using recorded = recording();
		const variables = { id: board.id, first: 10 };
		await client.query({ query: BOARD_PINS, variables });
		const count = await client.query({
			query: COUNT_PINS,
			variables: { id: board.id },
		});
		assert.equal(count.data?.board?.pins.totalCount, board.pins.length);
		const again = await client.query({ query: BOARD_PINS, variables });
		assert.deepEqual(
			ids(again.data?.board?.pins.edges ?? []),
			board.pins.slice(0, 10),
		);
		// The list came from the cache, whole.
		assert.equal(recorded.sent.length, 2);
	});

	it("merges the pages of every list of the schema", () => {
		const { cache } = asViewer() as unknown as { cache: InMemoryCache };
		const schema = buildSchema(readFileSync(COPIES.publicSchema, "utf8"));
		const lists = Object.values(schema.getTypeMap())
			.filter((type) => isObjectType(type))
			.flatMap((type) =>
				Object.values(type.getFields())
					.filter((field) => /Connection$/.test(String(field.type)))
					.map(({ name }) => [type.name, name] as const),
			);
		assert.ok(lists.length > 15);
		const kept = (typename: string, fieldName: string, first: number) =>
			cache.policies.getStoreFieldName({
				typename,
				fieldName,
				args: { first },
			});
		for (const [type, name] of lists) {
			assert.equal(kept(type, name, 10), kept(type, name, 20), type + name);
			assert.notEqual(kept(type, name, 10), kept(type, name, 0), type + name);
			assert.ok(cache.policies.getMergeFunction(type, name, undefined));
		}
		assert.notEqual(kept("Pin", "details", 10), kept("Pin", "details", 20));
	});

	it("keeps a preview with a key apart from the list", async () => {
		const client = asViewer();
		const board = await longBoard(demo.url);
		const variables = { id: board.id, first: 10 };
		await client.query({ query: BOARD_PINS, variables });
		using recorded = recording();
		const preview = await client.query({
			query: PREVIEW_PINS,
			variables: { id: board.id },
		});
		assert.deepEqual(
			ids(preview.data?.board?.pins.edges ?? []),
			board.pins.slice(0, 2),
		);
		const list = client.readQuery({ query: BOARD_PINS, variables });
		assert.deepEqual(
			ids(list?.board?.pins.edges ?? []),
			board.pins.slice(0, 10),
		);
		assert.doesNotMatch(
			String(recorded.sent[0]?.parameters.query),
			/@connection/,
		);
	});

	it("shows a like at once, and rolls it back after an error", async () => {
		const client = asViewer();
		const board = await longBoard(demo.url);
		const variables = { id: board.id, first: 100 };
		const { data } = await client.query({ query: BOARD_PINS, variables });
		const pin = data?.board?.pins.edges.find(({ node }) => !node.viewerLikes);
		const id = pin?.node.id ?? "";
		const likes = () =>
			client
				.readQuery({ query: BOARD_PINS, variables }, true)
				?.board?.pins.edges.find(({ node }) => node.id === id)?.node
				.viewerLikes;
		const hope = {
			likePin: {
				__typename: "LikePinPayload",
				pin: { __typename: "Pin", id, viewerLikes: true },
			},
		};
		assert.equal(likes(), false);
		const liked = client.mutate({
			mutation: LIKE_PIN,
			variables: { id },
			optimisticResponse: hope,
		});
		assert.equal(likes(), true);
		await liked;
		assert.equal(likes(), true);
		const said = await plainly(demo.url, demo.token).data(
			"query ($id: ID!) { pin(id: $id) { viewerLikes } }",
			{ id },
		);
		assert.deepEqual(said, { pin: { viewerLikes: true } });

		// Anonymous: the same hope, refused.
		const anonymous = createClient({ url: demo.url, token: () => null });
		await anonymous.query({ query: BOARD_PINS, variables });
		const now = () =>
			anonymous.readQuery({ query: BOARD_PINS, variables }, true)?.board?.pins
				.edges[0]?.node.viewerLikes;
		const other = board.pins[0] ?? "";
		const refused = anonymous.mutate({
			mutation: LIKE_PIN,
			variables: { id: other },
			optimisticResponse: {
				likePin: {
					...hope.likePin,
					pin: { ...hope.likePin.pin, id: other },
				},
			},
		});
		assert.equal(now(), true);
		await assert.rejects(refused, (error) => {
			assert.equal(codeOf(error), "UNAUTHENTICATED");
			assert.ok(CombinedGraphQLErrors.is(error));
			assert.deepEqual(error.errors[0]?.path, ["likePin"]);
			return true;
		});
		assert.equal(now(), null);
	});

	it("reads any object by node, with its type", async () => {
		const client = asViewer();
		const board = await longBoard(demo.url);
		const { data } = await client.query({
			query: gql`
				query Any($ids: [ID!]!) {
					nodes(ids: $ids) {
						id
						... on Board { name }
						... on Pin { createdAt }
					}
				}
			`,
			variables: { ids: [board.id, board.pins[0], "1"] },
		});
		const [first, second, third] = (
			data as { nodes: ({ __typename: string } | null)[] }
		).nodes;
		assert.deepEqual(
			[first?.__typename, second?.__typename, third],
			["Board", "Pin", null],
		);
	});

	it("reports a rejected token by the code of its error, not as a network failure", async () => {
		using recorded = recording();
		const client = createClient({
			url: demo.url,
			token: () => `${demo.token}x`,
		});
		await assert.rejects(client.query({ query: VIEWER }), (error) => {
			assert.equal(codeOf(error), "UNAUTHENTICATED");
			assert.ok(CombinedGraphQLErrors.is(error));
			return true;
		});
		assert.deepEqual(
			recorded.sent.map(({ status }) => status),
			[401],
		);
	});

	for (const useGETForHashedQueries of [false, true]) {
		const method = useGETForHashedQueries ? "GET" : "POST";
		it(`sends an operation's text once to a server that does not know it, and from then on its hash, by ${method}`, async () => {
			const query = gql`
				query ByHash${method} { viewer { id username } }
			`;
			const visit = async () => {
				using recorded = recording();
				const client = createClient({
					url: demo.url,
					token: () => demo.token,
					links: [
						new PersistedQueryLink({
							sha256: (text) => createHash("sha256").update(text).digest("hex"),
							useGETForHashedQueries,
						}),
					],
				});
				const { data } = await client.query({ query });
				assert.equal(
					(data as { viewer: { username: string } }).viewer.username,
					"marigold_01",
				);
				return recorded.sent.map(({ method, parameters, status }) => ({
					method,
					status,
					text: "query" in parameters,
					hash: "extensions" in parameters,
				}));
			};
			const byHash = { method, status: 200, text: false, hash: true };
			assert.deepEqual(await visit(), [
				byHash,
				{ method: "POST", status: 200, text: true, hash: true },
			]);
			assert.deepEqual(await visit(), [byHash]);
		});
	}
});
