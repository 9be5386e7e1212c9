import type { JobStore } from "./jobStore.ts";
import type { RotationStore } from "./rotationStore.ts";

type Store = JobStore & RotationStore;

/** How long the last calls of a replaced store may run before it is closed. Milliseconds. */
const DRAIN_MS = 30_000;

/** The calls of a store. What a store has besides is said by the one in use. */
const CALLS = [
	"now",
	"enqueue",
	"turn",
	"renew",
	"expire",
	"hasExpired",
	"due",
	"find",
	"scan",
	"change",
	"count",
	"diskBytes",
	"queues",
	"queuesOn",
	"put",
	"drop",
	"createTables",
	"missingTables",
	"takeRound",
	"endRound",
	"spans",
	"ahead",
	"moveOn",
	"giveBack",
	"dropEmpty",
] as const satisfies readonly (keyof Store)[];

type Calls = Pick<Store, (typeof CALLS)[number]>;

interface Version {
	readonly store: Store;
	readonly running: Set<Promise<unknown>>;
}

/**
 * A job store whose hosts can change while it is used: one store for each
 * version of the topology. A call ends on the version it began with.
 */
export interface ReloadableJobStore extends JobStore, RotationStore {
	/**
	 * New calls go to this store, of that version of the topology (where nobody asks
	 * for `oldestVersion`, of any). The former one is closed when its calls have ended.
	 */
	switchTo(store: Store, version?: number): void;
	/** The oldest version on whose store a call still runs, of those that were replaced; null where none does. */
	readonly oldestVersion: number | null;
}

export function reloadableJobStore(
	first: Store,
	/** Called when `oldestVersion` may have risen. */
	onRetired: () => void = () => {},
): ReloadableJobStore {
	let current: Version = { store: first, running: new Set() };
	/** The last version of the topology that each was used for. */
	const retired = new Map<Promise<void>, number>();
	const run = async (verb: keyof Calls, call: unknown[]): Promise<unknown> => {
		const { store, running } = current;
		const result: Promise<unknown> = Reflect.apply(store[verb], store, call);
		const ended = result.then(
			() => void running.delete(ended),
			() => void running.delete(ended),
		);
		running.add(ended);
		return result;
	};
	const calls = Object.fromEntries(
		CALLS.map((verb) => [verb, (...call: unknown[]) => run(verb, call)]),
	) as unknown as Calls;
	return {
		...calls,
		get shards() {
			return current.store.shards;
		},
		get openShards() {
			return current.store.openShards;
		},
		hostOf: (shard) => current.store.hostOf(shard),
		switchTo(store, version = 0) {
			const former = current;
			current = { store, running: new Set() };
			const retiring = retire(former).finally(() => {
				retired.delete(retiring);
				onRetired();
			});
			retired.set(retiring, version - 1);
		},
		get oldestVersion() {
			return retired.size === 0 ? null : Math.min(...retired.values());
		},
		async [Symbol.asyncDispose]() {
			await Promise.all([
				...retired.keys(),
				current.store[Symbol.asyncDispose](),
			]);
		},
	};
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
