import assert from "node:assert/strict";
import type { CorkboardError } from "../../src/errors.ts";
import { deliverEntries } from "../../src/graph/outbox/deliver.ts";
import { deliverPending } from "../../src/graph/outbox/deliverPending.ts";
import {
	type Reservation,
	reservationsOf,
} from "../../src/graph/outbox/parts/naturalKeys.ts";
import { resolveReservations } from "../../src/graph/outbox/parts/reservations.ts";
import type { Store } from "../../src/graph/store/store.ts";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import { type Id, packId, unpackId } from "../../src/id/ids.ts";
import type {
	LookupRow,
	OutboxRow,
	Transaction,
} from "../../src/storage/rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { parseStoredObject } from "../../src/storage/storedObject.ts";
import type { JsonObject } from "../../src/util/json.ts";
import type { Embedded } from "./embedded.ts";
import type { Actor, World } from "./interleavings.ts";

/** The outbox entries that changes and creations with natural keys begin with, as they are committed. */
export class BegunWrites {
	#rows: Record<"change" | "creation", PromiseWithResolvers<OutboxRow>> =
		newRows();

	clear(): void {
		this.#rows = newRows();
	}

	first(what: "change" | "creation"): Promise<OutboxRow> {
		return this.#rows[what].promise;
	}

	wrap(storage: Storage): Storage {
		return new Proxy(storage, {
			get: (target, name) => {
				if (name === "transact") {
					return (transaction: Transaction<unknown>) =>
						this.#transact(target, transaction);
				}
				const value = Reflect.get(target, name, target);
				return typeof value === "function" ? value.bind(target) : value;
			},
		});
	}

	async #transact(storage: Storage, transaction: Transaction<unknown>) {
		let entry: JsonObject | undefined;
		const done = await storage.transact({
			...transaction,
			decide(reads) {
				const writes = transaction.decide(reads);
				entry = writes.outboxEntry;
				return writes;
			},
		});
		if (entry && done.outboxKey !== null) {
			const row = { ...done.outboxKey, entry };
			if (entry.reservations) this.#rows.change.resolve(row);
			if (entry.pendingObjects) this.#rows.creation.resolve(row);
		}
		return done;
	}
}

const newRows = () => ({
	change: Promise.withResolvers<OutboxRow>(),
	creation: Promise.withResolvers<OutboxRow>(),
});

/** What a story is made of. Names get the prefix of the run. */
export interface Cast {
	/** Has the username `ann` and the address `a@x`. */
	readonly ann: Id;
	/** Has the username `ben`. */
	readonly ben: Id;
	/** One change after the other. */
	rename(name: string, id: Id, ...changes: readonly Names[]): Actor;
	create(name: string, names: Names): Actor;
	/** Delivers the entry of the first change or creation, at any time after its commit. */
	worker(of: "change" | "creation"): Actor;
	/** Releases a username that its object does not hold, as a repair does. */
	repair(name: string, username: string): Actor;
}
type Names = {
	readonly username?: string;
	readonly email?: string | null;
};
export type Story = (cast: Cast) => readonly Actor[];

const USERNAMES = ["ann", "ben", "want", "more"];
const ADDRESSES = ["a@x", "b@x"];
let worlds = 0;

