import type { JobStore } from "./jobStore.ts";
import type { RotationStore } from "./rotationStore.ts";

type Store = JobStore & RotationStore;

/** How long the last calls of a replaced store may run before it is closed. Milliseconds. */
const DRAIN_MS = 30_000;

interface Version {
	readonly store: Store;
	readonly running: Set<Promise<unknown>>;
}

/**
 * A job store whose hosts can change while it is used: one store for each
 * version of the topology. A call ends on the version it began with.
 */
export class ReloadableJobStore implements JobStore, RotationStore {
	#current: Version;
	readonly #retired = new Set<Promise<void>>();

	constructor(first: Store) {
		this.#current = { store: first, running: new Set() };
	}

	/** New calls go to this store. The former one is closed when its calls have ended. */
	switchTo(store: Store): void {
		const former = this.#current;
		this.#current = { store, running: new Set() };
		const retiring = retire(former).finally(() =>
			this.#retired.delete(retiring),
		);
		this.#retired.add(retiring);
	}

	get shards(): readonly number[] {
		return this.#current.store.shards;
	}

	get openShards(): readonly number[] {
		return this.#current.store.openShards;
	}

	hostOf(shard: number): string | null {
		return this.#current.store.hostOf(shard);
	}

	now(...call: Parameters<JobStore["now"]>): ReturnType<JobStore["now"]> {
		return this.#run((store) => store.now(...call));
	}

	enqueue(
		...call: Parameters<JobStore["enqueue"]>
	): ReturnType<JobStore["enqueue"]> {
		return this.#run((store) => store.enqueue(...call));
	}

	turn(...call: Parameters<JobStore["turn"]>): ReturnType<JobStore["turn"]> {
		return this.#run((store) => store.turn(...call));
	}

	renew(...call: Parameters<JobStore["renew"]>): ReturnType<JobStore["renew"]> {
		return this.#run((store) => store.renew(...call));
	}

	expire(
		...call: Parameters<JobStore["expire"]>
	): ReturnType<JobStore["expire"]> {
		return this.#run((store) => store.expire(...call));
	}

	hasExpired(
		...call: Parameters<JobStore["hasExpired"]>
	): ReturnType<JobStore["hasExpired"]> {
		return this.#run((store) => store.hasExpired(...call));
	}

	due(...call: Parameters<JobStore["due"]>): ReturnType<JobStore["due"]> {
		return this.#run((store) => store.due(...call));
	}

	find(...call: Parameters<JobStore["find"]>): ReturnType<JobStore["find"]> {
		return this.#run((store) => store.find(...call));
	}

	scan(...call: Parameters<JobStore["scan"]>): ReturnType<JobStore["scan"]> {
		return this.#run((store) => store.scan(...call));
	}

	change(
		...call: Parameters<JobStore["change"]>
	): ReturnType<JobStore["change"]> {
		return this.#run((store) => store.change(...call));
	}

	count(...call: Parameters<JobStore["count"]>): ReturnType<JobStore["count"]> {
		return this.#run((store) => store.count(...call));
	}

	diskBytes(
		...call: Parameters<JobStore["diskBytes"]>
	): ReturnType<JobStore["diskBytes"]> {
		return this.#run((store) => store.diskBytes(...call));
	}

	queues(
		...call: Parameters<JobStore["queues"]>
	): ReturnType<JobStore["queues"]> {
		return this.#run((store) => store.queues(...call));
	}

	queuesOn(
		...call: Parameters<JobStore["queuesOn"]>
	): ReturnType<JobStore["queuesOn"]> {
		return this.#run((store) => store.queuesOn(...call));
	}

	put(...call: Parameters<JobStore["put"]>): ReturnType<JobStore["put"]> {
		return this.#run((store) => store.put(...call));
	}

	drop(...call: Parameters<JobStore["drop"]>): ReturnType<JobStore["drop"]> {
		return this.#run((store) => store.drop(...call));
	}

	createTables(
		...call: Parameters<JobStore["createTables"]>
	): ReturnType<JobStore["createTables"]> {
		return this.#run((store) => store.createTables(...call));
	}

	missingTables(
		...call: Parameters<JobStore["missingTables"]>
	): ReturnType<JobStore["missingTables"]> {
		return this.#run((store) => store.missingTables(...call));
	}

	takeRound(
		...call: Parameters<Store["takeRound"]>
	): ReturnType<Store["takeRound"]> {
		return this.#run((store) => store.takeRound(...call));
	}

	endRound(
		...call: Parameters<Store["endRound"]>
	): ReturnType<Store["endRound"]> {
		return this.#run((store) => store.endRound(...call));
	}

	spans(...call: Parameters<Store["spans"]>): ReturnType<Store["spans"]> {
		return this.#run((store) => store.spans(...call));
	}

	ahead(...call: Parameters<Store["ahead"]>): ReturnType<Store["ahead"]> {
		return this.#run((store) => store.ahead(...call));
	}

	moveOn(...call: Parameters<Store["moveOn"]>): ReturnType<Store["moveOn"]> {
		return this.#run((store) => store.moveOn(...call));
	}

	giveBack(
		...call: Parameters<Store["giveBack"]>
	): ReturnType<Store["giveBack"]> {
		return this.#run((store) => store.giveBack(...call));
	}

	dropEmpty(
		...call: Parameters<Store["dropEmpty"]>
	): ReturnType<Store["dropEmpty"]> {
		return this.#run((store) => store.dropEmpty(...call));
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await Promise.all([
			...this.#retired,
			this.#current.store[Symbol.asyncDispose](),
		]);
	}

	#run<T>(call: (store: Store) => Promise<T>): Promise<T> {
		const { store, running } = this.#current;
		const result = call(store);
		const ended = result.then(
			() => void running.delete(ended),
			() => void running.delete(ended),
		);
		running.add(ended);
		return result;
	}
}

async function retire({ store, running }: Version): Promise<void> {
	let timer: NodeJS.Timeout | undefined;
	await Promise.race([
		Promise.all(running),
		new Promise((resolve) => {
			timer = setTimeout(resolve, DRAIN_MS);
		}),
	]);
	clearTimeout(timer);
	await store[Symbol.asyncDispose]();
}
