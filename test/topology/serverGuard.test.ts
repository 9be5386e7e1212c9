import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, test } from "node:test";
import {
	type DatabaseLoss,
	TOPOLOGY_CHANNELS,
} from "../../src/topology/diagnostics.ts";
import { openFileStore } from "../../src/topology/file/fileStore.ts";
import { acceptance, readLosses } from "../../src/topology/guards/losses.ts";
import {
	type FoundServer,
	ServerGuard,
} from "../../src/topology/guards/serverGuard.ts";
import { Membership } from "../../src/topology/members.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

const HOST = "db1:3306";

/** A store, and a process that was acknowledged the transactions of server A up to the tenth. */
async function open() {
	await using stack = new AsyncDisposableStack();
	const folder = stack.use(temporaryFolder());
	const file = join(folder.path, "topology.json");
	const store = stack.use(openFileStore(file, { renewMs: 100 }));
	const guard = stack.use(new ServerGuard(store, () => "A:1-10"));
	await guard.ready;
	const owned = stack.move();
	return {
		store,
		guard,
		another: () => openFileStore(file, { renewMs: 100 }),
		isRefused: async () => (await guard.refusal(HOST)) !== null,
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

function found(
	server: string,
	lacks: FoundServer["lacks"],
	{ isChange = true, isLossless = false } = {},
): FoundServer {
	return { host: HOST, server, isChange, isLossless, lacks };
}

/** As a server that has these transactions of A. */
const has =
	(set: string): FoundServer["lacks"] =>
	async (asked, besides) =>
		[set, ...besides.split(",")].includes(asked) ? "" : "A:10";
const cannotSay: FoundServer["lacks"] = async () => null;

describe("A server behind a host's name", () => {
	test("is written to at once where it is the first that this process sees", async () => {
		await using opened = await open();
		opened.guard.found(found("A", cannotSay, { isChange: false }));
		assert.equal(opened.guard.refusal(HOST), null);
		assert.equal(opened.guard.refusal("db2:3306"), null);
	});

	test("is written to after a change where it lacks nothing, and not before that is known", async () => {
		await using opened = await open();
		const { promise, resolve } = Promise.withResolvers<string>();
		opened.guard.found(found("B", () => promise));
		const refusal = opened.guard.refusal(HOST);
		assert.ok(refusal instanceof Promise);
		assert.match(String(await refusal), /still compared/);
		resolve("");
		await until("the comparison", () => opened.guard.refusal(HOST) === null);
	});

	test("is not written to where it lacks something, by other processes too, until the loss is accepted, and then not for that", async () => {
		await using opened = await open();
		const { guard, store } = opened;
		const published = await publishedDuring<DatabaseLoss>(
			TOPOLOGY_CHANNELS.databaseLoss,
			async () => {
				guard.found(found("B", has("A:1-9")));
				await until("the stop", () => guard.stopped.has(HOST));
			},
		);
		assert.equal(published[0]?.state, "stopped");
		assert.match(String(guard.refusal(HOST)), /lacks transactions.*: A:10\./);
		await until("the record", async () => (await readLosses(store)).length > 0);

		await using store2 = opened.another();
		using late = new ServerGuard(store2, () => "");
		await late.ready;
		late.found(found("B", cannotSay, { isChange: false }));
		assert.notEqual(late.refusal(HOST), null);
		// If the name leads to the old server, this one may write.
		late.found(found("A", has("")));
		await until("the old server", () => late.refusal(HOST) === null);
		await until("the record is gone", async () => {
			return (await readLosses(store)).length === 0;
		});
		await until("B is compared and recorded again", async () => {
			return (await readLosses(store)).length === 1;
		});

		await store.write(
			await acceptance(store, HOST, { server: "B", gtids: "A:1-10" }),
		);
		await until("writes", () => guard.refusal(HOST) === null);
		assert.equal(guard.stopped.size, 0);
	});

	test("that has no GTIDs is written to only where its URL says that nothing is lost", async () => {
		await using opened = await open();
		const { guard } = opened;
		guard.found(found("B", cannotSay, { isLossless: true }));
		await until("the comparison", () => guard.refusal(HOST) === null);
		guard.found(found("C", cannotSay));
		await until("the stop", () => guard.stopped.has(HOST));
		assert.match(String(guard.refusal(HOST)), /has no GTIDs/);
	});

	test("is not written to while another process does not say what it was acknowledged, until that is gone", async () => {
		await using opened = await open();
		const store2 = opened.another();
		const silent = new Membership(store2, { role: "serve", model: "" });
		await silent.say(1, 1);
		opened.guard.found(found("B", has("A:1-10")));
		assert.match(String(await opened.guard.refusal(HOST)), /still compared/);
		await silent[Symbol.asyncDispose]();
		await store2[Symbol.asyncDispose]();
		await until("the comparison", () => opened.guard.refusal(HOST) === null);
	});
});
