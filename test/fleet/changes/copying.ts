import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../../src/errors.ts";
import type { Change } from "../../../src/fleet/changes/changeTypes.ts";
import { type Id, packId, unpackId } from "../../../src/id/ids.ts";
import { PRESENT } from "../../../src/storage/rows.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import type { Random } from "../../../src/util/random.ts";
import { MAPPINGS } from "../../helpers/storageModel.ts";
import { toggle } from "../../helpers/storing.ts";

const { likePin } = MAPPINGS;

/** What a follower of the changes keeps of them, and what is wrong with their order. */
export class Copy {
	readonly objects = new Map<Id, unknown>();
	readonly edges = new Set<string>();
	readonly faults: string[] = [];
	/** The last turn of each user in one run of the follower. */
	readonly #turns = new Map<Id, number>();
	changes = 0;

	beginRun(): void {
		this.#turns.clear();
	}

	add(change: Change): void {
		this.changes++;
		const { id, op, before, after, edges = [] } = change;
		assert.equal(change.shard, unpackId(id).shard);
		if (op === "delete") this.objects.delete(id);
		else if (op !== "edges") this.objects.set(id, after);
		if (change.type === "User" && op === "create") {
			this.#turns.set(id, Number(after?.name));
		}
		if (change.type === "User" && op === "update") {
			const turn = Number(after?.name);
			const last = this.#turns.get(id);
			if (Number(before?.name) !== turn - 1) {
				this.faults.push(`${id}: from ${before?.name} to ${turn}`);
			}
			if (last !== undefined && turn !== last + 1) {
				this.faults.push(`${id}: ${turn} after ${last}`);
			}
			this.#turns.set(id, turn);
		}
		for (const edge of edges) {
			const key = `${id} ${edge.to}`;
			if (edge.op === "remove") this.edges.delete(key);
			else this.edges.add(key);
		}
	}
}

/** Users whose content counts its changes, and who like and unlike pins: some hundred writes a second. */
export function startWriting(
	storage: Pick<Storage, "transact">,
	users: readonly Id[],
	random: Random,
) {
	const ended = new AbortController();
	let writes = 0;
	const working = users.map(async (user) => {
		const { shard } = unpackId(user);
		while (!ended.signal.aborted) {
			try {
				await storage.transact({
					shard,
					objects: [user],
					decide: ({ objects: [data] }) => ({
						result: null,
						objects: [
							{ id: user, data: { ...data, name: Number(data?.name) + 1 } },
						],
					}),
				});
				const pin = packId({ shard, type: 1, local: random.integer(1, 5) });
				const isLiked = random.integer(0, 1) === 0;
				await toggle(storage, likePin, user, pin, isLiked);
				writes += 2;
			} catch (thrown) {
				// Its server is dead, and another one is to take its place.
				if (!isAway(thrown)) throw thrown;
			}
			await sleep(60);
		}
	});
	const end = async () => {
		ended.abort();
		await Promise.all(working);
	};
	return { writes: () => writes, end, [Symbol.asyncDispose]: end };
}

/** What a fleet has, as `Copy` keeps it, of a key of pins and the turns of users. */
export async function contentOf(storage: Storage, pinKey: string) {
	const objects = new Map<Id, unknown>();
	const edges = new Set<string>();
	for (const shard of [0, 1, 2, 3]) {
		for (const [type, key] of [
			["Pin", pinKey],
			["User", "name"],
		] as const) {
			for await (const rows of storage.walk("objects", shard, type)) {
				for (const { id, data } of rows) {
					objects.set(id, { [key]: JSON.parse(data)[key] ?? null });
				}
			}
		}
		for await (const rows of storage.walk("edges", shard, likePin)) {
			for (const { from, to, state } of rows) {
				if (state === PRESENT) edges.add(`${from} ${to}`);
			}
		}
	}
	return { objects, edges };
}

function isAway(thrown: unknown): boolean {
	return thrown instanceof CorkboardError && thrown.code === "UNAVAILABLE";
}

/** To be compared. */
export function sorted({
	objects,
	edges,
}: {
	readonly objects: ReadonlyMap<Id, unknown>;
	readonly edges: ReadonlySet<string>;
}) {
	return { objects: [...objects].toSorted(), edges: [...edges].toSorted() };
}
