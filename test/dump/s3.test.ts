import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import {
	type ClientRequest,
	createServer,
	type IncomingMessage,
	request,
	type Server,
} from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { startFauxqs } from "fauxqs";
import { readWhole } from "../../src/dump/files/dumpFiles.ts";
import { FolderFiles } from "../../src/dump/files/folderFiles.ts";
import { openS3Files } from "../../src/dump/files/s3Files.ts";
import { checkFile } from "../../src/dump/lineFiles.ts";
import { readDump } from "../../src/dump/manifest.ts";
import { embeddedTopology } from "../../src/topology/parseTopology.ts";
import { openEmbedded } from "../helpers/embedded.ts";
import { importAll } from "../helpers/importing.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { dumpInto } from "./dumping.ts";

const BUCKET = "graph";
const PART = 5 * 1024 * 1024;

/** What the link to the server does to a request: nothing, or a fault. */
type Fault = null | "slow" | "repeated" | "failed" | "reset" | "throttled";

/** A link to a server that does what a schedule says. */
async function startLink(target: number): Promise<{
	readonly server: Server;
	readonly url: string;
	fault: (at: number, sent: IncomingMessage) => Fault;
	readonly requests: string[];
	/** Names of headers with checksums. */
	readonly checksums: string[];
	/** Uploads under way, by id. */
	readonly uploads: Map<string, string>;
}> {
	const link = {
		server: createServer(),
		url: "",
		fault: (() => null) as (at: number, sent: IncomingMessage) => Fault,
		requests: [] as string[],
		checksums: [] as string[],
		uploads: new Map<string, string>(),
	};
	link.server.on("request", async (sent, reply) => {
		const fault = link.fault(link.requests.length, sent);
		link.requests.push(`${sent.method} ${sent.url}`);
		link.checksums.push(
			...Object.keys(sent.headers).filter((name) =>
				name.startsWith("x-amz-checksum"),
			),
		);
		const body: Buffer[] = [];
		for await (const chunk of sent) body.push(chunk);
		const bytes = Buffer.concat(body);
		if (fault === "reset") return void sent.socket.destroy();
		if (fault === "failed" || fault === "throttled") {
			const code = fault === "failed" ? "InternalError" : "SlowDown";
			reply.writeHead(fault === "failed" ? 500 : 503, {
				"content-type": "application/xml",
			});
			return void reply.end(
				`<?xml version="1.0"?><Error><Code>${code}</Code><Message>made up</Message></Error>`,
			);
		}
		if (fault === "slow") await sleep(200);
		const { pathname, searchParams } = new URL(sent.url ?? "", link.url);
		const key = pathname.slice(`/${BUCKET}/`.length);
		// The server does not list them.
		if (sent.method === "GET" && searchParams.has("uploads")) {
			const [first] = [...link.uploads]
				.toSorted()
				.filter(
					([id, each]) =>
						each.startsWith(searchParams.get("prefix") ?? "") &&
						id > (searchParams.get("upload-id-marker") ?? ""),
				);
			const found = first
				? `<Upload><Key>${first[1]}</Key><UploadId>${first[0]}</UploadId></Upload><NextKeyMarker>${first[1]}</NextKeyMarker><NextUploadIdMarker>${first[0]}</NextUploadIdMarker>`
				: "";
			reply.writeHead(200, { "content-type": "application/xml" });
			return void reply.end(
				`<?xml version="1.0"?><ListMultipartUploadsResult>${found}<IsTruncated>${first !== undefined}</IsTruncated></ListMultipartUploadsResult>`,
			);
		}
		if (fault === "repeated") await forwarded(sent, bytes, target);
		const [answer, chunks] = await forwarded(sent, bytes, target);
		const [, begun] = /<UploadId>(.*?)<\/UploadId>/.exec(String(chunks)) ?? [];
		if (begun !== undefined) link.uploads.set(begun, key);
		if (answer.statusCode === 204 || /<CompleteMultipart/.test(String(chunks)))
			link.uploads.delete(searchParams.get("uploadId") ?? "");
		reply.writeHead(answer.statusCode ?? 500, answer.headers);
		reply.end(chunks);
	});
	link.server.listen(0, "127.0.0.1");
	await once(link.server, "listening");
	link.url = `http://127.0.0.1:${(link.server.address() as AddressInfo).port}`;
	return link;
}

async function forwarded(
	sent: IncomingMessage,
	bytes: Buffer,
	port: number,
): Promise<readonly [IncomingMessage, Buffer]> {
	const again: ClientRequest = request({
		host: "127.0.0.1",
		port,
		method: sent.method,
		path: sent.url,
		headers: sent.headers,
	});
	again.end(bytes);
	const [answer] = (await once(again, "response")) as [IncomingMessage];
	const chunks: Buffer[] = [];
	for await (const chunk of answer) chunks.push(chunk);
	return [answer, Buffer.concat(chunks)];
}

const folder = temporaryFolder();
let s3: Awaited<ReturnType<typeof startFauxqs>>;
let link: Awaited<ReturnType<typeof startLink>>;

