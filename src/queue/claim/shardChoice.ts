import { rendezvousOrder } from "../../util/rendezvous.ts";

/** Where jobs of one queue are due, as a probe found it. */
export interface DuePlace {
	readonly queue: string;
	readonly shard: number;
	/** 1 is first. */
	readonly priority: number;
	/** How long the oldest of them has been due. */
	readonly ageMs: number;
}

/** Batches in a row from one shard while another one waits. */
const MAX_IN_A_ROW = 2;
/** Younger than this, no job counts as left behind: probes see such differences by chance. */
const LEFT_BEHIND_MS = 1_000;

/**
 * Decides which shard a worker claims from next:
 *
 * 1. Queues take turns.
 * 2. Of a queue, the first priority goes first, on any shard.
 * 3. A shard whose oldest job waits more than twice as long as the median of
 *    the others goes first, even for workers that prefer others.
 * 4. Then the shards in the worker's own order, so that each shard has workers
 *    that come to it first and hardly meet others: what Pinterest's Pacer has a
 *    service for. A worker takes from the next ones when its first have nothing.
 * 5. At most two batches in a row come from one shard while another waits.
 */
export class ShardChoice {
	readonly #worker: string;
	/** When each queue had its last turn, as a count. */
	readonly #turns = new Map<string, number>();
	readonly #ranks = new Map<string, ReadonlyMap<number, number>>();
	#turn = 0;
	#last = "";
	#inARow = 0;

	constructor(
		/** Its name, which no other worker has. */
		worker: string,
	) {
		this.#worker = worker;
	}

	/** The place to claim from now, or undefined if nothing is due. `shards` are all of the queues'. */
	next<Due extends DuePlace>(
		due: readonly Due[],
		shards: readonly number[],
	): Due | undefined {
		const queue = this.#nextQueue(due);
		if (queue === undefined) return undefined;
		const ofQueue = due.filter((place) => place.queue === queue);
		const first = Math.min(...ofQueue.map(({ priority }) => priority));
		const places = ofQueue.filter(({ priority }) => priority === first);
		const chosen = this.#choose(places, shards);
		const name = `${chosen.queue} ${chosen.shard}`;
		this.#inARow = name === this.#last ? this.#inARow + 1 : 1;
		this.#last = name;
		this.#turns.set(queue, ++this.#turn);
		return chosen;
	}

	#nextQueue(due: readonly DuePlace[]): string | undefined {
		let chosen: string | undefined;
		let least = Number.POSITIVE_INFINITY;
		for (const { queue } of due) {
			const turn = this.#turns.get(queue) ?? 0;
			if (turn >= least) continue;
			least = turn;
			chosen = queue;
		}
		return chosen;
	}

	#choose<Due extends DuePlace>(
		places: readonly Due[],
		shards: readonly number[],
	): Due {
		const tired = (place: DuePlace) =>
			this.#inARow >= MAX_IN_A_ROW &&
			`${place.queue} ${place.shard}` === this.#last;
		const fresh = places.filter((place) => !tired(place));
		const candidates = fresh.length > 0 ? fresh : places;
		const leftBehind = oldestLeftBehind(candidates);
		if (leftBehind !== undefined) return leftBehind;
		const ranks = this.#ranksOf(candidates[0]?.queue ?? "", shards);
		const rank = ({ shard }: DuePlace) =>
			ranks.get(shard) ?? Number.POSITIVE_INFINITY;
		return candidates.reduce((best, place) =>
			rank(place) < rank(best) ? place : best,
		);
	}

	#ranksOf(
		queue: string,
		shards: readonly number[],
	): ReadonlyMap<number, number> {
		const key = `${queue} ${shards.join()}`;
		let ranks = this.#ranks.get(key);
		if (ranks === undefined) {
			// Ranks of a topology that is no longer in use.
			if (this.#ranks.size >= MAX_RANKS) this.#ranks.clear();
			ranks = new Map(
				rendezvousOrder(`${this.#worker} ${queue}`, shards).map(
					(shard, rank) => [shard, rank],
				),
			);
			this.#ranks.set(key, ranks);
		}
		return ranks;
	}
}

const MAX_RANKS = 1_000;

function oldestLeftBehind<Due extends DuePlace>(
	places: readonly Due[],
): Due | undefined {
	if (places.length < 2) return undefined;
	const oldest = places.reduce((one, other) =>
		other.ageMs > one.ageMs ? other : one,
	);
	const others = places
		.filter((place) => place !== oldest)
		.map(({ ageMs }) => ageMs)
		.sort((one, other) => one - other);
	const median = others[others.length >> 1] ?? 0;
	return oldest.ageMs > LEFT_BEHIND_MS && oldest.ageMs > 2 * median
		? oldest
		: undefined;
}