export async function openWorld(
	/** Calls of the store wait for their turn, calls of the storage do not. */
	{ storage, store }: Embedded,
	begun: BegunWrites,
	story: Story,
): Promise<World> {
	begun.clear();
	const prefix = `r${worlds++}_`;
	const keys = [
		...USERNAMES.map((key) => ({ name: "username", key: prefix + key })),
		...ADDRESSES.map((key) => ({ name: "email", key: prefix + key })),
	];
	await storage.deleteOutboxEntries(
		await storage.pendingEntries({ olderThanMs: 0, limit: 1_000 }),
	);
	const named = (names: Names): JsonObject =>
		Object.fromEntries(
			Object.entries(names).map(([field, name]) => [
				field,
				name === null ? null : prefix + name,
			]),
		);
	const first = await hold(storage, store, [
		named({ username: "ann", email: "a@x" }),
		named({ username: "ben" }),
	]);
	const [ann, ben] = first as [Id, Id];
	const lastOf = unpackId(ben);

	async function state(): Promise<Stored> {
		const ids = Array.from({ length: 4 }, (_, at) =>
			packId({ ...lastOf, local: lastOf.local + at - 1 }),
		);
		const texts = await storage.read("objects", ids);
		const users = ids.flatMap((id, at): [Id, JsonObject][] => {
			const text = texts[at];
			return typeof text === "string"
				? [[id, parseStoredObject(id, text) as JsonObject]]
				: [];
		});
		const rows = (await storage.read("lookups", keys)) as (LookupRow | null)[];
		const outbox = await storage.pendingEntries({ olderThanMs: 0, limit: 50 });
		return { users, rows, outbox };
	}

	/** Acknowledged names, by the object that has to have them in the end. */
	const acknowledged: { readonly id: Id; readonly content: JsonObject }[] = [];
	/** The object of each actor that renames one. */
	const renamed = new Map<string, Id>();
	const actors = story({
		ann,
		ben,
		rename: (name, id, ...changes) => ({
			name,
			async run() {
				renamed.set(name, id);
				for (const names of changes) {
					const content = named(names);
					await createWrites(store).modify(id, (data) => ({
						...data,
						...content,
					}));
					acknowledged.push({ id, content });
				}
			},
		}),
		create: (name, names) => ({
			name,
			async run() {
				const content = named(names);
				const id = await createWrites(store).create({
					type: "User",
					data: content,
				});
				acknowledged.push({ id, content });
			},
		}),
		worker: (of) => ({
			name: "worker",
			mayWaitForEver: true,
			run: async () =>
				deliverEntries(new WritePipeline(store), [await begun.first(of)]),
		}),
		repair: (name, username) => ({
			name,
			async run() {
				const key = prefix + username;
				const [row] = await store.storage.read("lookups", [
					{ name: "username", key },
				]);
				if (!row) return;
				const writer = new WritePipeline(store);
				await resolveReservations(writer, [row as LookupRow]);
			},
		}),
	});

	return {
		prefix,
		actors,
		state,
		isPrivate({ name, mayDie = false }, verb, parameters, call) {
			// The test gives the worker its entry: nobody else reads the outbox.
			if (verb === "deleteOutboxEntries") return !mayDie;
			if (verb === "transact") {
				// An outbox entry, or a new object before a lookup leads to it.
				const [{ objects }] = parameters as [Transaction<unknown>];
				return objects === undefined;
			}
			// An object that nobody else changes before the entry of its rename is committed.
			const id = renamed.get(name);
			const renames = [...renamed.values()].filter((one) => one === id);
			return verb === "readObjects" && call === 1 && renames.length === 1;
		},
		check: (stored) => checkHolders(store, stored as Stored),
		async end(outcomes) {
			const raw = store.with({ storage });
			const deliver = () => deliverPending(new WritePipeline(raw), 0);
			for (const [name, outcome] of outcomes) {
				const isExpected =
					typeof outcome === "string" ||
					outcome.code === "CONFLICT" ||
					outcome.code === "UNAVAILABLE";
				assert.ok(
					isExpected,
					`${name}: ${(outcome as CorkboardError).message}`,
				);
			}
			assert.equal((await deliver()).undelivered, 0);
			const last = await state();
			checkHolders(store, last);
			for (const { id, content } of acknowledged) {
				if (
					acknowledged.some((one) => one.id === id && one.content !== content)
				)
					continue;
				const data = last.users.find(([one]) => one === id)?.[1];
				assert.deepEqual({ ...data, ...content }, data, `${id} lost its name`);
			}
			// A second try finds free what nobody has.
			const abandoned = abandonedRows(store, await state());
			for (const { name, key } of abandoned) {
				const take = () =>
					createWrites(raw).create({ type: "User", data: { [name]: key } });
				await assert.rejects(take(), { code: "CONFLICT" });
				await deliver();
				await take();
			}
			checkHolders(store, await state());
		},
	};
}

interface Stored {
	readonly users: readonly (readonly [Id, JsonObject])[];
	readonly rows: readonly (LookupRow | null)[];
	readonly outbox: readonly unknown[];
}

/** Users as stored once they are active, with their lookup rows. */
async function hold(
	storage: Storage,
	store: Store,
	contents: readonly JsonObject[],
): Promise<readonly Id[]> {
	const withTokens = contents.map((data, user) => ({
		...data,
		tokens: { username: `username___${user}_`, email: `email______${user}_` },
		version: 1,
	}));
	const { result: ids } = await storage.transact({
		shard: 0,
		creates: withTokens.map((data) => ({ type: "User", data })),
		decide: ({ created }) => ({ result: created }),
	});
	await storage.compareAndSetLookups(
		ids.flatMap((id, at) =>
			reservationsOf(store, id, withTokens[at] as JsonObject).map(
				({ name, key, token }) => ({
					name,
					key,
					expect: null,
					next: { id, token },
				}),
			),
		),
	);
	return ids;
}

function activeReservations(
	store: Store,
	{ users }: Stored,
): readonly Reservation[] {
	return users.flatMap(([id, data]) =>
		data.state === undefined ? reservationsOf(store, id, data) : [],
	);
}

function checkHolders(store: Store, stored: Stored): void {
	for (const { name, key, id, token } of activeReservations(store, stored)) {
		const row = stored.rows.find(
			(one) => one?.name === name && one.key === key,
		);
		assert.ok(
			row?.id === id && row.token === token,
			`${id} has the ${name} ${key}, which leads to ${row?.id ?? "nothing"}`,
		);
	}
}

/** Rows that lead to an active user who does not have the key. */
function abandonedRows(store: Store, stored: Stored): readonly LookupRow[] {
	const held = activeReservations(store, stored);
	const isRejected = (id: Id) =>
		stored.users.some(([one, { state }]) => one === id && state === "rejected");
	return stored.rows.filter(
		(row): row is LookupRow =>
			row !== null &&
			!isRejected(row.id) &&
			!held.some(
				({ name, key, id, token }) =>
					name === row.name &&
					key === row.key &&
					id === row.id &&
					token === row.token,
			),
	);
}
