import assert from "node:assert/strict";
import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import pinsApp from "../../pins/app.ts";
import type { App } from "../../src/app/defineApp.ts";
import { openTest, type TestGraph } from "../../src/testing/openTest.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const MUTES = `extend type User {
	"The users that this user does not want to see anything of, newest first."
	mutedUsers: [User]
		@mapping(name: "muteUser", table: "user_mutes_users", edges: "MutedUser")
		@mutations(add: "muteUser", remove: "unmuteUser")
}
`;

/** The app with mutes: a field of the SDL, and two lines of the policy. */
function withMutes(folder: string): App {
	cpSync(pinsApp.schema, folder, { recursive: true });
	writeFileSync(join(folder, "mutes.graphql"), MUTES);
	const { visibility } = pinsApp.policies;
	assert.ok(visibility);
	return {
		...pinsApp,
		schema: folder,
		policies: {
			...pinsApp.policies,
			visibility: {
				...visibility,
				privateLists: [...visibility.privateLists, "muteUser"],
				hides: { ...visibility.hides, muteUser: "belongings" },
			},
		},
	};
}

/** Ada and Ben have two pins each, and Cyd follows both. */
const GRAPH = [
	...["ada", "ben", "cyd"].map((key) => ({
		type: "User",
		key,
		fields: { username: key },
	})),
	...["ada", "ben"].flatMap((owner) => [
		{ type: "Board", key: `of ${owner}`, fields: { name: "Kites", owner } },
		...[1, 2].map((number) => ({
			type: "Pin",
			key: `${owner} ${number}`,
			fields: { title: `${owner} ${number}`, board: `of ${owner}`, owner },
		})),
		{ edge: "followUser", from: "cyd", to: owner },
	]),
];

interface Feed {
	readonly viewer: {
		readonly homeFeed: {
			readonly nodes: readonly { readonly title: string }[];
			readonly edges: readonly { readonly node: { readonly title: string } }[];
			readonly pageInfo: {
				readonly hasNextPage: boolean;
				readonly hasPreviousPage: boolean;
				readonly endCursor: string | null;
			};
		} | null;
	};
}

async function page(graph: TestGraph, args: string) {
	const { data, errors } = await graph.query(
		`{ viewer { homeFeed(${args}) { nodes { title } edges { node { title } } pageInfo { hasNextPage hasPreviousPage endCursor } } } }`,
		{ as: "cyd" },
	);
	assert.equal(errors, undefined);
	const feed = (data as unknown as Feed).viewer.homeFeed;
	assert.ok(feed);
	const titles = feed.nodes.map(({ title }) => title);
	assert.deepEqual(
		feed.edges.map(({ node }) => node.title),
		titles,
	);
	return { titles, ...feed.pageInfo };
}

async function change(graph: TestGraph, mutation: "muteUser" | "unmuteUser") {
	const { data } = await graph.query('{ user(by: {username: "ada"}) { id } }');
	const { id } = (data as unknown as { user: { id: string } }).user;
	const { errors } = await graph.query(
		`mutation { ${mutation}(input: {userId: "${id}"}) { viewer { mutedUsers { nodes { id } } } } }`,
		{ as: "cyd" },
	);
	assert.equal(errors, undefined);
}

describe("a mute that an app adds to its policy", () => {
	it("hides the muted person's pins on the stored pages of the home feed, either way, until it is taken back", async () => {
		using folder = temporaryFolder();
		await using graph = await openTest(withMutes(folder.path), GRAPH);
		const all = ["ada 1", "ada 2", "ben 1", "ben 2"];
		const before = await page(graph, "first: 10");
		assert.deepEqual(before.titles.toSorted(), all);

		await change(graph, "muteUser");
		const muted = await page(graph, "first: 10");
		assert.deepEqual(muted.titles.toSorted(), ["ben 1", "ben 2"]);
		assert.ok(!muted.hasNextPage);
		const first = await page(graph, "first: 1");
		assert.ok(first.hasNextPage);
		const second = await page(graph, `first: 1, after: "${first.endCursor}"`);
		assert.deepEqual(
			[...first.titles, ...second.titles].toSorted(),
			["ben 1", "ben 2"],
			"each page is full, without what is hidden",
		);
		assert.ok(!second.hasNextPage, "only hidden pins follow");
		const fromTheEnd = await page(graph, "last: 10");
		assert.deepEqual(fromTheEnd.titles, muted.titles);

		await change(graph, "unmuteUser");
		const after = await page(graph, "first: 10");
		assert.deepEqual(after.titles, before.titles);
	});
});
