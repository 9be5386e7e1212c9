import assert from "node:assert/strict";
import { describe, it } from "node:test";
import events from "../../../examples/events/app.ts";
import { readApp } from "../../../src/app/readApp.ts";
import { deliverEntries } from "../../../src/graph/outbox/deliver.ts";
import { deliverPending } from "../../../src/graph/outbox/deliverPending.ts";
import { applyEdges } from "../../../src/graph/outbox/parts/edgeUpdates.ts";
import type { Store } from "../../../src/graph/store/store.ts";
import { createWrites } from "../../../src/graph/write/createWrites.ts";
import { WritePipeline } from "../../../src/graph/write/pipeline.ts";
import type { Id } from "../../../src/id/ids.ts";
import { sequenceOfValue } from "../../../src/storage/order.ts";
import {
	type Edge,
	type OutboxRow,
	PRESENT,
	REMOVED,
	type Transaction,
} from "../../../src/storage/rows.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { parseJsonObject } from "../../../src/storage/storedObject.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { openEmbedded } from "../../helpers/embedded.ts";
import {
	type Actor,
	Broken,
	Interleavings,
	type World,
} from "../../helpers/interleavings.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

const LIST = "scheduleEvent";
const SOON = "2027-01-01T00:00:00.000Z";
const LATER = "2027-06-01T00:00:00.000Z";
const LATEST = "2027-12-01T00:00:00.000Z";

/** Each actor is a process of its own. */
interface Cast {
	change(name: string, startsAt: string): Actor;
	toOtherGroup(name: string): Actor;
	remove(name: string): Actor;
	/** Delivers the entry of the first change, at any time after its commit. */
	worker(): Actor;
}

/**
 * An event on one shard, on the calendar of a group on another: under every
 * interleaving of the storage calls of a few processes, the calendar has the event
 * where its field says once all entries are delivered.
 */
describe("in every interleaving, a list that is ordered by a field ends as the field says:", () => {
	it("two changes, and an outbox worker that delivers the first whenever it likes", async () => {
		const states = await explore(({ change, worker }) => [
			change("one", SOON),
			change("other", LATEST),
			worker(),
		]);
		assert.ok(states > 50, `${states} states`);
	});

	it("the same without versions, which is found to break it", async () => {
		await assert.rejects(
			explore(
				({ change, worker }) => [
					change("one", SOON),
					change("other", LATEST),
					worker(),
				],
				withoutVersions,
			),
			(error) => error instanceof Broken && /, expected/.test(error.message),
		);
	});

	it("a change whose process may die anywhere, another change, and the outbox worker", async () => {
		await explore(({ change, worker }) => [
			{ ...change("one", SOON), mayDie: true },
			change("other", LATEST),
			worker(),
		]);
	});

	it("a change whose COMMIT may get no answer, the deletion of the event, and the outbox worker", async () => {
		await explore(({ change, remove, worker }) => [
			{
				...change("one", SOON),
				losesAnswers: (verb) => verb === "transact",
			},
			remove("remover"),
			worker(),
		]);
	});

	it("a change, a move to the calendar of another group, and the outbox worker", async () => {
		await explore(({ change, toOtherGroup, worker }) => [
			change("one", SOON),
			toOtherGroup("mover"),
			worker(),
		]);
	});
});

/** Lets a late delivery overwrite whatever is there. */
function withoutVersions(storage: Storage): Storage {
	return wrapTransact(storage, (transaction) =>
		storage.transact({
			...transaction,
			decide: (reads) =>
				transaction.decide({
					...reads,
					edges: reads.edges.map((edge) => edge && { ...edge, version: 0 }),
				}),
		}),
	);
}

