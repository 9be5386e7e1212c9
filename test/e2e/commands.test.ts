import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { client } from "../helpers/client.ts";
import { serveHere } from "../helpers/demoServer.ts";
import { runProgram, startProgram } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { COPIES } from "../update.ts";

const LINES = [
	{ type: "User", key: "a", fields: { username: "ada_made_up", name: "Ada" } },
	{ type: "User", key: "b", fields: { username: "ben_made_up", name: "Ben" } },
	{ type: "Board", key: "s", fields: { owner: "a", name: "To come" } },
	{ type: "Board", key: "o", fields: { owner: "a", name: "Loaves" } },
	{ type: "Pin", key: "p:1", fields: { board: "o", details: "Rye" } },
	{ type: "Pin", key: "p:2", fields: { board: "o", details: "Wheat" } },
	{ edge: "likePin", from: "b", to: "p:1" },
];

const QUERY = `query Boards($n: Int!) {
	user(by: {username: "ada_made_up"}) {
		boards(first: $n) { nodes { name pins(first: 2) { nodes { details viewerLikes } } } }
	}
}`;

describe("a command at the shell", () => {
	const folder = temporaryFolder();
	const env = { CORKBOARD_DATA: join(folder.path, "data") };
	const run = (args: readonly string[], input = "") =>
		runHere(args, { env, input });
	/** The error of a command that prints one line on stderr and nothing on stdout (exit code 1). */
	async function errorOf(args: readonly string[], input = ""): Promise<string> {
		const { code, out, err } = await run(args, input);
		assert.deepEqual({ code, out }, { code: 1, out: "" }, err);
		const [line = "", ...rest] = err.split("\n");
		assert.deepEqual(rest, [""], err);
		return line;
	}
	function file(name: string, content: string): string {
		const path = join(folder.path, name);
		writeFileSync(path, content);
		return path;
	}
	before(async () => {
		const made = await run(["init"]);
		assert.deepEqual(made, {
			code: 0,
			signal: null,
			out: "16 shards and 16 mod shards have all their tables\n1 queue shard has all queues\n",
			err: "",
		});
		const lines = LINES.map((line) => JSON.stringify(line)).join("\n");
		assert.equal((await run(["import", "-"], lines)).code, 0);
	});
	after(() => folder[Symbol.dispose]());

	it("explain shows a file's plan as a tree with cost, shards, statements and rows", async () => {
		const { code, out, err } = await run([
			"explain",
			file("boards.graphql", QUERY),
			"--variables",
			'{"n":1}',
		]);
		assert.deepEqual({ code, err }, { code: 0, err: "" });
		const [first = "", ...tree] = out.trimEnd().split("\n");
		// A user, a board and its edge, two pins and theirs, and whether each is liked.
		assert.match(
			first,
			/^query Boards: cost 11 of 60,000, \d+ statements, \d+ rows, [\d.]+ ms$/,
		);
		const steps = tree.filter((line) => /─ (scan|fetch|call) /.test(line));
		for (const [n, pattern] of [
			/^└─ call {2}user {2}Query\.user {2}cost 0$/,
			/^ +└─ fetch user {2}User {2}cost 1$/,
			/^ +└─ scan {2}user\.boards {2}ownBoard {2}cost 1$/,
			/^ +└─ fetch user\.boards {2}Board {2}cost 1$/,
			/^ +└─ scan {2}user\.boards\.nodes\.pins {2}placePin {2}cost 2$/,
			/^ +└─ fetch user\.boards\.nodes\.pins {2}Pin {2}cost 4$/,
			/^ +└─ call {2}user\.boards\.nodes\.pins\.nodes\.viewerLikes {2}Pin\.viewerLikes {2}cost 2$/,
		].entries()) {
			assert.match(steps[n] ?? "", pattern);
		}
		assert.equal(steps.length, 7, out);
		assert.match(out, /shard \d+ on db000\d\d\.sqlite/);
		assert.match(out, /objects users, 1 row/);
		assert.match(out, /1 list → 1 edge/);
	});

	it("explain takes variables from a file and the query from stdin, and a viewer by name or id", async () => {
		const variables = file("variables.json", '{"n":2}');
		const anonymous = await run(
			["explain", "-", "--variables", `@${variables}`],
			QUERY,
		);
		assert.equal(anonymous.code, 0, anonymous.err);
		assert.match(anonymous.out, /^query Boards: cost 21 of 60,000, /);
		assert.doesNotMatch(anonymous.out, /likePin/);
		const token = (await run(["tokens", "create", "ben_made_up"])).out.trim();
		const { sub } = JSON.parse(
			Buffer.from(token.split(".")[1] ?? "", "base64url").toString(),
		);
		const viewers = ["BEN_made_up", sub].map((viewer) =>
			run(["explain", "-", "--variables", '{"n":2}', "--as", viewer], QUERY),
		);
		for (const as of await Promise.all(viewers)) {
			assert.equal(as.code, 0, as.err);
			assert.match(as.out, /likePin/);
		}
	});

	it("explain rejects a file, document, viewer or mutation that it cannot explain (exit code 1)", async () => {
		const none = join(folder.path, "none.graphql");
		assert.equal(
			await errorOf(["explain", none]),
			`corkboard: Cannot read ${none}: ENOENT.`,
		);
		assert.match(
			await errorOf(["explain", "-"], "{ nope }"),
			/^corkboard: -:1:3: Cannot query field "nope" on type "Query"/,
		);
		assert.match(
			await errorOf(["explain", "-"], "{ viewer {"),
			/^corkboard: -:1:11: Syntax Error/,
		);
		assert.match(
			await errorOf(["explain", "-"], QUERY),
			/Variable "\$n" of required type "Int!" was not provided\.$/,
		);
		assert.match(
			await errorOf(["explain", "-", "--as", "nobody"], "{ viewer { id } }"),
			/User "nobody" not found\.$/,
		);
		assert.match(
			await errorOf(
				["explain", "-"],
				'mutation { likePin(input: {pinId: "1"}) { pin { id } } }',
			),
			/The file must contain queries only, got a mutation\.$/,
		);
	});

	it("explain costs what is too expensive without reading any of it", async () => {
		const { code, out } = await run(
			["explain", "-"],
			"{ interests(first: 100) { nodes { followers(first: 100) { nodes { followers(first: 100) { nodes { id } } } } } } }",
		);
		assert.equal(code, 0);
		assert.match(
			out,
			/^query: cost 2,020,200 of 60,000, 0 statements, 0 rows, /,
		);
		assert.match(out, /^! TOO_EXPENSIVE: /m);
	});

	it("token prints a token of a user, by username or id, and rejects an unknown user (exit code 1)", async () => {
		const { code, out } = await run(["tokens", "create", "Ada_Made_Up"]);
		assert.equal(code, 0);
		assert.match(out, /^[\w-]+\.[\w-]+\.[\w-]+\n$/);
		await using server = await serveHere(env);
		const ada = client(server.url, out.trim());
		const { viewer } = await ada.data<{ viewer: { id: string } }>(
			"{ viewer { id } }",
		);
		const byId = await run(["tokens", "create", viewer.id]);
		assert.deepEqual(
			await client(server.url, byId.out.trim()).data("{ viewer { name } }"),
			{ viewer: { name: "Ada" } },
		);
		const board = await ada.data<{
			viewer: { boards: { nodes: { id: string }[] } };
		}>("{ viewer { boards(first: 1) { nodes { id } } } }");
		for (const nobody of ["nobody", board.viewer.boards.nodes[0]?.id ?? ""]) {
			assert.equal(
				await errorOf(["tokens", "create", nobody]),
				`corkboard: User "${nobody}" not found.`,
			);
		}
		// `id` prints where the user is stored.
		const { out: printed } = await run(["objects", "show", viewer.id]);
		const rows = Object.fromEntries(
			printed
				.trimEnd()
				.split("\n")
				.map((row) => row.split(/ {2,}/)),
		);
		const id = BigInt(viewer.id);
		assert.deepEqual(rows, {
			id: viewer.id,
			shard: String(id >> 46n),
			type: "3 (User)",
			"local id": String(id & ((1n << 36n) - 1n)),
			table: `db${String(id >> 46n).padStart(5, "0")}.users`,
			host: `sqlite:${env.CORKBOARD_DATA}`,
			object: "active",
			pool: `pool00000 on sqlite:${env.CORKBOARD_DATA}`,
		});
		const none = await run(["objects", "show", String(id + 1_000n)]);
		assert.match(none.out, /^object {4}missing$/m);
		assert.equal((await server.stop()).code, 0);
	});

	it("id rejects a value that is not an id (exit code 1)", async () => {
		assert.match(await errorOf(["objects", "show", "007"]), /got "007"\.$/);
	});

	it("schema print prints the checked-in copies", async () => {
		for (const [args, copy] of [
			[["schema", "print"], COPIES.model],
			[["schema", "print", "--public"], COPIES.publicSchema],
		] as const) {
			const { code, out, err } = await run(args);
			assert.deepEqual({ code, err }, { code: 0, err: "" });
			assert.equal(out.trimEnd(), readFileSync(copy, "utf8").trimEnd());
		}
	});

	it("map check prints a good topology (exit code 0) and every problem of a bad one (exit code 1)", async () => {
		const embedded = await run(["map", "check"]);
		assert.equal(embedded.code, 0);
		assert.match(
			embedded.out,
			/: good\n16 shards, 16 open for new users; lookups on 16 mod shards\n/,
		);
		const check = (map: string) =>
			runHere(["map", "check"], { env: { CORKBOARD_TOPOLOGY: map } });
		const good = file(
			"good.json",
			JSON.stringify({
				version: 2,
				shards: [
					{ range: [0, 3], primary: "sqlite:one", open: false },
					{ range: [4, 7], primary: "sqlite:two", open: true },
				],
				lookups: [{ range: [0, 3], primary: "sqlite:one" }],
			}),
		);
		assert.deepEqual(await check(good), {
			code: 0,
			signal: null,
			out: [
				`version 2 of ${good}: good`,
				"8 shards, 4 open for new users; lookups on 4 mod shards",
				"  shards 0 to 3   sqlite:one",
				"  shards 4 to 7   sqlite:two  open",
				"  lookups 0 to 3  sqlite:one",
				"",
			].join("\n"),
			err: "",
		});
		const bad = file(
			"bad.json",
			JSON.stringify({
				version: 0,
				shards: [
					{ range: [0, 3], primary: "sqlite:one", open: false },
					{ range: [3, 7], primary: "nowhere", open: false },
				],
				lookups: [{ range: [1, 3], primary: "sqlite:one" }],
			}),
		);
		const { code, out, err } = await check(bad);
		assert.deepEqual({ code, out }, { code: 1, out: "" });
		const lines = err.trimEnd().split("\n");
		for (const pattern of [
			/version: expected a positive integer but got: 0/,
			/shards\[1\]\.primary: expected sqlite:FOLDER.* but got: no scheme/,
			/\b3\b/,
			/lookups/,
			/expected an open range but got: none/,
		]) {
			assert.ok(
				lines.some((line) => pattern.test(line)),
				`${pattern} in:\n${err}`,
			);
		}
		for (const line of lines) {
			assert.ok(line.startsWith(`corkboard: ${bad}: `), line);
		}
		assert.equal(lines.length, 5, err);
		const half = file("half.json", '{"version": 1, "shards": [');
		assert.equal((await check(half)).code, 1);
		assert.equal((await check(join(folder.path, "none.json"))).code, 1);
	});

	it("prints what is missing or unknown in a command line that is not valid (exit code 2)", async () => {
		for (const [args, pattern] of [
			[[], /^corkboard: Missing command\. Commands: serve, /],
			[
				["servee"],
				/^corkboard: Unknown command servee\. Did you mean serve\? /,
			],
			[
				["verify", "--fix"],
				/^corkboard: Unknown option --fix\. Usage: verify \[--repair\] \[--jobs\] \[--counts\] \[--shards RANGES\] \[--mod-shards RANGES\] \[--json\]\n$/,
			],
		] as const) {
			const run = args.length === 0 ? runProgram : runHere;
			const { code, out, err } = await run(args, { env });
			assert.deepEqual({ code, out }, { code: 2, out: "" });
			assert.match(err, pattern);
		}
	});

	it("ends quietly when the reader of its output has ended", async () => {
		for (const args of [
			["schema", "print", "--public"],
			["--help"],
			["verify"],
		]) {
			await using program = startProgram(args, { env });
			program.stdout.destroy();
			const { code, signal, err } = await program.ended;
			assert.deepEqual(
				{ code, signal, err },
				{ code: 0, signal: null, err: "" },
			);
		}
	});
});
