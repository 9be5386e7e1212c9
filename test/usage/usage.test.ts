import assert from "node:assert/strict";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, describe, test } from "node:test";
import { Kind, parse, print, visit } from "graphql";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { startCorkboardServer } from "../../src/app/startCorkboardServer.ts";
import { readConfig } from "../../src/config/config.ts";
import {
	type RequestCompleted,
	SERVER_CHANNELS,
} from "../../src/server/diagnostics.ts";
import { clientNameOf } from "../../src/server/http/clientName.ts";
import { createLog } from "../../src/server/log.ts";
import { command } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const folder = temporaryFolder();
after(() => folder[Symbol.dispose]());
const env = { CORKBOARD_DATA: join(folder.path, "data"), PORT: "0" };
const log = createLog({
	level: "fatal",
	format: "json",
	destination: { write() {} },
});

/** One life of a server; what clients asked in it was published on the channel. */
async function serving(
	run: (
		ask: (
			query: string,
			client: Record<string, string>,
			variables?: object,
		) => Promise<string>,
	) => Promise<void>,
): Promise<readonly RequestCompleted[]> {
	const completed: RequestCompleted[] = [];
	const listener = (message: RequestCompleted) => void completed.push(message);
	SERVER_CHANNELS.request.subscribe(listener);
	try {
		await using corkboard = await openCorkboard(
			pinsApp,
			readConfig(env),
			"readWrite",
		);
		await using server = await startCorkboardServer(corkboard, { log });
		await run(async (query, client, variables = {}) => {
			const response = await fetch(`${server.url}/graphql`, {
				method: "POST",
				headers: { "content-type": "application/json", ...client },
				body: JSON.stringify({ query, variables }),
			});
			return response.text();
		});
	} finally {
		SERVER_CHANNELS.request.unsubscribe(listener);
	}
	return completed;
}

async function json(args: readonly string[], code: number) {
	const ran = await command([...args, "--json"], { env });
	assert.equal(ran.code, code, ran.err);
	return JSON.parse(ran.out);
}

const HOME = "query Home { interests(first: 2) { nodes { slug } } }";

