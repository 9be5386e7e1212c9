import assert from "node:assert/strict";
import fc from "fast-check";
import type { SharedCache } from "../../src/cache/sharedCache.ts";
import { CorkboardError } from "../../src/errors.ts";
import { applyEdges } from "../../src/graph/outbox/parts/edgeUpdates.ts";
import { View } from "../../src/graph/read/view.ts";
import type { Store } from "../../src/graph/store/store.ts";
import type { Page, PageArguments } from "../../src/graph/types.ts";
import { WritePipeline } from "../../src/graph/write/pipeline.ts";
import { type Id, packId, unpackId } from "../../src/id/ids.ts";
import type { Mapping } from "../../src/model/types.ts";
import {
	type EdgeState,
	type Position,
	PRESENT,
	REMOVED,
} from "../../src/storage/rows.ts";
import type { Storage } from "../../src/storage/storage.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { verbOf } from "./storageWith.ts";
import { listOf, setEdges } from "./storing.ts";

/**
 * Several processes that page one list while it is changed. A process hears
 * of changes or keeps the heads it has read, which it may for ten seconds.
 */
export interface PagingWorld {
	/** Past all caches and hooks. */
	readonly storage: Storage;
	/** Makes the changes. */
	readonly writer: Store;
	readonly processes: readonly PagingProcess[];
	/** A list in order of POSITION. */
	readonly mapping: Mapping;
	/** Objects that anyone may see, and objects that nobody may. */
	readonly visible: readonly Id[];
	readonly hidden: readonly Id[];
	/** The object that the next list belongs to. */
	readonly nextList: () => Id;
	/** Whether Redis keeps the heads it has. */
	readonly keepShared: (keeps: boolean) => void;
	/** Called before every call of a process to the shards. */
	readonly hook: Hook;
}

export interface PagingProcess {
	readonly store: Store;
	/** Whether it hears of changes at once. */
	readonly hearsChanges: boolean;
}

export interface Hook {
	before: (verb: string) => Promise<void>;
}

export const NO_HOOK = async () => {};

/** The storage, with a call of the hook before each read. */
export function hooked(storage: Storage, hook: Hook): Storage {
	return new Proxy(storage, {
		get(target, name) {
			const value = Reflect.get(target, name, target);
			if (typeof value !== "function") return value;
			if (name !== "read") return value.bind(target);
			return async (...values: unknown[]) => {
				await hook.before(verbOf(name, values));
				return value.apply(target, values);
			};
		},
	});
}

/** Heads in Redis, which can be made to keep what they have. */
export function sharedHeads(): {
	readonly cache: SharedCache;
	readonly keep: (keeps: boolean) => void;
} {
	const values = new Map<string, string>();
	let keeps = false;
	const remove = async (keys: readonly string[]) => {
		if (!keeps) for (const key of keys) values.delete(key);
		return true;
	};
	return {
		keep(now) {
			keeps = now;
		},
		cache: {
			layer: "redis",
			hostOf: () => "memory",
			getOrLease: async (keys) =>
				keys.map((key) => {
					const value = values.get(key);
					const lease = { key, token: null };
					return value === undefined
						? { kind: "lease", lease }
						: { kind: "hit", value, lease };
				}),
			async fill(fills) {
				for (const { lease, value } of fills) {
					if (value !== null) values.set(lease.key, value);
				}
			},
			delete: remove,
			untilDeleted: async () => true,
			levels: async () => [],
			async [Symbol.asyncDispose]() {},
		},
	};
}

/** One list, the order it must have, and changes of it. */
export class ChangingList {
	readonly #world: PagingWorld;
	readonly from: Id;
	/** Present edges in the list's order. */
	readonly order: Id[] = [];
	readonly #versions = new Map<Id, number>();

	constructor(world: PagingWorld) {
		this.#world = world;
		this.from = world.nextList();
	}

	/** The first object gets the highest sequence; `gaps` are the distances from one object to the one before it. */
	async fill(objects: readonly Id[], gaps: readonly number[]): Promise<void> {
		const { storage, mapping } = this.#world;
		this.order.push(...objects);
		let sequence = 1_000_000;
		const edges = objects.toReversed().map((to, at) => {
			sequence += gaps[at] ?? 0;
			return { to, sequence };
		});
		// Edges of equal sequence are in the order of their ids.
		edges.sort(byPosition);
		this.order.splice(0, edges.length, ...edges.toReversed().map(toOf));
		await setEdges(storage, mapping, this.from, edges);
	}

