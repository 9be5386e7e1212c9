import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Id } from "../../src/id/ids.ts";
import { collect } from "../helpers/storing.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { until } from "../helpers/until.ts";
import {
	type Fleet,
	openProcess,
	type Process,
	startFleet,
} from "../processes/fleet.ts";
import { SUBJECTS } from "../processes/subjects.ts";

/** A stopped clock: what is cached in a process leaves only because something says so. */
const now = () => 0;
/** Some two seconds; these cores are busy with other tests. Milliseconds. */
const PROMISED_MS = 60_000;

/** docs/consistency.md "Without Redis for a time". No process here runs an outbox worker. */
describe("a process whose channel is lost", () => {
	let fleet: Fleet;
	before(async () => {
		fleet = await startFleet();
	});
	after(async () => {
		await fleet[Symbol.asyncDispose]();
	});

	async function open(redisPort?: number): Promise<Process> {
		const process = await openProcess(fleet.addresses, {
			channel: true,
			now,
			...(redisPort !== undefined && { redisPort, cacheDeadlineMs: 200 }),
		});
		await until("the channel", () => process.news.at(-1) === "restored");
		return process;
	}

	const isLost = ({ news }: Process) => news.at(-1) === "lost";
	const outboxOf = (process: Process) =>
		collect(process.storage.walk("outbox", 0));

	for (const { make, write, read, layer } of SUBJECTS) {
		const what = layer === "redis" ? "a list" : "an object";
		/** Whether it is kept once it was read. */
		async function isUsed(process: Process, id: Id): Promise<boolean> {
			await read(process, id);
			return layer === "redis"
				? process.store.cachedHead(process.mapping("filePin"), id) !== undefined
				: process.store.cachedObject(id) !== undefined;
		}

		it(`keeps what it reads, ${what}, and drops it once another one changed it, while Redis is away`, async () => {
			await using writer = await open();
			await using reader = await open();
			await fleet.redis.kill();
			try {
				await until("the loss", () => isLost(reader) && isLost(writer));
				const id = await make(writer);
				await until("its cache", () => isUsed(reader, id));
				assert.equal(await read(reader, id), "old");
				await write(writer, id);
				assert.equal(await read(writer, id), "new");
				await until(
					"the change",
					async () => (await read(reader, id)) === "new",
					PROMISED_MS,
				);
				assert.ok(isLost(reader));
				assert.ok((await outboxOf(writer)).length > 0, "it was not published");
				await until("its cache", () => isUsed(reader, id));
			} finally {
				await fleet.redis.restart();
			}
			await until("the channel", () => !isLost(reader) && !isLost(writer));
		});

		it(`drops what it keeps, ${what}, where others publish a change that it does not receive, and delete the entry`, async () => {
			await using link = await TcpProxy.to(fleet.redis.port);
			await using writer = await open();
			await using reader = await open(link.port);
			link.cut();
			await until("the loss", () => isLost(reader));
			for (let round = 0; round < 3; round++) {
				const id = await make(writer);
				await until("its cache", () => isUsed(reader, id));
				const { length } = await outboxOf(writer);
				await write(writer, id);
				await writer.store.outboxDeletions.flush();
				assert.ok((await outboxOf(writer)).length <= length);
				await until(
					"the change",
					async () => (await read(reader, id)) === "new",
					PROMISED_MS,
				);
			}
			assert.ok(isLost(reader));
			link.restore();
			await until("the channel", () => !isLost(reader));
			const id = await make(writer);
			await until("its cache", () => isUsed(reader, id));
		});
	}
});
