import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { TRUST_MS } from "../../src/freshness/channel/invalidationSubscriber.ts";
import type { Id } from "../../src/id/ids.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { until } from "../helpers/until.ts";
import {
	type Fleet,
	openProcess,
	type Process,
	type ProcessOptions,
	startFleet,
} from "./fleet.ts";
import { runRemoteSync, startRemote } from "./remote.ts";
import { keep, makePin, SUBJECTS, type Subject } from "./subjects.ts";

/** A stopped clock: local cache entries do not expire, and leave only when they are invalidated. */
const now = () => 0;

const NOTHING = new Int32Array(new SharedArrayBuffer(4));

/** docs/consistency.md, "3. Caches". */
describe("a value cached in a process that another process changes", () => {
	let fleet: Fleet;
	let writer: Process;
	before(async () => {
		fleet = await startFleet();
		writer = await openProcess(fleet.addresses, { channel: true, now });
		await hears(writer);
	});
	after(async () => {
		await writer[Symbol.asyncDispose]();
		await fleet[Symbol.asyncDispose]();
	});

	function hears({ news }: Process): Promise<void> {
		return until("the channel", () => news.at(-1) === "restored");
	}

	/** Calls `body` with a reader whose local cache has a value that the writer then changed. */
	async function kept(
		subject: Subject,
		options: ProcessOptions,
		body: (read: () => Promise<string>) => Promise<void>,
	): Promise<void> {
		await using reader = await openProcess(fleet.addresses, options);
		if (options.channel) await hears(reader);
		const id = await subject.make(writer);
		assert.equal(await subject.read(reader, id), "old");
		await subject.write(writer, id);
		assert.equal(await subject.read(writer, id), "new", "by the writer itself");
		await body(() => subject.read(reader, id));
	}

	for (const subject of SUBJECTS) {
		const what = subject.layer === "memcached" ? "an object" : "a head";

		it(`is dropped by an invalidation before it has aged, ${what}`, async () => {
			// Without it, it stays.
			await kept(subject, { now }, async (read) => {
				await sleep(100);
				assert.equal(await read(), "old");
			});
			await kept(subject, { channel: true, now }, async (read) => {
				await until("the change", async () => (await read()) === "new");
			});
		});

		it(`is dropped within moments if the invalidation is lost, ${what}: Redis has its number`, async () => {
			let isHearing = false;
			const options: ProcessOptions = {
				channel: true,
				now,
				overrides: { hears: () => isHearing },
			};
			await kept(subject, options, async (read) => {
				await until("the change", async () => (await read()) === "new");
				isHearing = true;
			});
		});
	}

	it("is not cached by a process that read it while the change was in progress", async () => {
		await using reader = await openProcess(fleet.addresses, { channel: true });
		await hears(reader);
		const pin = await makePin(writer, { details: "old" });
		const held = reader.pauses.hold("objects read");
		const reading = reader.object(pin);
		await held.reached;
		await change(pin, "new");
		await sleep(100);
		held.release();
		assert.equal((await reading)?.details, "old", "as it was when it was read");
		assert.equal((await reader.object(pin))?.details, "new");
	});

	it("is not used while the channel is silent, and again once it is restored", async () => {
		await using deaf = await openProcess(fleet.addresses, { now });
		await using reader = await openProcess(fleet.addresses, { channel: true });
		await hears(reader);
		const pin = await makePin(writer, { details: "old" });
		for (const process of [deaf, reader]) await keep(process, pin, "old");
		fleet.redis.pause();
		try {
			await until(
				"the channel to be lost",
				() => reader.news.at(-1) === "lost" && writer.news.at(-1) === "lost",
			);
			await change(pin, "new");
			assert.equal(
				(await deaf.object(pin))?.details,
				"old",
				"without a channel",
			);
			assert.equal((await reader.object(pin))?.details, "new");
		} finally {
			fleet.redis.resume();
		}
		await hears(reader);
		await hears(writer);
		assert.equal((await reader.object(pin))?.details, "new");
		await keep(reader, pin, "new");
		await change(pin, "newer");
		await until(
			"the change",
			async () => (await reader.object(pin))?.details === "newer",
		);
	});

	it("is not used by the first read of a process that was paused, before it has received what changed meanwhile", async () => {
		await using reader = await openProcess(fleet.addresses, { channel: true });
		await hears(reader);
		const pin = await makePin(writer, { details: "old" });
		await keep(reader, pin, "old");
		runRemoteSync(
			{ addresses: fleet.addresses, as: "ours", channel: true },
			{ do: "modify", id: pin, details: "new" },
		);
		Atomics.wait(NOTHING, 0, 0, TRUST_MS + 100);
		const reading = reader.object(pin);
		assert.equal((await reading)?.details, "new");
	});

	it("is dropped in processes of another program, and changes of those are dropped here", async () => {
		await using remote = await startRemote({
			addresses: fleet.addresses,
			as: "ours",
			channel: true,
			clockStopped: true,
		});
		await until("the child's channel", async () => {
			const news = (await remote.send({ do: "news" })) as string[];
			return news.at(-1) === "restored";
		});
		const pin = await makePin(writer, { details: "old" });
		const there = async () => {
			const found = await remote.send({ do: "object", id: pin });
			return (found as JsonObject).details;
		};
		const here = async () => (await writer.object(pin))?.details;
		assert.deepEqual([await there(), await here()], ["old", "old"]);
		for (const details of ["from here", "again"]) {
			await change(pin, details);
			await until(
				"the change in the child process",
				async () => (await there()) === details,
			);
		}
		await remote.send({ do: "modify", id: pin, details: "from there" });
		await until(
			"the change in this process",
			async () => (await here()) === "from there",
		);
	});

	function change(pin: Id, details: string): Promise<void> {
		return writer.writes.modify(pin, (data) => ({ ...data, details }));
	}
});
