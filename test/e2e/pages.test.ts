import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type Client, client } from "../helpers/client.ts";
import { type ServedHere, serveHere } from "../helpers/demoServer.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const PINS = 45;

interface Page {
	readonly edges: readonly {
		readonly cursor: string;
		readonly node: { readonly details: string; readonly createdAt: string };
	}[];
	readonly nodes: readonly { readonly details: string }[];
	readonly pageInfo: {
		readonly hasNextPage: boolean;
		readonly hasPreviousPage: boolean;
		readonly startCursor: string | null;
		readonly endCursor: string | null;
	};
	readonly totalCount: number;
}

describe("over HTTP, a page", () => {
	const folder = temporaryFolder();
	const env = { CORKBOARD_DATA: folder.path };
	let server: ServedHere;
	let visitor: Client;
	before(async () => {
		const lines = [
			{
				type: "User",
				key: "a",
				fields: { username: "ada_made_up", name: "A" },
			},
			{ type: "Board", key: "b", fields: { owner: "a", name: "All" } },
			...Array.from({ length: PINS }, (_, n) => ({
				type: "Pin",
				key: `p:${n}`,
				fields: { board: "b", details: String(n) },
			})),
			...["one", "two"].map((text) => ({
				type: "Comment",
				key: text,
				fields: { author: "a", pin: "p:44", text },
			})),
		];
		const input = lines.map((line) => JSON.stringify(line)).join("\n");
		const { code, err } = await runHere(["import", "-"], { env, input });
		assert.equal(code, 0, err);
		server = await serveHere(env);
		visitor = client(server.url);
	});
	after(async () => {
		await server[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	const query = (args: string) => `query ($cursor: String) {
		user(by: {username: "ada_made_up"}) { pins${args} {
			edges { cursor node { details createdAt } }
			nodes { details }
			pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
			totalCount
		} }
		unused: user(by: {username: "nobody"}) { pins(after: $cursor) { totalCount } }
	}`;

	async function page(args: string, cursor: string | null = null) {
		const { user } = await visitor.data<{ user: { pins: Page } }>(query(args), {
			cursor,
		});
		return user.pins;
	}

	const from = (first: number, count: number) =>
		Array.from({ length: count }, (_, n) => String(first - n));
	const details = ({ nodes }: Page) => nodes.map((node) => node.details);

	it("has 20 items by default, newest first, with cursors, times and page info", async () => {
		for (const args of [
			"",
			"(first: null)",
			"(first: null, last: null, after: null)",
		]) {
			const { edges, pageInfo, totalCount, ...rest } = await page(args);
			assert.deepEqual(
				details({ edges, pageInfo, totalCount, ...rest }),
				from(44, 20),
			);
			assert.deepEqual(
				edges.map(({ node }) => node.details),
				from(44, 20),
			);
			assert.deepEqual(pageInfo, {
				hasNextPage: true,
				hasPreviousPage: false,
				startCursor: edges[0]?.cursor,
				endCursor: edges[19]?.cursor,
			});
			assert.equal(totalCount, PINS);
			const times = edges.map(({ node }) => node.createdAt);
			for (const time of times) {
				assert.match(time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
			}
			assert.deepEqual(times, times.toSorted().toReversed());
		}
	});

	it("of 0 items has the count, and whether there are items", async () => {
		const { pageInfo, totalCount, edges } = await page("(first: 0)");
		assert.deepEqual({ totalCount, edges }, { totalCount: PINS, edges: [] });
		assert.equal(pageInfo.endCursor, null);
	});

	it("continues forward and backward to the end, with each item once", async () => {
		const forward: string[] = [];
		let cursor: string | null = null;
		let hasMore = true;
		const sizes: number[] = [];
		while (hasMore) {
			const next: Page = await page("(first: 20, after: $cursor)", cursor);
			sizes.push(next.edges.length);
			forward.push(...details(next));
			assert.equal(next.pageInfo.hasPreviousPage, cursor !== null);
			hasMore = next.pageInfo.hasNextPage;
			cursor = next.pageInfo.endCursor;
		}
		assert.deepEqual(sizes, [20, 20, 5]);
		assert.deepEqual(forward, from(44, PINS));

		const backward: string[] = [];
		cursor = null;
		hasMore = true;
		while (hasMore) {
			const next: Page = await page("(last: 20, before: $cursor)", cursor);
			backward.unshift(...details(next));
			assert.equal(next.pageInfo.hasNextPage, cursor !== null);
			hasMore = next.pageInfo.hasPreviousPage;
			cursor = next.pageInfo.startCursor;
		}
		assert.deepEqual(backward, from(44, PINS));
	});

	it("with only a cursor has the 20 items next to it, and two cursors bound a range", async () => {
		const { edges } = await page("(first: 45)");
		const [at20 = "", at30 = ""] = [edges[24]?.cursor, edges[14]?.cursor];
		assert.deepEqual(
			details(await page("(after: $cursor)", at20)),
			from(19, 20),
		);
		assert.deepEqual(
			details(await page("(before: $cursor)", at20)),
			from(40, 20),
		);
		const { user } = await visitor.data<{ user: { pins: Page } }>(
			`query ($after: String, $before: String) { user(by: {username: "ada_made_up"}) { pins(after: $after, before: $before) { nodes { details } } } }`,
			{ after: at30, before: at20 },
		);
		assert.deepEqual(details(user.pins), from(29, 9));
	});

	it("has comments oldest first", async () => {
		const { user } = await visitor.data<{ user: unknown }>(
			'{ user(by: {username: "ada_made_up"}) { pins(first: 1) { nodes { comments { nodes { text } } } } } }',
		);
		assert.deepEqual(user, {
			pins: {
				nodes: [{ comments: { nodes: [{ text: "one" }, { text: "two" }] } }],
			},
		});
	});

	it("rejects first with last, a negative number, more than 100, and cursors of another list or invalid ones", async () => {
		for (const args of [
			"(first: 1, last: 1)",
			"(first: -1)",
			"(last: -1)",
			"(first: 101)",
			"(last: 101)",
			'(after: "made up")',
			'(before: "made up")',
		]) {
			const { data, errors } = await visitor.post(query(args));
			assert.equal(errors?.length, 1, args);
			assert.equal(errors?.[0]?.extensions.code, "BAD_USER_INPUT", args);
			assert.deepEqual(errors?.[0]?.path, ["user", "pins"]);
			assert.deepEqual(data, { user: { pins: null }, unused: null });
		}
		const { edges } = await page("(first: 1)");
		assert.equal(
			await visitor.code(
				"query ($cursor: String) { interests(after: $cursor) { totalCount } }",
				{ cursor: edges[0]?.cursor },
			),
			"BAD_USER_INPUT",
		);
	});

	it("takes an empty cursor for none", async () => {
		assert.deepEqual(
			details(await page('(after: "", first: 3)')),
			details(await page("(first: 3)")),
		);
		assert.deepEqual(
			details(await page('(before: "", last: 3)')),
			details(await page("(last: 3)")),
		);
	});

	it("replaces deleted items by further ones, and their cursors stay valid", async () => {
		const { code, out } = await runHere(["tokens", "create", "ada_made_up"], {
			env,
		});
		assert.equal(code, 0);
		const ada = client(server.url, out.trim());
		const { user } = await visitor.data<{
			user: { pins: { edges: { cursor: string; node: { id: string } }[] } };
		}>(
			'{ user(by: {username: "ada_made_up"}) { pins(first: 3) { edges { cursor node { id } } } } }',
		);
		const gone = user.pins.edges[2];
		await ada.data(
			`mutation { deletePin(input: {pinId: "${gone?.node.id}"}) { deletedPinId } }`,
		);
		assert.deepEqual(details(await page("(first: 4)")), [
			"44",
			"43",
			"41",
			"40",
		]);
		assert.deepEqual(
			details(await page("(first: 2, after: $cursor)", gone?.cursor)),
			["41", "40"],
		);
	});
});
