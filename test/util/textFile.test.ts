import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { after, describe, it } from "node:test";
import { redisAddress } from "../../src/cache/redis/redisUrl.ts";
import { readModel, readSdlFiles } from "../../src/model/read.ts";
import { readSchema } from "../../src/model/schema/publicSdl.ts";
import { checkDocumentFiles } from "../../src/server/documents/documentFiles.ts";
import { readTopology } from "../../src/topology/parseTopology.ts";
import { readSecret } from "../../src/topology/secret.ts";
import { readTextFileSync } from "../../src/util/textFile.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

describe("a file that somebody gives", () => {
	const folder = temporaryFolder();
	after(() => folder[Symbol.dispose]());
	const file = (name: string, bytes: Uint8Array | string): string => {
		const path = join(folder.path, name);
		writeFileSync(path, bytes);
		return path;
	};
	const latin1 = file("latin1.txt", Buffer.from("pässword", "latin1"));
	const NOT_UTF_8 = /latin1\.txt is not UTF-8: convert it, .*iconv/;

	it("is read without its byte order mark", () => {
		assert.equal(readTextFileSync(file("bom.txt", "\ufeff{}\n")), "{}\n");
	});

	it("is refused and named if it is not UTF-8: a map, a secret, SDL, documents", async () => {
		assert.throws(() => readTopology(latin1), { message: NOT_UTF_8 });
		assert.throws(() => readSecret({ file: latin1 }, "db1", {}), {
			code: "BAD_TOPOLOGY",
			message: NOT_UTF_8,
		});
		const redis = `redis://u@h:6379?password-file=${latin1}`;
		assert.throws(() => redisAddress(redis).password(), {
			code: "BAD_CONFIG",
			message: NOT_UTF_8,
		});
		await assert.rejects(readSchema(latin1, Readable.from([])), {
			code: "BAD_DATA",
			message: NOT_UTF_8,
		});
		await assert.rejects(
			readSchema("-", Readable.from([Buffer.from([0xe4])])),
			{ code: "BAD_DATA", message: /standard input is not UTF-8/ },
		);
		const schema = join(folder.path, "schema");
		mkdirSync(schema);
		writeFileSync(join(schema, "latin1.graphql"), Buffer.from([0xe4]));
		assert.throws(
			() => readModel(readSdlFiles(schema), { resolverFields: {} as never }),
			{
				code: "BAD_MODEL",
				message: /latin1\.graphql is not UTF-8/,
			},
		);
		const { problems } = await checkDocumentFiles([latin1], {} as never);
		assert.equal(problems.length, 1);
		assert.match(String(problems[0]), NOT_UTF_8);
	});
});