	async #apply(
		to: Id,
		state: EdgeState,
		beside: { before?: Id; after?: Id } = {},
	): Promise<void> {
		const { writer, mapping } = this.#world;
		const version = (this.#versions.get(to) ?? 1) + 1;
		this.#versions.set(to, version);
		const edge = { mapping: mapping.name, from: this.from, to };
		await applyEdges(new WritePipeline(writer), [
			{ ...edge, state, version, sequence: null, ...beside },
		]);
		this.#publish();
	}

	async move(to: Id, neighbor: Id, before: boolean): Promise<void> {
		if (to === neighbor || !this.order.includes(neighbor)) return;
		await this.#apply(
			to,
			PRESENT,
			before ? { before: neighbor } : { after: neighbor },
		);
		if (this.order.includes(to)) this.order.splice(this.order.indexOf(to), 1);
		const at = this.order.indexOf(neighbor);
		this.order.splice(before ? at : at + 1, 0, to);
	}

	async remove(to: Id): Promise<void> {
		if (!this.order.includes(to)) return;
		await this.#apply(to, REMOVED);
		this.order.splice(this.order.indexOf(to), 1);
	}

	/** At the top. */
	async restore(to: Id): Promise<void> {
		if (this.order.includes(to)) return;
		await this.#apply(to, PRESENT);
		this.order.unshift(to);
	}

	/** Renumbers at an object, whether there is room beside it or not. */
	async renumber(object: Id): Promise<void> {
		const { storage, mapping } = this.#world;
		const list = { mapping, from: this.from };
		const key = { ...list, to: object };
		let done = false;
		await storage.transact({
			shard: unpackId(this.from).shard,
			lists: [list],
			edges: [key],
			decide({ edges: [edge] }) {
				if (done) return { result: null };
				done = true;
				return { result: null, renumber: [{ ...list, at: edge as Position }] };
			},
		});
		await this.#world.writer.invalidator.invalidate({ lists: [list] });
		this.#publish();
	}

	#publish(): void {
		const { processes, mapping } = this.#world;
		const changed = { lists: [{ mapping, from: this.from }] };
		for (const { store, hearsChanges } of processes) {
			if (hearsChanges) store.invalidator.invalidateLocally(changed);
		}
	}

	async page(
		process: number,
		args: Omit<PageArguments, "fields">,
		fields: PageArguments["fields"] = ALL,
	): Promise<Page> {
		const { processes, mapping } = this.#world;
		const { store } = processes[process % processes.length] as PagingProcess;
		for (let tries = 1; ; tries += 1) {
			const [page] = await new View(store, null).readPages(
				mapping,
				[this.from],
				{ ...args, fields },
			);
			if (!(page instanceof CorkboardError)) return page as Page;
			// A client tries again.
			if (page.code !== "UNAVAILABLE" || tries === 20) throw page;
		}
	}

	/** Whether the shard has the order that the changes should have led to. */
	async check(): Promise<void> {
		const { storage, mapping } = this.#world;
		const { tos, count } = await listOf(storage, mapping, this.from);
		assert.deepEqual(tos, this.order);
		assert.equal(count, this.order.length);
	}
}

/** Objects for lists, and ids that lists can have. */
export async function makeObjects(
	make: (type: string, data: JsonObject) => Promise<Id>,
): Promise<Pick<PagingWorld, "visible" | "hidden" | "nextList">> {
	const user = await make("User", { username: "pager" });
	const pinsOf = async (secret: boolean) => {
		const board = await make("Board", { name: "b", secret, user_id: user });
		const pins: Id[] = [];
		for (let n = 0; n < 26; n++) {
			const data = { details: String(n), board_id: board, user_id: user };
			pins.push(await make("Pin", data));
		}
		return { board, pins };
	};
	const { board, pins: visible } = await pinsOf(false);
	const { pins: hidden } = await pinsOf(true);
	let lists = 1_000;
	return {
		visible,
		hidden,
		nextList() {
			lists += 1;
			return packId({ ...unpackId(board), local: lists });
		},
	};
}

/** How many cases a run tries: CORKBOARD_PAGING_RUNS for a long one. */
export function pagingRuns(otherwise: number): number {
	return Number(process.env.CORKBOARD_PAGING_RUNS ?? otherwise);
}

