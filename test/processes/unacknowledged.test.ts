import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { ChangedKeys } from "../../src/freshness/changedKeys.ts";
import type { Store } from "../../src/graph/store/store.ts";
import type { Id } from "../../src/id/ids.ts";
import { TcpProxy } from "../helpers/tcpProxy.ts";
import { until } from "../helpers/until.ts";
import { ask } from "../services/ask.ts";
import {
	type Fleet,
	openProcess,
	type Process,
	type ProcessOptions,
	startFleet,
	withoutUntaken,
} from "./fleet.ts";
import { both, unreachable } from "./naive.ts";
import { makePin, makeUser, SUBJECTS, type Subject } from "./subjects.ts";

/** A stopped clock: local cache entries do not expire, and leave only when they are invalidated. */
const now = () => 0;
/** Much longer than a retry takes, on busy cores too. No outbox worker runs here, so nothing else brings the new value. */
const SOON_MS = 30_000;
/** Between two reads. Milliseconds. */
const PAUSE_MS = 2;

/** A process and its links to the shared caches, which can be cut. */
interface Linked extends AsyncDisposable {
	readonly process: Process;
	readonly memcached: TcpProxy;
	readonly redis: TcpProxy;
	/** The link to the cache that holds the subject. */
	to(subject: Subject): TcpProxy;
}