before(async () => {
	process.env.AWS_ACCESS_KEY_ID = "made-up";
	process.env.AWS_SECRET_ACCESS_KEY = "made-up";
	process.env.AWS_REGION = "us-east-1";
	s3 = await startFauxqs({
		port: 0,
		host: "127.0.0.1",
		logger: false,
		init: { buckets: [BUCKET] },
	});
	link = await startLink(s3.port);
});

after(async () => {
	link.server.close();
	link.server.closeAllConnections();
	await s3.stop();
	folder[Symbol.dispose]();
});

function openFiles(prefix: string, options: { readonly tries?: number } = {}) {
	return openS3Files({
		bucket: BUCKET,
		prefix,
		endpoint: link.url,
		sse: null,
		partBytes: PART,
		tries: 10,
		...options,
	});
}

describe("files in S3", () => {
	test("are whole though requests are slow, fail, are throttled, cut or repeated", async () => {
		await using files = await openFiles("faults");
		const faults: readonly Fault[] = [
			...(["slow", "failed", null, "repeated", "reset"] as const),
			...([null, "throttled", "repeated", null] as const),
		];
		link.fault = (at) => faults[at % faults.length] ?? null;
		const content = randomBytes(2 * PART + 1_000_000);
		const chunks = function* () {
			for (let at = 0; at < content.length; at += 65_536) {
				yield content.subarray(at, at + 65_536);
			}
		};
		await files.put("a/large", chunks());
		await files.put("a/small", [Buffer.from("small")]);
		await files.put("empty", []);
		assert.deepEqual(
			await readWhole(files, "a/large", content.length),
			content,
		);
		assert.equal(String(await readWhole(files, "a/small", 10)), "small");
		assert.equal((await readWhole(files, "empty", 10))?.length, 0);
		assert.equal(await files.read("none"), null);
		// Servers that are not AWS's may know no other checksum than MD5.
		assert.deepEqual(link.checksums, []);
		assert.deepEqual((await files.list("a/")).toSorted(), [
			"a/large",
			"a/small",
		]);
		await files.remove(["a/large", "a/small"]);
		assert.deepEqual(await files.list(""), ["empty"]);
		link.fault = () => null;
	});

	test("are not there when their writer fails in the middle, and what it left is removed", async () => {
		await using files = await openFiles("halves", { tries: 1 });
		link.fault = (_, sent) =>
			sent.url?.includes("partNumber=2") || sent.method === "DELETE"
				? "failed"
				: null;
		await assert.rejects(files.put("half", [randomBytes(2 * PART)]), {
			code: "UNAVAILABLE",
			message: /s3:\/\/graph\/halves\/half: InternalError/,
		});
		link.fault = () => null;
		assert.deepEqual(await files.list(""), []);
		const halves = () =>
			[...link.uploads.values()].filter((key) => key.startsWith("halves/"));
		assert.deepEqual(halves(), ["halves/half"]);
		await files.removeHalves();
		assert.deepEqual(halves(), []);
	});

	test("have nothing half that is said to be done, whichever request of a dump fails for good", async () => {
		const data = join(folder.path, "data");
		{
			await using graph = await openEmbedded({ folder: data });
			await importAll(
				graph,
				Array.from({ length: 40 }, (_, n) => ({
					type: "User",
					key: `u:${n}`,
					fields: { username: `user_${n}` },
				})),
			);
		}
		const topology = embeddedTopology(data, 4);
		const options = { for: "restore", now: () => 0 } as const;
		const whole = join(folder.path, "whole");
		await dumpInto(whole, topology, options);
		const tables = async (
			files: FolderFiles | Awaited<ReturnType<typeof openFiles>>,
		) =>
			[...(await readDump(files)).databases.values()].map(
				(each) => each.tables,
			);
		await using files = await openFiles("dump", { tries: 1 });
		let failures = 0;
		for (let from = 2; ; from += 3) {
			const first = link.requests.length;
			link.fault = (at) => (at - first >= from ? "failed" : null);
			const run = dumpInto(files, topology, { ...options, parallel: 1 });
			const failed = await run.then(
				() => false,
				() => true,
			);
			link.fault = () => null;
			if (!failed) break;
			failures++;
			if ((await files.list("dump.json")).length === 0) continue;
			const { databases, manifest } = await readDump(files);
			assert.equal(manifest, null);
			for (const { tables } of databases.values()) {
				for (const file of tables.flatMap((table) => table.files)) {
					await checkFile(files, file);
				}
			}
		}
		assert.ok(failures > 5, `${failures} failures`);
		assert.deepEqual(await tables(files), await tables(new FolderFiles(whole)));
	});

	test("say what to do where there is no bucket, or no right", async () => {
		const topology = join(folder.path, "topology.json");
		writeFileSync(
			topology,
			JSON.stringify(embeddedTopology(join(folder.path, "data"), 4)),
		);
		const env = { CORKBOARD_TOPOLOGY: topology };
		const dump = (bucket: string, ...more: readonly string[]) =>
			runHere(["dump", `s3://${bucket}/x`, "--endpoint", link.url, ...more], {
				env,
			});
		const missing = await dump("nowhere");
		assert.equal(missing.code, 1);
		assert.match(
			missing.err,
			/s3:\/\/nowhere\/x\/dump\.json: NoSuchBucket: there is no such bucket, and a dump creates none/,
		);
	});
});
