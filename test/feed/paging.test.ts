import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import type { HomeFeeds } from "../../src/feed/homeFeeds.ts";
import type { PoolStore } from "../../src/feed/pools/pools.ts";
import type { Page } from "../../src/graph/types.ts";
import type { Id } from "../../src/id/ids.ts";
import { openFeedWorld, type User } from "../helpers/feedWorld.ts";

const world = await openFeedWorld();
after(() => world[Symbol.asyncDispose]());

/** Pools whose calls take so long. Milliseconds. */
function slowPools(ms: number): PoolStore {
	return new Proxy(world.pools, {
		get(target, name) {
			const method = Reflect.get(target, name);
			if (typeof method !== "function") return method;
			return async (...query: unknown[]) => {
				await sleep(ms);
				return method.apply(target, query);
			};
		},
	});
}

interface Pin {
	readonly id: Id;
	readonly by: number;
	isDeleted: boolean;
}

/** One user who scrolls on: pages until the end, then from the start again. */
class Scroll {
	readonly #device: HomeFeeds;
	readonly #user: Id;
	#cursor: string | null = null;
	#met = new Set<Id>();

	constructor(device: HomeFeeds, user: Id) {
		this.#device = device;
		this.#user = user;
	}

	/** The ids of the next page. Fails for one that this scroll has met. */
	async next(first = 7): Promise<readonly Id[]> {
		const page: Page = await world.page(this.#device, this.#user, {
			first,
			...(this.#cursor !== null && { after: this.#cursor }),
		});
		const ids = page.nodes.map((node) =>
			node !== null && "id" in node ? node.id : assert.fail(),
		);
		for (const id of ids) {
			assert.ok(!this.#met.has(id), `${id} twice in one scroll`);
			this.#met.add(id);
		}
		this.#cursor = page.endCursor ?? this.#cursor;
		if (!page.hasNextPage) this.restart();
		return ids;
	}

	get isAtStart(): boolean {
		return this.#cursor === null;
	}

	restart(): void {
		this.#cursor = null;
		this.#met = new Set();
	}
}

describe("a home feed that is paged past its end", () => {
	it("shows nothing hidden, nothing twice, and loses nothing, under follows, blocks, deletes and a slow generator", async () => {
		const runs = Number(process.env.CORKBOARD_FEED_HISTORIES ?? 8);
		const who = fc.nat(2);
		const event = fc.oneof(
			{ weight: 8, arbitrary: fc.tuple(fc.constant("page"), who) },
			{ weight: 3, arbitrary: fc.tuple(fc.constant("post"), who) },
			{ weight: 2, arbitrary: fc.tuple(fc.constant("both"), who) },
			{ weight: 1, arbitrary: fc.tuple(fc.constant("unfollow"), who) },
			{ weight: 1, arbitrary: fc.tuple(fc.constant("follow"), who) },
			{ weight: 1, arbitrary: fc.tuple(fc.constant("block"), who) },
			{ weight: 2, arbitrary: fc.tuple(fc.constant("unblock"), who) },
			{ weight: 2, arbitrary: fc.tuple(fc.constant("delete"), fc.nat(99)) },
		);
		let pages = 0;
		let later = 0;
		await fc.assert(
			fc.asyncProperty(
				fc.array(event, { minLength: 20, maxLength: 40 }),
				async (events) => {
					const bob = await world.user();
					const producers = [
						await world.user(),
						await world.user(),
						await world.user(),
					];
					const follows = [true, true, true];
					const blocks = [false, false, false];
					const pins: Pin[] = [];
					for (const { id } of producers) await world.follow(bob.id, id);
					await world.visited(bob.id);
					const post = async (by: number) => {
						const producer = producers[by] as User;
						const id = await world.pin(producer);
						pins.push({ id, by, isDeleted: false });
						// As the job of a pin does.
						if (follows[by]) await world.offer(bob.id, [id], producer.id);
					};
					for (let n = 0; n < 36; n++) await post(n % 3);
					// The third one gives up long before its pools answer, and adds later.
					const devices = [
						world.another(),
						world.another(),
						world.another({ lookMs: 2, returningMs: 2 }, slowPools(10)),
					];
					const scrolls = devices.map((device) => new Scroll(device, bob.id));
					const read = async (at: number) => {
						const before = new Set(
							pins
								.filter(({ by, isDeleted }) => isDeleted || blocks[by])
								.map(({ id }) => id),
						);
						const scroll = scrolls[at] as Scroll;
						if (!scroll.isAtStart) later++;
						const ids = await scroll.next();
						pages++;
						for (const id of ids) {
							assert.ok(!before.has(id), `${id} is shown and hidden`);
						}
					};
					for (const [what, argument] of events) {
						const by = argument % 3;
						const producer = producers[by] as User;
						if (what === "page") await read(by);
						if (what === "post") await post(by);
						if (what === "both") await Promise.all([read(0), read(1), read(2)]);
						if (what === "unfollow" && follows[by]) {
							follows[by] = false;
							await world.unfollow(bob.id, producer.id);
						}
						if (what === "follow" && !follows[by]) {
							// A blocked user cannot follow, nor be read by the job.
							if (blocks[by]) continue;
							follows[by] = true;
							await world.follow(bob.id, producer.id);
							// As the job of a follow does.
							const own = pins.filter((pin) => pin.by === by && !pin.isDeleted);
							const ids = own.map(({ id }) => id);
							await world.offer(bob.id, ids, producer.id);
						}
						if (what === "block" || what === "unblock") {
							blocks[by] = what === "block";
							await world.ask(
								producer.id,
								`mutation { ${what}User(input: {userId: "${bob.id}"}) { viewer { id } } }`,
							);
						}
						if (what === "delete") {
							const pin = pins[argument];
							if (pin === undefined || pin.isDeleted) continue;
							pin.isDeleted = true;
							await world.deletePin(producers[pin.by] as User, pin.id);
						}
					}
					for (const device of devices) await device.flush();
					// In peace: to the end, and once more from the start.
					const last = new Scroll(world.another(), bob.id);
					const shown = new Set<Id>();
					for (let round = 0; round < 2; round++) {
						do {
							for (const id of await last.next(25)) shown.add(id);
						} while (!last.isAtStart);
					}
					const rows = await world.pools.find(
						bob.id,
						pins.map(({ id }) => id),
					);
					for (const [at, { id, by, isDeleted }] of pins.entries()) {
						if (isDeleted || blocks[by]) {
							assert.ok(!shown.has(id), `${id} is shown and hidden`);
							continue;
						}
						// What was hidden when it was to be added is dropped for good, and so is what nobody follows.
						const state = rows[at]?.state;
						const isDropped = state === "dropped" || !follows[by];
						assert.ok(
							shown.has(id) || isDropped,
							`${id} is lost: ${JSON.stringify(rows[at])}`,
						);
					}
				},
			),
			{ numRuns: runs, ...(runs <= 8 && { seed: 1 }) },
		);
		assert.ok(later > pages / 4, `${later} of ${pages} pages are later ones`);
	});
});
