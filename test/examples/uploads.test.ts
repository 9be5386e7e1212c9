import assert from "node:assert/strict";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { S3Client } from "@aws-sdk/client-s3";
import { isBlurhashValid } from "blurhash";
import { startFauxqs } from "fauxqs";
import sharp from "sharp";
import {
	createImageUpload,
	readImage,
	type UploadStore,
	withImage,
} from "../../examples/uploads/uploads.ts";
import pinsApp from "../../pins/app.ts";
import type { App } from "../../src/app/defineApp.ts";
import { text } from "../../src/model/validation.ts";
import { queueStats } from "../../src/queue/admin/queueStats.ts";
import { openTest, type TestGraph } from "../../src/testing/openTest.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

const BUCKET = "pictures";

/** What docs/frontends/uploads.md has a reader add to the app. */
function withUploads(folder: string, store: UploadStore): App {
	cpSync(pinsApp.schema, folder, { recursive: true });
	cpSync(
		join(import.meta.dirname, "../../examples/uploads/uploads.graphql"),
		join(folder, "uploads.graphql"),
	);
	const kind = readImage(store);
	const resolvers = new Map(pinsApp.resolvers);
	resolvers.set("Mutation.createImageUpload", createImageUpload(store));
	for (const name of ["Mutation.createPin", "Mutation.updatePin"]) {
		const change = resolvers.get(name);
		assert.ok(change);
		resolvers.set(name, withImage(change, kind));
	}
	const { fields } = pinsApp.policies;
	return {
		...pinsApp,
		schema: folder,
		resolvers,
		policies: {
			...pinsApp.policies,
			fields: {
				...fields,
				Pin: { ...fields?.Pin, imageBlurhash: { validate: text(100) } },
			},
		},
		jobs: [...(pinsApp.jobs ?? []), kind],
	};
}

