import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { gql } from "@urql/core";
import { persistedExchange } from "@urql/exchange-persisted";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { BOARD_PINS, LIKE_PIN, VIEWER } from "./apollo/documents.ts";
import { type DemoServer, serveDemo } from "./demo.ts";
import type {
	ApolloModule,
	Manifest,
	ManifestModule,
	UrqlModule,
	UrqlPersistedModule,
} from "./modules.ts";
import { paste } from "./pasted.ts";
import { recording } from "./recording.ts";

const ROOT = join(import.meta.dirname, "../..");
const TOOL = join(
	ROOT,
	"node_modules/@apollo/generate-persisted-query-manifest/cli.js",
);

/** urql adds `__typename` to every selection, so this is the text it hashes. */
const URQL_TEXT =
	"query Interests {\n  interests(first: 3) {\n    nodes {\n      slug\n      __typename\n    }\n    __typename\n  }\n}";
/** As graphql-codegen prints it, and names it. */
const NAMED_TEXT =
	"query Named { __typename interests(first: 3) { __typename nodes { __typename slug } } }";
const NAMED = `sha256:${sha256(NAMED_TEXT)}`;
const VIEWER_TEXT = "query Who { viewer { username } }";

describe("clients of a server in strict mode", () => {
	const folder = temporaryFolder();
	const project = paste("apollo");
	const manifestFile = join(project.folder, "persisted-query-manifest.json");
	const textsFile = join(folder.path, "texts.json");
	let demo: DemoServer;
	let manifest: Manifest & {
		readonly format: string;
		readonly operations: readonly { readonly body: string }[];
	};
	before(async () => {
		copyFileSync(
			join(import.meta.dirname, "apollo/documents.ts"),
			join(project.folder, "src/documents.ts"),
		);
		await promisify(execFile)(process.execPath, [TOOL], {
			cwd: project.folder,
			timeout: 240_000,
		});
		manifest = JSON.parse(readFileSync(manifestFile, "utf8"));
		writeFileSync(
			textsFile,
			JSON.stringify({
				[sha256(URQL_TEXT)]: URQL_TEXT,
				who: VIEWER_TEXT,
				[NAMED]: NAMED_TEXT,
			}),
		);
		demo = await serveDemo({
			CORKBOARD_DOCUMENTS: "strict",
			CORKBOARD_DOCUMENT_FILES: `${manifestFile},${textsFile}`,
		});
	});
	after(async () => {
		await demo?.[Symbol.asyncDispose]();
		project[Symbol.dispose]();
		folder[Symbol.dispose]();
	});

	it("Apollo Client sends the ids of a manifest of Apollo's own tool, queries by GET, and never a text", async () => {
		assert.equal(manifest.format, "apollo-persisted-query-manifest");
		assert.deepEqual(
			manifest.operations.map(({ name }) => name),
			[
				"BoardPins",
				"CountPins",
				"HomeFeed",
				"Like",
				"LikePin",
				"PinComments",
				"Pins",
				"PreviewPins",
				"Viewer",
			],
		);
		const { createClient } = await apollo();
		const { manifestLink } = await project.load<ManifestModule>(
			"src/manifestLink.ts",
		);
		using recorded = recording();
		const client = createClient({
			url: demo.url,
			token: () => demo.token,
			links: [manifestLink(manifest)],
		});
		const { data } = await client.query({ query: VIEWER });
		assert.equal(data?.viewer?.username, "marigold_01");
		const missing = await client.query({
			query: BOARD_PINS,
			variables: { id: "1", first: 10 },
		});
		assert.deepEqual(missing.data, { board: null });
		await assert.rejects(
			client.mutate({ mutation: LIKE_PIN, variables: { id: "1" } }),
			/pin/i,
		);
		assert.deepEqual(
			recorded.sent.map(({ method, parameters, status }) => [
				method,
				status,
				"query" in parameters,
				(parameters.extensions as { persistedQuery: { sha256Hash: string } })
					.persistedQuery.sha256Hash,
			]),
			(
				[
					["GET", "Viewer"],
					["GET", "BoardPins"],
					["POST", "LikePin"],
				] as const
			).map(([method, name]) => [method, 200, false, idOf(name)]),
		);
	});

	it("a home feed that is asked for by id, by GET or POST, is answered to its user only", async () => {
		const extensions = {
			persistedQuery: { version: 1, sha256Hash: idOf("HomeFeed") },
		};
		const asked = { variables: { first: 5 }, extensions };
		const read = async (method: "GET" | "POST", token: string | null) => {
			const address = new URL(demo.url);
			if (method === "GET") {
				for (const [name, value] of Object.entries(asked)) {
					address.searchParams.set(name, JSON.stringify(value));
				}
			}
			const response = await fetch(address, {
				method,
				headers: {
					"apollo-require-preflight": "1",
					"content-type": "application/json",
					...(token === null ? {} : { authorization: `Bearer ${token}` }),
				},
				...(method === "POST" ? { body: JSON.stringify(asked) } : {}),
			});
			assert.equal(response.status, 200);
			const { data } = (await response.json()) as {
				data: { viewer: null | { homeFeed: { edges: unknown[] } } };
			};
			return data.viewer?.homeFeed.edges.length;
		};
		for (const method of ["GET", "POST"] as const) {
			// Twice: an answer that is kept would be used again.
			assert.equal(await read(method, demo.token), 5);
			assert.equal(await read(method, demo.token), 5);
			assert.equal(await read(method, null), undefined);
		}
	});

	it("Apollo Client gets an error for an operation of no manifest", async () => {
		const { createClient, codeOf } = await apollo();
		const client = createClient({ url: demo.url, token: () => demo.token });
		await assert.rejects(
			client.query({ query: gql`query Other { viewer { id bio } }` }),
			(error) => codeOf(error) === "BAD_REQUEST",
		);
	});

	it("urql sends the ids that a generator wrote into its documents, queries by GET, and never a text", async () => {
		using pasted = paste("urql");
		const { createClient } = await pasted.load<UrqlModule>("src/client.ts");
		const { persisted } =
			await pasted.load<UrqlPersistedModule>("src/persisted.ts");
		const client = createClient({
			url: demo.url,
			token: () => null,
			exchanges: [persisted],
		});
		using recorded = recording();
		const document = Object.assign(gql(NAMED_TEXT), {
			__meta__: { hash: NAMED },
		});
		const { data, error } = await client.query(document, {});
		assert.equal(error, undefined);
		assert.equal(data.interests.nodes.length, 3);
		assert.deepEqual(
			recorded.sent.map(({ method, status, parameters }) => [
				method,
				status,
				parameters.query,
				(parameters.extensions as { persistedQuery: object }).persistedQuery,
			]),
			[["GET", 200, undefined, { version: 1, sha256Hash: NAMED }]],
		);
		assert.equal(
			recorded.sent[0]?.headers.get("apollo-require-preflight"),
			null,
		);
	});

	it("urql's persisted exchange hashes a text with __typename in every selection", async () => {
		using pasted = paste("urql");
		const { createClient } = await pasted.load<UrqlModule>("src/client.ts");
		const client = createClient({
			url: demo.url,
			token: () => null,
			exchanges: [persistedExchange({ enforcePersistedQueries: true })],
		});
		using recorded = recording();
		const { data, error } = await client.query(
			gql`query Interests { interests(first: 3) { nodes { slug } } }`,
			{},
		);
		assert.equal(error, undefined);
		assert.equal(data.interests.nodes.length, 3);
		assert.deepEqual(
			recorded.sent.map(({ parameters }) => parameters.extensions),
			[{ persistedQuery: { version: 1, sha256Hash: sha256(URQL_TEXT) } }],
		);
	});

	for (const [said, body] of [
		["documentId, a hash", { documentId: `sha256:${sha256(VIEWER_TEXT)}` }],
		["documentId, a file's own id", { documentId: "who" }],
		["id, as Relay's network layers do", { id: "who" }],
		["doc_id, as older ones do", { doc_id: "who" }],
	] as const) {
		it(`a client without a library may send ${said}`, async () => {
			const post = await fetch(demo.url, {
				method: "POST",
				headers: {
					"content-type": "application/json",
					authorization: `Bearer ${demo.token}`,
				},
				body: JSON.stringify({ ...body, variables: {} }),
			});
			assert.deepEqual(await post.json(), {
				data: { viewer: { username: "marigold_01" } },
			});
			const address = `${demo.url}?${new URLSearchParams(body)}`;
			const get = await fetch(address);
			assert.deepEqual(await get.json(), { data: { viewer: null } });
		});
	}

	function apollo(): Promise<ApolloModule> {
		return project.load("src/client.ts");
	}

	function idOf(name: string): string | undefined {
		return manifest.operations.find((operation) => operation.name === name)?.id;
	}
});

function sha256(text: string): string {
	return createHash("sha256").update(text).digest("hex");
}