export const ALL = {
	edges: true,
	hasNextPage: true,
	hasPreviousPage: true,
	cursors: true,
	totalCount: true,
};

export function idsOf(page: Page): readonly Id[] {
	return page.edges.map(({ node }) => {
		assert.ok(!(node instanceof CorkboardError));
		return (node as { readonly id: Id }).id;
	});
}

/** Pages from one end to the other. Returns the objects in the order they were met. */
export async function pageThrough(
	list: ChangingList,
	backward: boolean,
	next: (page: number) => Promise<{ size: number; process: number }>,
	/** Called with each page and the objects met before it. */
	onPage: (page: Page, metBefore: readonly Id[]) => void = () => {},
): Promise<readonly Id[]> {
	const met: Id[] = [];
	let cursor: string | null = null;
	for (let number = 0; ; number += 1) {
		assert.ok(number < 500, "the list does not end");
		const { size, process } = await next(number);
		const page: Page = await list.page(
			process,
			backward
				? { last: size, ...(cursor !== null && { before: cursor }) }
				: { first: size, ...(cursor !== null && { after: cursor }) },
		);
		const ids = idsOf(page);
		assert.ok(ids.length <= size);
		onPage(page, met);
		met.push(...(backward ? ids.toReversed() : ids));
		if (!(backward ? page.hasPreviousPage : page.hasNextPage)) return met;
		cursor = backward ? page.startCursor : page.endCursor;
		assert.ok(cursor !== null, "a page that continues has a cursor");
	}
}

type Change =
	| {
			readonly kind: "move" | "remove" | "restore";
			readonly object: number;
			readonly neighbor: number;
			readonly before: boolean;
	  }
	| { readonly kind: "renumber"; readonly object: number }
	| { readonly kind: "fill"; readonly process: number }
	| { readonly kind: "keep"; readonly keeps: boolean };

interface PagingCase {
	readonly edges: readonly {
		readonly gap: number;
		readonly isHidden: boolean;
		readonly isMobile: boolean;
	}[];
	readonly backward: boolean;
	readonly pages: readonly {
		readonly size: number;
		readonly process: number;
		/** Two objects that were met: the page between their cursors is read too. */
		readonly between: readonly [number, number] | null;
	}[];
	/** Changes at each moment: before each page, and before each call of a process to the shards. */
	readonly moments: readonly (readonly Change[])[];
}

const nat = fc.nat({ max: 200 });
const change: fc.Arbitrary<Change> = fc.oneof(
	{
		weight: 4,
		arbitrary: fc.record({
			kind: fc.constantFrom("move", "move", "move", "remove", "restore"),
			object: nat,
			neighbor: nat,
			before: fc.boolean(),
		}) as fc.Arbitrary<Change>,
	},
	{
		weight: 3,
		arbitrary: fc.record({ kind: fc.constant("renumber"), object: nat }),
	},
	{
		weight: 1,
		arbitrary: fc.record({ kind: fc.constant("fill"), process: nat }),
	},
	{
		weight: 1,
		arbitrary: fc.record({ kind: fc.constant("keep"), keeps: fc.boolean() }),
	},
) as fc.Arbitrary<Change>;

export const pagingCase: fc.Arbitrary<PagingCase> = fc.record({
	edges: fc.array(
		fc.record({
			gap: fc.constantFrom(0, 1, 1, 2, 7, 300, 1_000, 2_500),
			isHidden: fc.boolean(),
			isMobile: fc.boolean(),
		}),
		{ minLength: 2, maxLength: 45, size: "max" },
	),
	backward: fc.boolean(),
	pages: fc.array(
		fc.record({
			size: fc.integer({ min: 1, max: 5 }),
			process: fc.nat({ max: 1 }),
			between: fc.option(fc.tuple(nat, nat)),
		}),
		{ minLength: 1, maxLength: 12, size: "max" },
	),
	moments: fc.array(fc.array(change, { maxLength: 3, size: "max" }), {
		maxLength: 40,
		size: "max",
	}),
});