describe("usage of a server", () => {
	test("counts every way that a request may take, by client, over restarts, without variables", async () => {
		const first = await serving(async (ask) => {
			for (let n = 0; n < 5; n++) {
				await ask(HOME, { "apollographql-client-name": "web" });
			}
			await ask(HOME, { "x-client-name": "ios (1.2)" });
			await ask(HOME, { "x-client-name": "{forged}" });
			// Refused before it ran.
			await ask("{ nothing }", { "x-client-name": "web" });
			await ask(
				"{ interests(first: 100) { nodes { followers(first: 100) { nodes { followers(first: 100) { nodes { id } } } } } } }",
				{ "x-client-name": "web" },
			);
		});
		const ways = new Set(first.map(({ way }) => way));
		assert.deepEqual([...ways].toSorted(), ["long", "reused", "short"]);
		await serving(async (ask) => {
			await ask(HOME, { "apollographql-client-name": "web" });
			const text = await ask(
				"query One($id: ID!) { node(id: $id) { id ... on Pin { title } } }",
				{ "x-client-name": "ios (1.2)" },
				{ id: "914862393786369" },
			);
			assert.match(text, /"node":null/);
		});
		const { fields, recordedDays } = await json(["usage", "fields"], 0);
		assert.equal(recordedDays, 1);
		const slug = fields.find(
			({ field }: { field: string }) => field === "Interest.slug",
		);
		assert.equal(slug.requests, 8);
		assert.deepEqual(
			slug.clients.map(
				({ name, requests }: { name: string; requests: number }) => [
					name,
					requests,
				],
			),
			[
				["web", 6],
				["ios (1.2)", 1],
				["unknown", 1],
			],
		);
		assert.deepEqual(
			fields.filter(({ field }: { field: string }) =>
				field.startsWith("User."),
			),
			[],
		);
		const { documents } = await json(
			["usage", "documents", "--client", "ios (1.2)"],
			0,
		);
		assert.deepEqual(
			documents.map(({ operation }: { operation: string }) => operation),
			["Home", "One"],
		);
		const kept = join(env.CORKBOARD_DATA, "usage");
		for (const name of readdirSync(kept)) {
			assert.doesNotMatch(
				readFileSync(join(kept, name), "utf8"),
				/914862393786369/,
			);
		}
	});

	test("says what nobody used, and that other days were not recorded (exit code 3)", async () => {
		const today = await json(["usage", "fields", "--unused", "1d"], 0);
		const names = today.fields.map(({ field }: { field: string }) => field);
		assert.ok(names.includes("Board.name"));
		assert.ok(!names.includes("Interest.slug"));
		// Selected by the interface.
		assert.ok(!names.includes("Board.id"));
		const { missingDays } = await json(
			["usage", "fields", "--unused", "30d"],
			3,
		);
		assert.equal(missingDays, 29);
		for (const unused of ["soon", "0d", "91d"]) {
			const { code, err } = await command(
				["usage", "fields", "--unused", unused],
				{ env },
			);
			assert.equal(code, 2);
			assert.match(err, /--unused must be/);
		}
	});

	test("decides whom a change of the schema breaks", async () => {
		const { out: sdl } = await command(["schema", "print", "--public"]);
		const diff = async (
			/** `Type.field`; null to change nothing. */
			removed: string | null,
			args: readonly string[],
			given: Record<string, string> = env,
		) => {
			const old = join(folder.path, "old.graphql");
			const next = join(folder.path, "next.graphql");
			writeFileSync(old, sdl);
			writeFileSync(next, without(sdl, removed));
			return command(["schema", "diff", old, next, ...args], { env: given });
		};
		const used = await diff("Interest.slug", ["--unused", "1d"]);
		assert.equal(used.code, 1, used.out + used.err);
		assert.match(used.out, /^breaking {3}Interest\.slug was removed\.$/m);
		assert.match(
			used.out,
			/^ +clients: web 6, ios \(1\.2\) 1, unknown 1; last on /m,
		);
		assert.match(used.out, /^ +documents: Home \([0-9a-f]{12}\) 8$/m);

		const unused = await diff("Board.description", ["--unused", "1d"]);
		assert.equal(unused.code, 0, unused.out + unused.err);
		assert.match(
			unused.out,
			/Nobody has used it since .*: it may be removed\./,
		);

		const incomplete = await diff("Board.description", []);
		assert.equal(incomplete.code, 3);
		assert.match(incomplete.out, /29 days of the period were not recorded/);

		const unknown = await diff("Board.description", [], {
			CORKBOARD_USAGE_DAYS: "0",
		});
		assert.equal(unknown.code, 3);
		assert.match(
			unknown.out,
			/usage: Usage is not counted: CORKBOARD_USAGE_DAYS is 0\./,
		);

		const same = await diff(null, []);
		assert.deepEqual(
			{ code: same.code, first: same.out.split("\n")[0] },
			{ code: 0, first: "no change that a client could notice" },
		);
	});

	test("compares folders, stdin and this program's schema, and refuses what is no schema", async () => {
		const folderOfSdl = join(import.meta.dirname, "../../schema");
		const own = await command(["schema", "diff", folderOfSdl], { env });
		assert.equal(own.code, 0, own.err);
		assert.match(own.out, /^no change/);
		const { out: sdl } = await command(["schema", "print", "--public"]);
		const piped = await command(["schema", "diff", "-"], {
			env,
			stdin: Readable.from([sdl]),
		});
		assert.equal(piped.code, 0, piped.err);
		const bad = join(folder.path, "bad.graphql");
		writeFileSync(bad, "type Query {");
		for (const [path, expected] of [
			[bad, /bad\.graphql is no schema: .*bad\.graphql:1:13: Syntax Error/],
			[
				join(folder.path, "none.graphql"),
				/Cannot read .*none\.graphql: ENOENT/,
			],
		] as const) {
			const { code, err } = await command(["schema", "diff", path], { env });
			assert.equal(code, 1);
			assert.match(err, expected);
		}
		assert.equal(
			(await command(["schema", "diff", "-", "-"], { env })).code,
			2,
		);
	});

	test("is not kept on a topology without Redis, and the commands say so", async () => {
		const topology = join(folder.path, "topology.json");
		const host = "sqlite:elsewhere";
		writeFileSync(
			topology,
			JSON.stringify({
				version: 1,
				shards: [{ range: [0, 1], primary: host, open: true }],
				lookups: [{ range: [0, 1], primary: host }],
			}),
		);
		for (const name of ["fields", "documents"]) {
			assert.deepEqual(
				await command(["usage", name], {
					env: { CORKBOARD_TOPOLOGY: topology },
				}),
				{
					code: 1,
					out: "",
					err: "corkboard: Usage is not kept: with a topology it needs a Redis (CORKBOARD_REDIS, or caches set).\n",
				},
			);
		}
	});
});

/** SDL without one field. */
function without(sdl: string, coordinate: string | null): string {
	return print(
		visit(parse(sdl), {
			FieldDefinition(node, _key, _parent, _path, ancestors) {
				const type = ancestors.at(-1);
				const isIt =
					type !== undefined &&
					"kind" in type &&
					type.kind === Kind.OBJECT_TYPE_DEFINITION &&
					`${type.name.value}.${node.name.value}` === coordinate;
				return isIt ? null : undefined;
			},
		}),
	);
}

test("the name of a client is bounded, and unknown where it is not valid", () => {
	const named = (name: string) => clientNameOf({ "x-client-name": name });
	assert.equal(named("web-app/2 (beta)"), "web-app/2 (beta)");
	for (const bad of ["", " x", "a\tb", "a\nb", "ä", "a".repeat(65), "{}"]) {
		assert.equal(named(bad), "unknown", JSON.stringify(bad));
	}
	assert.equal(clientNameOf({}), "unknown");
	assert.equal(
		clientNameOf({ "apollographql-client-name": "a", "x-client-name": "b" }),
		"a",
	);
});