/** docs/consistency.md, "3. Caches": "Deletes that are not acknowledged". */
describe("a change whose delete a shared cache did not acknowledge", () => {
	let fleet: Fleet;
	before(async () => {
		fleet = await startFleet();
	});
	after(() => fleet[Symbol.asyncDispose]());

	async function open(options: ProcessOptions = {}): Promise<Linked> {
		await using stack = new AsyncDisposableStack();
		const memcached = stack.use(await TcpProxy.to(fleet.memcached.port));
		const redis = stack.use(await TcpProxy.to(fleet.redis.port));
		const process = stack.use(
			await openProcess(fleet.addresses, {
				channel: true,
				now,
				memcachedPort: memcached.port,
				redisPort: redis.port,
				...options,
			}),
		);
		if (options.channel !== false) await restored(process);
		const owned = stack.move();
		return {
			process,
			memcached,
			redis,
			to: ({ layer }) => (layer === "memcached" ? memcached : redis),
			[Symbol.asyncDispose]: () => owned.disposeAsync(),
		};
	}

	function restored({ news }: Process): Promise<void> {
		return until("the channel", () => news.at(-1) === "restored");
	}

	/** A subject whose old value the shared cache and all these processes hold. */
	async function cachedSubject(
		subject: Subject,
		...processes: readonly Process[]
	): Promise<Id> {
		const [first] = processes as [Process];
		const id = await subject.make(first);
		const filled = first.pauses.hold(`filled ${subject.layer}`);
		assert.equal(await subject.read(first, id), "old");
		await filled.reached;
		filled.release();
		for (const process of processes) {
			assert.equal(await subject.read(process, id), "old");
		}
		return id;
	}

	for (const subject of SUBJECTS) {
		const what = `${subject.layer === "memcached" ? "an object" : "a head"} in ${subject.layer}`;

		it(`is what its process reads from the acknowledgement on, however short the cut was, and what the others read soon: ${what}`, async () => {
			await using writer = await open();
			await using reader = await open();
			const id = await cachedSubject(subject, writer.process, reader.process);
			const link = writer.to(subject);
			link.cut();
			await subject.write(writer.process, id);
			link.restore();
			// The link works again while the delete is still pending.
			const end = performance.now() + 1_000;
			while (performance.now() < end) {
				await sleep(PAUSE_MS);
				assert.equal(await subject.read(writer.process, id), "new");
			}
			await until(
				"the other process to read the change",
				async () => (await subject.read(reader.process, id)) === "new",
				SOON_MS,
			);
			// Also one that has no value of its own: the shared cache is right.
			await using other = await open({ channel: false });
			await until(
				"a new process to read the change",
				async () => (await subject.read(other.process, id)) === "new",
				SOON_MS,
			);
		});
	}

	const [object, head] = SUBJECTS as [Subject, Subject];

	it("is read by the others while the writer stays cut off from memcached: they delete it there", async () => {
		await using writer = await open();
		await using reader = await open();
		await using stranger = await open({ channel: false, cacheBytes: 0 });
		const id = await cachedSubject(object, writer.process, reader.process);
		writer.memcached.cut();
		assert.equal(await object.read(stranger.process, id), "old");
		await object.write(writer.process, id);
		await until(
			"the reader to read the change",
			async () => (await object.read(reader.process, id)) === "new",
			SOON_MS,
		);
		await until(
			"memcached not to have the old value",
			async () => (await object.read(stranger.process, id)) === "new",
			SOON_MS,
		);
		assert.equal(await object.read(writer.process, id), "new");
	});

	it("is read by the others while Redis answers reads and refuses writes, also by one that keeps nothing", async () => {
		await using writer = await open();
		await using reader = await open();
		await using stranger = await open({ channel: false, cacheBytes: 0 });
		const id = await cachedSubject(
			head,
			...[writer, reader, stranger].map(({ process }) => process),
		);
		const refuse = (count: number) =>
			ask(
				fleet.redis,
				`CONFIG SET min-replicas-to-write ${count}`,
				/^\+OK\r\n$/,
			);
		await refuse(1);
		try {
			await head.write(writer.process, id);
			assert.equal(await head.read(writer.process, id), "new");
			for (const { process } of [reader, stranger]) {
				await until(
					"the others to read the change",
					async () => (await head.read(process, id)) === "new",
					SOON_MS,
				);
			}
		} finally {
			await refuse(0);
		}
		// The old value is deleted there before anybody reads it again.
		const end = performance.now() + 3_000;
		while (performance.now() < end) {
			await sleep(PAUSE_MS);
			for (const { process } of [writer, reader, stranger]) {
				assert.equal(await head.read(process, id), "new");
			}
		}
	});

	it("is read by a process that is cut off from memcached too, and skips the old value there when it is back", async () => {
		await using writer = await open();
		await using reader = await open();
		const id = await cachedSubject(object, writer.process, reader.process);
		writer.memcached.cut();
		reader.memcached.cut();
		await object.write(writer.process, id);
		await until(
			"the reader to read the change",
			async () => (await object.read(reader.process, id)) === "new",
			SOON_MS,
		);
		reader.memcached.restore();
		const end = performance.now() + 1_000;
		while (performance.now() < end) {
			await sleep(PAUSE_MS);
			reader.process.store.caches.invalidateAll();
			assert.equal(await object.read(reader.process, id), "new");
		}
	});

	it("is published and deleted when a writer that was cut off from both caches is back", async () => {
		await using writer = await open();
		await using reader = await open({
			overrides: { storage: withoutUntaken },
		});
		for (const subject of [object, head]) {
			const id = await cachedSubject(subject, writer.process, reader.process);
			for (const link of [writer.memcached, writer.redis]) link.cut();
			await subject.write(writer.process, id);
			assert.equal(await subject.read(reader.process, id), "old");
			assert.equal(await subject.read(writer.process, id), "new");
			for (const link of [writer.memcached, writer.redis]) link.restore();
			await until(
				"the reader to read the change",
				async () => (await subject.read(reader.process, id)) === "new",
				SOON_MS,
			);
			await restored(writer.process);
		}
	});

	/** A process that receives no invalidation: it keeps what it cached. */
	async function uninformed(): Promise<Process> {
		return openProcess(fleet.addresses, {
			channel: true,
			now,
			overrides: { hears: () => false, storage: withoutUntaken },
		});
	}

	/** A writer whose changes leave memcached and Redis as they were. */
	async function unseenWriter(): Promise<Process> {
		return openProcess(fleet.addresses, {
			overrides: { layers: both(unreachable) },
		});
	}

	for (const [what, write] of [
		[
			"an update to the same values",
			(process, id) => process.writes.modify(id, () => null),
		],
		[
			"an update that finds the new values there",
			(process, id) =>
				process.writes.modify(id, (data) =>
					data.details === "new" ? null : { ...data, details: "new" },
				),
		],
	] as const satisfies readonly (readonly [
		string,
		(process: Process, id: Id) => Promise<void>,
	])[]) {
		it(`is not older in the payload of ${what} than what the mutation read`, async () => {
			await using process = await uninformed();
			await restored(process);
			await using other = await unseenWriter();
			const id = await cachedSubject(object, process);
			await object.write(other, id);
			assert.equal(await object.read(process, id), "old", "not informed yet");
			await write(process, id);
			assert.equal(await object.read(process, id), "new");
		});
	}

	it("is not older in the payload of a repeated create, like or delete than what the mutation read", async () => {
		await using process = await uninformed();
		await restored(process);
		await using other = await unseenWriter();
		const create = () =>
			process.writes.create({
				type: "Pin",
				data: { details: "old" },
				idempotency: { scope: "test", key: "repeated", request: {} },
			});
		const pin = await create();
		assert.equal((await process.object(pin))?.details, "old");
		await object.write(other, pin);
		assert.equal((await process.object(pin))?.details, "old");
		assert.equal(await create(), pin);
		assert.equal((await process.object(pin))?.details, "new");

		const id = await cachedSubject(head, process);
		await head.write(other, id);
		assert.equal(await head.read(process, id), "old");
		await head.write(process, id);
		assert.equal(await head.read(process, id), "new");

		await other.writes.remove(pin);
		assert.notEqual((await process.object(pin))?.active, false);
		await process.writes.remove(pin);
		assert.equal((await process.object(pin))?.active, false);
	});

	/** What writes waited for, each as the objects and the names of the lists. */
	function spied(waits: string[]): (store: Store) => Store {
		return (store) =>
			store.with({
				invalidator: {
					...store.invalidator,
					async untilInvalidated(changed: ChangedKeys, ms) {
						waits.push(
							[
								...(changed.objects ?? []),
								...(changed.lists ?? []).map(
									({ mapping, from }) => `${mapping.name} ${from}`,
								),
							]
								.toSorted()
								.join(),
						);
						return store.invalidator.untilInvalidated(changed, ms);
					},
				},
			});
	}

	it("is waited for by every write that hides something, on the other side of a block too, and by no other", async () => {
		const waits: string[] = [];
		await using process = await openProcess(fleet.addresses, {
			overrides: { store: spied(waits) },
		});
		const { writes } = process;
		const waited = () => waits.splice(0);
		const [one, other] = [
			await makeUser(process, "hider", 0),
			await makeUser(process, "hidden", 1),
		];
		const make = (type: string, data: Record<string, string>) =>
			process.make(type, data);
		const open = await make("Board", { name: "open", user_id: one });
		const second = await make("Board", { name: "second", user_id: one });
		const pin = await make("Pin", { board_id: open, user_id: one });
		const like = process.mapping("likePin");
		const block = process.mapping("blockUser");
		await writes.setEdge(like, one, pin, true);
		await writes.setEdge(like, one, pin, false);
		await writes.modify(open, (data) => ({ ...data, name: "renamed" }));
		await writes.modify(pin, (data) => ({ ...data, details: "text" }));
		assert.deepEqual(waited(), []);

		await writes.setEdge(block, one, other, true);
		assert.deepEqual(waited(), [
			[`blockUser ${one}`, `blockUser.inverse ${other}`].join(),
		]);
		await writes.setEdge(block, one, other, true);
		await writes.setEdge(block, one, other, false);
		assert.deepEqual(waited(), []);
		await writes.modify(open, (data) => ({ ...data, secret: true }));
		assert.deepEqual(waited(), [open]);
		await writes.modify(other, (data) => ({
			...data,
			deactivated_at: "2026-01-01T00:00:00.000Z",
		}));
		const [closed = "", ...more] = waited();
		assert.deepEqual(more, []);
		const [object, ...lists] = closed.split(",");
		assert.equal(object, other);
		// Those on which searches find the user.
		assert.ok(lists.length > 0);
		for (const list of lists) assert.match(list, /^prefixUser /);
		await writes.move({
			mapping: process.mapping("placePin"),
			object: pin,
			from: second,
		});
		assert.equal(waited().length, 1);
		await writes.remove(pin);
		assert.ok(waited()[0]?.includes(pin));
	});

	/** Makes a pin that all cache, and deletes it. */
	async function hidden(
		writer: Process,
		...readers: readonly Process[]
	): Promise<{ readonly id: Id; hide(): Promise<void> }> {
		const id = await makePin(writer, { details: "old" });
		for (const process of [writer, ...readers]) {
			assert.equal((await process.object(id))?.active, undefined);
		}
		return { id, hide: () => writer.writes.remove(id) };
	}

	it("is acknowledged, if it hides something, once it is published and deleted, not before", async () => {
		for (const which of ["memcached", "redis"] as const) {
			await using writer = await open();
			await using reader = await open();
			const { id, hide } = await hidden(writer.process, reader.process);
			const { store } = writer.process;
			writer[which].cut();
			const hiding = hide();
			// The database shows a commit before the writer has its answer.
			await until(
				"the writer to know of the commit",
				async () => (await writer.process.object(id))?.active === false,
			);
			const [before, done] = await Promise.all([
				store.invalidator.untilInvalidated({ objects: [id] }, 0),
				store.invalidator.untilInvalidated({ objects: [id] }, 60_000),
				(async () => writer[which].restore())(),
			]);
			assert.deepEqual([before, done], [false, true], which);
			await hiding;
			await until(
				"the reader to read the change",
				async () => (await reader.process.object(id))?.active === false,
				SOON_MS,
			);
		}
	});

	it("is acknowledged after two seconds if a cache stays out of reach, and holds at once for its own process", async () => {
		await using writer = await open();
		const { id, hide } = await hidden(writer.process);
		for (const link of [writer.memcached, writer.redis]) link.cut();
		const started = performance.now();
		const hiding = hide();
		await until(
			"the deletion",
			async () => (await writer.process.object(id))?.active === false,
		);
		await hiding;
		assert.ok(performance.now() - started > 1_900);
		for (const link of [writer.memcached, writer.redis]) link.restore();
		const end = performance.now() + 1_000;
		while (performance.now() < end) {
			await sleep(PAUSE_MS);
			assert.equal((await writer.process.object(id))?.active, false);
		}
	});
});
