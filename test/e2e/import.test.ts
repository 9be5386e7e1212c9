import assert from "node:assert/strict";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, it } from "node:test";
import { client } from "../helpers/client.ts";
import { serveHere } from "../helpers/demoServer.ts";
import { dump } from "../helpers/importing.ts";
import type { Environment } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

/** Lines with each importable object type and edge. */
const SMALL = [
	{
		type: "User",
		key: "u:1",
		fields: { username: "ada_made_up", name: "Ada Made-Up", bio: "Bakes" },
	},
	{
		type: "User",
		key: "u:2",
		fields: { username: "ben_made_up", name: "Ben Made-Up" },
	},
	{ type: "Interest", key: "i:1", fields: { slug: "bread", name: "Bread" } },
	{ type: "Board", key: "b:1", fields: { owner: "u:1", name: "Loaves" } },
	{ type: "Board", key: "b:2", fields: { owner: "u:2", name: "To try" } },
	{
		type: "Pin",
		key: "p:1",
		fields: {
			board: "b:1",
			details: "Rye",
			link: "https://example.com/rye",
			image: { url: "https://example.com/rye.jpg", width: 640 },
		},
	},
	{ type: "Pin", key: "p:2", fields: { board: "b:1", details: "Wheat" } },
	{
		type: "Pin",
		key: "p:3",
		fields: { board: "b:2", details: "Rye, soon", origin: "p:1" },
	},
	{
		type: "Comment",
		key: "c:1",
		fields: { author: "u:2", pin: "p:1", text: "How long?" },
	},
	{
		type: "Comment",
		key: "c:2",
		fields: { author: "u:1", pin: "p:1", text: "An hour" },
	},
	{ edge: "filePin", from: "p:1", to: "i:1" },
	{ edge: "likePin", from: "u:2", to: "p:1" },
	{ edge: "followUser", from: "u:2", to: "u:1" },
	{ edge: "followBoard", from: "u:2", to: "b:1" },
	{ edge: "followInterest", from: "u:1", to: "i:1" },
];

const WHOLE = `{
	ada: user(by: {username: "ada_made_up"}) {
		name bio
		followers { nodes { username } }
		followedInterests { nodes { slug } }
		boards(first: 2) { nodes { name followers { nodes { username } } pins { totalCount nodes {
			details link image { url width height } board { name } owner { username } origin { details }
			repins { nodes { details } }
			likedBy { totalCount nodes { username } }
			comments { nodes { text author { username } } }
			interests { nodes { slug } }
		} } } }
	}
	ben: user(by: {username: "ben_made_up"}) {
		following { nodes { username } }
		followedBoards { nodes { name } }
		likes { nodes { details } }
		pins { nodes { details origin { details } } }
	}
	interests { totalCount nodes { slug name pins { nodes { details } } followers { nodes { username } } } }
}`;

