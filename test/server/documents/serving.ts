import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExecutionResult } from "graphql";
import { openDocumentFiles } from "../../../src/server/documents/documentFiles.ts";
import {
	createDocuments,
	type DocumentMode,
	type Documents,
	type SharedTexts,
} from "../../../src/server/documents/documents.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";
import { startToy, type Toy, toySchema } from "../../helpers/toyServer.ts";

export const sha256 = (text: string) =>
	createHash("sha256").update(text).digest("hex");

export const HELLO = "query Hello($name: String) {\n  hello(name: $name)\n}";
export const SET = "mutation Set($to: Int!) {\n  setNumber(to: $to)\n}";
export const WHO = "query Who {\n  viewer\n}";

export const RELAY_ID = "0123456789abcdef0123456789abcdef";
export const relayFile = { [RELAY_ID]: HELLO, "set-it": SET };
export const manifest = {
	format: "apollo-persisted-query-manifest",
	version: 1,
	operations: [{ id: sha256(WHO), body: WHO, name: "Who", type: "query" }],
};

export interface Serving extends AsyncDisposable {
	readonly toy: Toy;
	readonly documents: Documents;
	readonly warnings: Record<string, unknown>[];
	/** The paths of Relay's file and Apollo's. */
	readonly paths: readonly string[];
	/** Another content for Relay's file, put in its place at once. */
	edit(content: string): void;
	readonly news: { fields: Record<string, unknown>; message: string }[];
}

export async function serving(
	mode: DocumentMode,
	shared: SharedTexts | null = null,
): Promise<Serving> {
	await using opened = new AsyncDisposableStack();
	const folder = opened.use(temporaryFolder());
	const paths = ["relay.json", "apollo.json"].map((name) =>
		join(folder.path, name),
	);
	const [relay = "", apollo = ""] = paths;
	writeFileSync(relay, JSON.stringify(relayFile));
	writeFileSync(apollo, JSON.stringify(manifest));
	const warnings: Record<string, unknown>[] = [];
	const news: Serving["news"] = [];
	const note = (fields: object, message: string) =>
		news.push({ fields: { ...fields }, message });
	const files =
		mode === "off"
			? null
			: opened.use(
					await openDocumentFiles({
						paths,
						rules: {
							schema: toySchema,
							planner: { analyzeWorstCaseCost: () => [FREE] },
							maxCost: 10,
						},
						prepare: () => {},
						log: { info: note, error: note },
						pollMs: 100,
					}),
				);
	const documents = createDocuments({
		mode,
		files,
		shared,
		log: { warn: (fields) => warnings.push({ ...fields }) },
	});
	const toy = await startToy({ documents, dependsOnViewer: () => false });
	opened.use(toy);
	const resources = opened.move();
	return {
		toy,
		documents,
		warnings,
		news,
		paths,
		edit(content) {
			writeFileSync(`${relay}.new`, content);
			renameSync(`${relay}.new`, relay);
		},
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

/** A file of documents by id, as Relay's compiler writes it. */
export function writeDocumentFile(
	folder: string,
	documents: Readonly<Record<string, string>>,
): string {
	const path = join(folder, "documents.json");
	writeFileSync(path, JSON.stringify(documents));
	return path;
}

export const FREE = {
	kind: "query",
	name: null,
	cost: { total: 0, steps: new Map(), fields: [] },
	plan: null,
	errors: [],
} as const;

export function get(
	{ server }: Toy,
	parameters: Readonly<Record<string, string>>,
	headers: Readonly<Record<string, string>> = {},
): Promise<Response> {
	const url = `${server.url}/graphql?${new URLSearchParams(parameters)}`;
	return fetch(url, { headers });
}

export async function codeOf(response: Response): Promise<readonly unknown[]> {
	const { errors, data } = (await response.json()) as ExecutionResult;
	assert.equal(data, undefined);
	return [response.status, errors?.[0]?.extensions?.code];
}

export const ADA = { data: { hello: "Hello Ada" } };
export const variables = { name: "Ada" };
export const NOT_FOUND = [400, "PERSISTED_QUERY_NOT_FOUND"];
