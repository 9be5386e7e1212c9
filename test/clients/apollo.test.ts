import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { type ApolloClient, gql, type InMemoryCache } from "@apollo/client";
import { CombinedGraphQLErrors } from "@apollo/client/errors";
import { PersistedQueryLink } from "@apollo/client/link/persisted-queries";
import { buildSchema, isObjectType } from "graphql";
import { COPIES } from "../update.ts";
import {
	BOARD_PINS,
	COUNT_PINS,
	HOME_FEED,
	LIKE_PIN,
	PIN_COMMENTS,
	PREVIEW_PINS,
	VIEWER,
} from "./apollo/documents.ts";
import { list, SELECTIONS } from "./apollo/everyMutation.ts";
import { type DemoServer, serveDemo } from "./demo.ts";
import {
	assertSent,
	carryOutAll,
	newcomer,
	pageQuery,
	type Shown,
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
import type { ApolloModule } from "./modules.ts";
import { type Pasted, paste } from "./pasted.ts";
import { operationsOf, recording } from "./recording.ts";

describe("Apollo Client 4", () => {
	let demo: DemoServer;
	let project: Pasted;
	let createClient: ApolloModule["createClient"];
	let codeOf: ApolloModule["codeOf"];
	let fieldsOf: ApolloModule["fieldsOf"];
	before(async () => {
		project = paste("apollo");
		({ createClient, codeOf, fieldsOf } =
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

	it("keeps an open page right through every mutation of the schema by its payload alone: no refetch, no cache update by hand", async () => {
		const { url } = demo;
		using recorded = recording();
		const mutationsOf =
			(client: ApolloClient) =>
			async <Payload>(name: string, input: object): Promise<Payload> => {
				const type = `${name.charAt(0).toUpperCase()}${name.slice(1)}Input`;
				const { data } = await client.mutate<Record<string, Payload>>({
					mutation: gql(
						`mutation ${name}($input: ${type}!) { ${name}(input: $input) { ${SELECTIONS[name]} } }`,
					),
					variables: { input },
				});
				return data?.[name] as Payload;
			};
		const join = mutationsOf(createClient({ url, token: () => null }));
		const { token, variables } = await newcomer(
			url,
			"apollo_page",
			async (input) =>
				(await join<{ token: string }>("createUser", input)).token,
		);
		const client = createClient({ url, token: () => token });
		let latest = {} as Shown;
		const page = gql(pageQuery("Page", list));
		const subscription = client
			.watchQuery<Shown>({ query: page, variables })
			.subscribe(({ data, dataState }) => {
				if (dataState === "complete") latest = data;
			});
		await client.query({ query: page, variables });
		const mutate = mutationsOf(client);
		await carryOutAll({ shown: () => latest, mutate }, variables);

		// An account that is closed takes its client with it.
		const userId = latest.viewer.id;
		assert.deepEqual(await mutate("deactivateUser", { userId }), {
			__typename: "DeactivateUserPayload",
			deactivatedUserId: userId,
		});
		subscription.unsubscribe();
		assertSent(operationsOf(recorded), "Page");
		await assert.rejects(
			client.query({ query: VIEWER, fetchPolicy: "network-only" }),
			(error) => codeOf(error) === "UNAUTHENTICATED",
		);
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

	it("keeps a later page once, however often it is read without the pages before it", async () => {
		const board = await longBoard(demo.url);
		const first = await asViewer().query({
			query: BOARD_PINS,
			variables: { id: board.id, first: 10 },
		});
		const after = first.data?.board?.pins.pageInfo.endCursor;
		assert.ok(after);
		// A page that was opened in its middle.
		const client = asViewer();
		const variables = { id: board.id, first: 10, after };
		for (let read = 0; read < 3; read++) {
			const { data } = await client.query({
				query: BOARD_PINS,
				variables,
				fetchPolicy: "network-only",
			});
			assert.deepEqual(
				ids(data?.board?.pins.edges ?? []),
				board.pins.slice(10, 20),
			);
		}
	});

	it("keeps an earlier page once, however often it is read without the pages behind it", async () => {
		const pin = await talkedAbout(demo.url, demo.token);
		const last = await asViewer().query({
			query: PIN_COMMENTS,
			variables: { id: pin.id, last: 4 },
		});
		const before = last.data?.pin.comments.pageInfo.startCursor;
		assert.ok(before);
		const client = asViewer();
		const variables = { id: pin.id, last: 4, before };
		for (let read = 0; read < 3; read++) {
			const { data } = await client.query({
				query: PIN_COMMENTS,
				variables,
				fetchPolicy: "network-only",
			});
			assert.deepEqual(
				ids(data?.pin.comments.edges ?? []),
				pin.comments.slice(-8, -4),
			);
		}
	});

	it("pages the home feed down and up while it grows: no pin twice, none skipped, the new ones on top", async () => {
		const client = asViewer();
		const variables = { first: 10 };
		await client.query({ query: HOME_FEED, variables });
		const shown = client.watchQuery({ query: HOME_FEED, variables });
		const feed = () => {
			const data = client.readQuery({ query: HOME_FEED, variables });
			assert.ok(data?.viewer);
			return { user: data.viewer.id, ...data.viewer.homeFeed };
		};
		await pageWhileItGrows(
			{
				ids: () => ids(feed().edges),
				async older() {
					await shown.fetchMore({
						variables: { after: feed().pageInfo.endCursor },
					});
					return feed().pageInfo.hasNextPage;
				},
				async newer() {
					// Apollo repeats the query's other variables.
					await shown.fetchMore({
						variables: {
							first: null,
							last: 10,
							before: feed().pageInfo.startCursor,
						},
					});
					return feed().pageInfo.hasPreviousPage;
				},
				refresh: () =>
					client.mutate({
						mutation: gql`
							mutation Refresh($input: RefreshHomeFeedInput!) {
								refreshHomeFeed(input: $input) { added }
							}
						`,
						variables: { input: { userId: feed().user } },
					}),
			},
			() => homeFeed(demo.url, demo.token),
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

	it("has the messages for the fields of a refused input, and none for another error", async () => {
		const client = createClient({ url: demo.url, token: () => null });
		await assert.rejects(
			client.mutate({
				mutation: gql`mutation Join($input: CreateUserInput!) { createUser(input: $input) { token } }`,
				variables: { input: REFUSED.input },
			}),
			(error) => {
				assert.deepEqual(fieldsOf(error), REFUSED.fields);
				return true;
			},
		);
		await assert.rejects(
			client.mutate({ mutation: LIKE_PIN, variables: { id: "1" } }),
			(error) => {
				assert.deepEqual(fieldsOf(error), {});
				return true;
			},
		);
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