function lined(lines: readonly unknown[]): string {
	return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Serves the data, executes a query and returns its data. */
async function ask<T>(env: Environment, query: string): Promise<T> {
	await using server = await serveHere(env);
	const data = await client(server.url).data<T>(query);
	assert.equal((await server.stop()).code, 0);
	return data;
}

async function assertVerified(env: Environment): Promise<void> {
	const { code, out } = await runHere(["verify"], { env });
	assert.equal(code, 0, out);
	assert.match(out, /^everything agrees$/m);
}

describe("import", () => {
	it("imports a file, prints the numbers it created, and changes nothing when repeated", async () => {
		using folder = temporaryFolder();
		const env = { CORKBOARD_DATA: join(folder.path, "data") };
		const file = join(folder.path, "small.ndjson");
		writeFileSync(file, lined(SMALL));

		const { out, ...rest } = await runHere(["import", file], { env });
		assert.deepEqual(rest, { code: 0, signal: null, err: "" });
		const [summary, ...counts] = out.trimEnd().split("\n");
		assert.equal(
			summary,
			"15 lines: 10 objects and 5 edges created, 0 existing, 0 bad",
		);
		// Sorted, because the order in which shards are written varies.
		assert.deepEqual(counts.toSorted(), [
			"  Board 2",
			"  Comment 2",
			"  Interest 1",
			"  Pin 3",
			"  User 2",
			"  filePin 1",
			"  followBoard 1",
			"  followInterest 1",
			"  followUser 1",
			"  likePin 1",
		]);
		const whole = await ask(env, WHOLE);
		assert.deepEqual(whole, {
			ada: {
				name: "Ada Made-Up",
				bio: "Bakes",
				followers: { nodes: [{ username: "ben_made_up" }] },
				followedInterests: { nodes: [{ slug: "bread" }] },
				boards: {
					nodes: [
						{
							name: "Loaves",
							followers: { nodes: [{ username: "ben_made_up" }] },
							pins: {
								totalCount: 2,
								nodes: [
									{
										details: "Wheat",
										link: null,
										image: null,
										board: { name: "Loaves" },
										owner: { username: "ada_made_up" },
										origin: null,
										repins: { nodes: [] },
										likedBy: { totalCount: 0, nodes: [] },
										comments: { nodes: [] },
										interests: { nodes: [] },
									},
									{
										details: "Rye",
										link: "https://example.com/rye",
										image: {
											url: "https://example.com/rye.jpg",
											width: 640,
											height: null,
										},
										board: { name: "Loaves" },
										owner: { username: "ada_made_up" },
										origin: null,
										repins: { nodes: [{ details: "Rye, soon" }] },
										likedBy: {
											totalCount: 1,
											nodes: [{ username: "ben_made_up" }],
										},
										comments: {
											nodes: [
												{
													text: "How long?",
													author: { username: "ben_made_up" },
												},
												{
													text: "An hour",
													author: { username: "ada_made_up" },
												},
											],
										},
										interests: { nodes: [{ slug: "bread" }] },
									},
								],
							},
						},
					],
				},
			},
			ben: {
				following: { nodes: [{ username: "ada_made_up" }] },
				followedBoards: { nodes: [{ name: "Loaves" }] },
				likes: { nodes: [{ details: "Rye" }] },
				pins: {
					nodes: [{ details: "Rye, soon", origin: { details: "Rye" } }],
				},
			},
			interests: {
				totalCount: 1,
				nodes: [
					{
						slug: "bread",
						name: "Bread",
						pins: { nodes: [{ details: "Rye" }] },
						followers: { nodes: [{ username: "ada_made_up" }] },
					},
				],
			},
		});

		const stored = dump(env.CORKBOARD_DATA);
		assert.deepEqual(await runHere(["import", file], { env }), {
			code: 0,
			signal: null,
			out: "15 lines: 0 objects and 0 edges created, 15 existing, 0 bad\n",
			err: "",
		});
		assert.deepEqual(dump(env.CORKBOARD_DATA), stored);
		await assertVerified(env);
	});

	it("reports each bad line of stdin by number and reason, imports the others, and exits with code 1", async () => {
		using folder = temporaryFolder();
		const env = { CORKBOARD_DATA: folder.path };
		const user = (key: string, username: string) => ({
			type: "User",
			key,
			fields: { username, name: "Somebody" },
		});
		const input = [
			lined([user("u:1", "first_one")]),
			"not JSON\n",
			lined([
				{ type: "Usr", key: "u:2", fields: {} },
				{ type: "User", key: "u:3", fields: { username: "x y", name: "X" } },
				{ type: "User", key: "u:4", fields: { username: "four", nmae: "X" } },
				{ type: "Board", key: "b:1", fields: { owner: "u:99", name: "B" } },
				{ edge: "likePim", from: "u:1", to: "p:1" },
				{ edge: "followUser", from: "u:1", to: "u:5" },
				{ edge: "followUser", from: "u:1", to: "u:1" },
				user("u:5", "FIRST_one"),
				user("u:6", "last_one"),
			]),
		].join("");
		const { code, out, err } = await runHere(["import", "-"], {
			env,
			input,
		});
		assert.equal(code, 1);
		assert.equal(
			out,
			"11 lines: 2 objects and 0 edges created, 0 existing, 9 bad\n  User 2\n",
		);
		const messages = err.trimEnd().split("\n");
		for (const [n, pattern] of [
			/^line 2: Not JSON: /,
			/^line 3: Unknown type "Usr"\. Did you mean User\? The types are Board, .*, User\.$/,
			/^line 4: username .*"x y"/,
			/^line 5: User has no field "nmae" to import\. Did you mean name\?$/,
			/^line 6: owner: .*"u:99"\.$/,
			/^line 7: Unknown edge "likePim"\. Did you mean likePin\? The edges are /,
			/^line 8: to: .*"u:5"\.$/,
			/^line 9: from and to must differ\.$/,
			/^line 10: The User's username is taken\.$/,
		].entries()) {
			assert.match(messages[n] ?? "", pattern);
		}
		assert.equal(messages.length, 9, err);
		assert.deepEqual(
			await ask(
				env,
				'{ a: user(by: {username: "first_one"}) { name } b: user(by: {username: "LAST_one"}) { username } c: user(by: {username: "four"}) { name } }',
			),
			{
				a: { name: "Somebody" },
				b: { username: "last_one" },
				c: null,
			},
		);
		await assertVerified(env);
	});

	it("with --strict stops at the first bad line, keeps the lines before it, and exits with code 1", async () => {
		using folder = temporaryFolder();
		const env = { CORKBOARD_DATA: folder.path };
		const [first, ...rest] = SMALL;
		const input = `${lined([first])}nonsense\n${lined(rest)}more nonsense\n`;
		const { code, out, err } = await runHere(["import", "--strict", "-"], {
			env,
			input,
		});
		assert.equal(code, 1);
		assert.match(err, /^line 2: Not JSON: [^\n]+\n$/);
		assert.match(out, /^2 lines: 1 objects and 0 edges created, 0 existing/);
		// Resumes after the line is corrected.
		const again = await runHere(["import", "--strict", "-"], {
			env,
			input: lined(SMALL),
		});
		assert.equal(again.code, 0);
		assert.match(
			again.out,
			/^15 lines: 9 objects and 5 edges created, 1 existing, 0 bad\n/,
		);
		await assertVerified(env);
	});

	it("reports a missing file, a folder or an unreadable file in one line, and exits with code 1", async () => {
		using folder = temporaryFolder();
		const env = { CORKBOARD_DATA: join(folder.path, "data") };
		const none = join(folder.path, "none.ndjson");
		// A socket exists but cannot be opened as a file, even by root.
		const socket = join(folder.path, "socket");
		const listening = createServer().listen(socket);
		await once(listening, "listening");
		for (const [file, why] of [
			[none, "ENOENT"],
			[folder.path, "it is a folder"],
			[socket, "ENXIO"],
		] as const) {
			assert.deepEqual(await runHere(["import", file], { env }), {
				code: 1,
				signal: null,
				out: "",
				err: `corkboard: Cannot read ${file}: ${why}.\n`,
			});
		}
		listening.close();
	});
});