function wrapTransact(
	storage: Storage,
	transact: <T>(
		transaction: Transaction<T>,
	) => ReturnType<typeof storage.transact<T>>,
): Storage {
	return new Proxy(storage, {
		get(target, name) {
			if (name === "transact") return transact;
			const value = Reflect.get(target, name, target);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}

async function explore(
	story: (cast: Cast) => readonly Actor[],
	damage: (storage: Storage) => Storage = (storage) => storage,
): Promise<number> {
	using folder = temporaryFolder();
	const interleavings = new Interleavings(() => {});
	let first = Promise.withResolvers<OutboxRow>();
	/** Notes the entry of the first change. */
	const noting = (storage: Storage) =>
		wrapTransact(storage, async (transaction) => {
			let entry: JsonObject | undefined;
			const done = await storage.transact({
				...transaction,
				decide(reads) {
					const writes = transaction.decide(reads);
					entry = writes.outboxEntry;
					return writes;
				},
			});
			if (entry?.edges && done.outboxKey !== null) {
				first.resolve({ ...done.outboxKey, entry });
			}
			return done;
		});
	const { model, domain } = readApp(events);
	await using graph = await openEmbedded({
		folder: folder.path,
		shards: 2,
		model: { model, domain },
		wrap: (storage) => interleavings.wrap(noting(damage(storage))),
	});
	const { storage } = graph;
	const mapping = graph.mapping(LIST);
	const raw = graph.store.with({ storage });
	const { states } = await interleavings.explore(open);
	return states;

	async function open(): Promise<World> {
		first = Promise.withResolvers();
		await storage.deleteOutboxEntries(
			await storage.pendingEntries({ olderThanMs: 0, limit: 1_000 }),
		);
		const [group, other] = (await make(1, "Group", [{}, {}])) as [Id, Id];
		const [event] = (await make(0, "Event", [
			{ group_id: group, starts_at: LATER, version: 1 },
		])) as [Id];
		await applyEdges(new WritePipeline(raw), [
			{
				mapping: LIST,
				from: group,
				to: event,
				state: PRESENT,
				version: 1,
				sequence: sequenceFor({ starts_at: LATER }),
			},
		]);
		const modify = (store: Store, change: JsonObject) =>
			createWrites(store).modify(event, (data) =>
				data.active === false ? null : { ...data, ...change },
			);
		const process = (name: string, run: (store: Store) => Promise<unknown>) => {
			const store = graph.cold();
			return { name, run: () => run(store) };
		};
		const actors = story({
			change: (name, starts_at) =>
				process(name, (store) => modify(store, { starts_at })),
			toOtherGroup: (name) =>
				process(name, (store) => modify(store, { group_id: other })),
			remove: (name) =>
				process(name, (store) => createWrites(store).remove(event)),
			worker: () => ({
				...process("worker", async (store) =>
					deliverEntries(new WritePipeline(store), [await first.promise]),
				),
				mayWaitForEver: true,
			}),
		});
		return {
			prefix: "no name",
			actors,
			state,
			// The test gives the worker its entry: nobody else reads the outbox.
			isPrivate: ({ mayDie = false }, verb) =>
				verb === "deleteOutboxEntries" && !mayDie,
			check(stored) {
				const { data, edges } = stored as Stored;
				for (const edge of edges) {
					assert.ok((edge?.version ?? 0) <= Number(data.version));
				}
			},
			async end(outcomes) {
				for (const [name, outcome] of outcomes) {
					const isExpected =
						typeof outcome === "string" || outcome.code === "UNAVAILABLE";
					assert.ok(isExpected, `${name}: ${String(outcome)}`);
				}
				const delivered = await deliverPending(new WritePipeline(raw), 0);
				assert.equal(delivered.undelivered, 0);
				const { data, edges } = await state();
				for (const [at, from] of [group, other].entries()) {
					const edge = edges[at] ?? null;
					const isThere = data.active !== false && data.group_id === from;
					assert.equal(edge?.state ?? REMOVED, isThere ? PRESENT : REMOVED);
					const expected = sequenceFor(data);
					assert.ok(
						!isThere || edge?.sequence === expected,
						`the event of ${data.starts_at} is at ${edge?.sequence}, expected ${expected}`,
					);
				}
			},
		};

		async function state(): Promise<Stored> {
			const [text] = await storage.read("objects", [event]);
			assert.ok(typeof text === "string");
			const edges = await storage.read(
				"edges",
				[group, other].map((from) => ({ mapping, from, to: event })),
			);
			const outbox = await storage.pendingEntries({
				olderThanMs: 0,
				limit: 50,
			});
			return {
				data: parseJsonObject(text) as JsonObject,
				edges: edges as readonly (Edge | null)[],
				outbox,
			};
		}
	}

	function sequenceFor(content: JsonObject): number {
		assert.ok(mapping.orderedBy);
		return sequenceOfValue(mapping, mapping.orderedBy, content);
	}

	async function make(
		shard: number,
		type: string,
		contents: readonly JsonObject[],
	): Promise<readonly Id[]> {
		const { result } = await storage.transact({
			shard,
			creates: contents.map((data) => ({ type, data })),
			decide: ({ created }) => ({ result: created }),
		});
		return result;
	}
}

interface Stored {
	readonly data: JsonObject;
	readonly edges: readonly (Edge | null)[];
	readonly outbox: readonly unknown[];
}