describe("uploads to an object store, as docs/frontends/uploads.md has them", () => {
	const folder = temporaryFolder();
	const resources = new AsyncDisposableStack();
	let graph: TestGraph;

	before(async () => {
		const s3 = await startFauxqs({
			port: 0,
			host: "127.0.0.1",
			logger: false,
			init: { buckets: [BUCKET] },
		});
		resources.defer(() => s3.stop());
		const endpoint = `http://127.0.0.1:${s3.port}`;
		const store = {
			client: new S3Client({
				endpoint,
				forcePathStyle: true,
				region: "us-east-1",
				credentials: { accessKeyId: "made-up", secretAccessKey: "made-up" },
				requestChecksumCalculation: "WHEN_REQUIRED",
			}),
			bucket: BUCKET,
			publicUrl: `${endpoint}/${BUCKET}`,
		};
		graph = await openTest(withUploads(folder.path, store), [
			{ type: "User", key: "ada", fields: { username: "ada" } },
			{ type: "Board", key: "open", fields: { name: "Kites", owner: "ada" } },
		]);
		resources.use(graph);
		resources.use(
			await graph.corkboard.startWorker({ queues: null, concurrency: 2 }),
		);
	});
	after(async () => {
		await resources.disposeAsync();
		folder[Symbol.dispose]();
	});

	async function ask<T>(
		document: string,
		variables: Readonly<Record<string, unknown>> = {},
	): Promise<T> {
		const { data, errors } = await graph.query(document, {
			as: "ada",
			variables,
		});
		assert.equal(errors, undefined);
		return data as T;
	}

	const signed = async (contentType: string, size: number) => {
		const { createImageUpload } = await ask<{
			createImageUpload: { uploadUrl: string; url: string };
		}>(
			"mutation ($input: CreateImageUploadInput!) { createImageUpload(input: $input) { uploadUrl url } }",
			{ input: { contentType, size } },
		);
		return createImageUpload;
	};

	async function pinned(url: string): Promise<string> {
		const { user } = await ask<{
			user: { boards: { nodes: { id: string }[] } };
		}>('{ user(by: { username: "ada" }) { boards { nodes { id } } } }');
		const { createPin } = await ask<{ createPin: { pin: { id: string } } }>(
			"mutation ($input: CreatePinInput!) { createPin(input: $input) { pin { id } } }",
			{
				input: {
					boardId: user.boards.nodes[0]?.id,
					image: { url, alt: "A kite" },
				},
			},
		);
		return createPin.pin.id;
	}

	interface Pin {
		readonly image: {
			readonly width: number | null;
			readonly height: number | null;
			readonly alt: string;
		};
		readonly imageBlurhash: string | null;
	}
	const read = async (id: string) =>
		(
			await ask<{ node: Pin }>(
				"query ($id: ID!) { node(id: $id) { ... on Pin { image { width height alt } imageBlurhash } } }",
				{ id },
			)
		).node;

	it("keep the size and a BlurHash of the picture that was sent, as people see it", async () => {
		const picture = await sharp({
			create: { width: 60, height: 40, channels: 3, background: "#c33" },
		})
			// Held upright: 40 wide and 60 high.
			.withMetadata({ orientation: 6 })
			.jpeg()
			.toBuffer();
		const { uploadUrl, url } = await signed("image/jpeg", picture.length);
		const sent = await fetch(uploadUrl, {
			method: "PUT",
			headers: { "content-type": "image/jpeg" },
			body: new Uint8Array(picture),
		});
		assert.equal(sent.status, 200, await sent.text());
		const pin = await pinned(url);
		await until("the job has read the picture", async () => {
			return (await read(pin)).imageBlurhash !== null;
		});
		const { image, imageBlurhash } = await read(pin);
		assert.deepEqual(image, { width: 40, height: 60, alt: "A kite" });
		assert.ok(isBlurhashValid(imageBlurhash ?? "").result);
	});

	it("are signed for one type and one size, for five minutes, without a checksum of nothing", async () => {
		const { uploadUrl } = await signed("image/png", 1_234);
		const { searchParams } = new URL(uploadUrl);
		assert.equal(
			searchParams.get("X-Amz-SignedHeaders"),
			"content-length;content-type;host",
		);
		assert.equal(searchParams.get("X-Amz-Expires"), "300");
		assert.deepEqual(
			[...searchParams.keys()].filter((name) => /checksum/i.test(name)),
			[],
		);
	});

	it("are refused for other types, larger files and visitors", async () => {
		const refused = async (as: string | undefined, input: object) => {
			const { errors } = await graph.query(
				"mutation ($input: CreateImageUploadInput!) { createImageUpload(input: $input) { url } }",
				{ ...(as && { as }), variables: { input } },
			);
			return errors?.[0]?.extensions?.code;
		};
		const svg = { contentType: "image/svg+xml", size: 10 };
		const large = { contentType: "image/png", size: 11 * 1024 * 1024 };
		const right = { contentType: "image/png", size: 10 };
		assert.equal(await refused("ada", svg), "BAD_USER_INPUT");
		assert.equal(await refused("ada", large), "BAD_USER_INPUT");
		assert.equal(await refused(undefined, right), "UNAUTHENTICATED");
	});

	it("take packages of the versions that are tried here, and the settings that the page names", () => {
		const root = join(import.meta.dirname, "../..");
		const page = readFileSync(join(root, "docs/frontends/uploads.md"), "utf8");
		const { devDependencies } = JSON.parse(
			readFileSync(join(root, "package.json"), "utf8"),
		) as { readonly devDependencies: Readonly<Record<string, string>> };
		const [, line = ""] = /^ {4}npm install (.*)$/m.exec(page) ?? [];
		const packages = line.split(" ");
		assert.equal(packages.length, 4);
		for (const one of packages) {
			const at = one.lastIndexOf("@");
			assert.equal(devDependencies[one.slice(0, at)], one.slice(at + 1), one);
		}
		const code = readFileSync(
			join(root, "examples/uploads/uploads.ts"),
			"utf8",
		);
		const named = (text: string) =>
			[...new Set(text.match(/UPLOAD_[A-Z_]+/g))].toSorted();
		assert.deepEqual(named(page), named(code));
		// The lines of the page that wire it up, in this test's app.
		const here = readFileSync(import.meta.filename, "utf8");
		for (const call of [
			"createImageUpload(store)",
			"readImage(store)",
			"withImage(change, kind)",
			"imageBlurhash: { validate: text(100) }",
		]) {
			assert.ok(page.includes(call), call);
			assert.ok(here.includes(call), call);
		}
	});

	it("leave a pin as it is if the file is no picture, or is elsewhere", async () => {
		const { uploadUrl, url } = await signed("image/png", 5);
		const sent = await fetch(uploadUrl, {
			method: "PUT",
			headers: { "content-type": "image/png" },
			body: "hello",
		});
		assert.equal(sent.status, 200);
		const pins = [
			await pinned(url),
			await pinned("https://example.com/kite.png"),
		];
		const store = graph.corkboard.queues?.store;
		assert.ok(store);
		await until(
			"one job to give up, and the other to leave the picture",
			async () => {
				const { stats } = await queueStats(store, "readImage");
				return stats.failed.jobs === 1 && stats.succeeded.jobs === 2;
			},
		);
		for (const pin of pins) {
			const { image, imageBlurhash } = await read(pin);
			assert.equal(image.width, null);
			assert.equal(imageBlurhash, null);
		}
	});
});