/** Every object that stays in the list, visible and unmoved, is met exactly once, in order. */
export async function checkCase(
	world: PagingWorld,
	{ edges, backward, pages, moments }: PagingCase,
): Promise<void> {
	const list = new ChangingList(world);
	world.keepShared(false);
	const pools = { true: [...world.hidden], false: [...world.visible] };
	const mobile: Id[] = [];
	const stable = new Set<Id>();
	const objects: Id[] = [];
	const gaps: number[] = [];
	for (const { gap, isHidden, isMobile } of edges) {
		const object = pools[`${isHidden}`].pop();
		if (object === undefined) continue;
		objects.push(object);
		gaps.push(gap);
		if (isMobile) mobile.push(object);
		else if (!isHidden) stable.add(object);
	}
	await list.fill(objects, gaps);
	const expected = list.order.filter((id) => stable.has(id));
	const pick = <T>(all: readonly T[], at: number) => all[at % all.length];

	async function apply(change: Change): Promise<void> {
		if (change.kind === "keep") return world.keepShared(change.keeps);
		if (change.kind === "fill") {
			const { store } = pick(world.processes, change.process) as PagingProcess;
			const key = { mapping: world.mapping, from: list.from };
			// If it joins the read that waits for this change, it ends after it.
			await Promise.race([store.readHeads([key], 5), someTurns()]);
			return;
		}
		if (change.kind === "renumber") {
			const object = pick(list.order, change.object);
			if (object !== undefined) await list.renumber(object);
			return;
		}
		const object = pick(mobile, change.object);
		if (object === undefined) return;
		if (change.kind === "remove") return list.remove(object);
		if (change.kind === "restore") return list.restore(object);
		const neighbor = pick(list.order, change.neighbor);
		if (neighbor === undefined) return;
		await list.move(object, neighbor, change.before);
	}

	async function applyAll(changes: readonly Change[]): Promise<void> {
		for (const one of changes) await apply(one);
	}

	/** Calls that nobody waits for, like fills, may outlive the last page, and the changes at their moments with them. */
	const underWay = new Set<Promise<unknown>>();
	const left = [...moments];
	/** Changes may read heads, and these calls are no moments. */
	let isChanging = false;
	const moment = async () => {
		if (isChanging) return;
		isChanging = true;
		const changes = applyAll(left.shift() ?? []);
		underWay.add(changes);
		await changes;
		isChanging = false;
	};
	/** The cursors of stable objects, from whichever page and epoch. */
	const cursors = new Map<Id, string>();
	const onPage = (page: Page, metBefore: readonly Id[]) => {
		for (const [at, id] of idsOf(page).entries()) {
			if (stable.has(id)) cursors.set(id, page.edges[at]?.cursor() as string);
		}
		// An object that was met lies before this page.
		if (metBefore.some((id) => stable.has(id))) {
			assert.ok(backward ? page.hasNextPage : page.hasPreviousPage);
		}
	};
	async function readBetween(
		process: number,
		size: number,
		ends: readonly [number, number],
	): Promise<void> {
		const known = expected.filter((id) => cursors.has(id));
		if (known.length === 0) return;
		const [after, before] = ends
			.map((end) => expected.indexOf(pick(known, end) as Id))
			.sort((a, b) => a - b) as [number, number];
		const page = await list.page(process, {
			...(backward ? { last: size } : { first: size }),
			after: cursors.get(expected[after] as Id) as string,
			before: cursors.get(expected[before] as Id) as string,
		});
		const met = idsOf(page).filter((id) => stable.has(id));
		const range = expected.slice(after + 1, before);
		assert.deepEqual(
			met,
			backward
				? range.slice(range.length - met.length)
				: range.slice(0, met.length),
		);
		assert.deepEqual([page.hasPreviousPage, page.hasNextPage], [true, true]);
	}
	world.hook.before = moment;
	try {
		const met = await pageThrough(
			list,
			backward,
			async (number) => {
				await moment();
				const page = pick(pages, number) as (typeof pages)[number];
				const { process, size, between } = page;
				if (between !== null) await readBetween(process, size, between);
				return page;
			},
			onPage,
		);
		assert.deepEqual(
			met.filter((id) => stable.has(id)),
			backward ? expected.toReversed() : expected,
		);
	} finally {
		world.hook.before = NO_HOOK;
		await Promise.allSettled(underWay);
	}
	await list.check();
}

function toOf({ to }: Position): Id {
	return to;
}

function byPosition(a: Position, b: Position): number {
	return a.sequence - b.sequence || Number(BigInt(a.to) - BigInt(b.to));
}

async function someTurns(): Promise<void> {
	for (let turn = 0; turn < 5; turn++) {
		await new Promise((resolve) => setImmediate(resolve));
	}
}
