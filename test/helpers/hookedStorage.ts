import type { Storage } from "../../src/storage/storage.ts";
import { verbOf } from "./storageWith.ts";

/** By verb: what to do each time a call of the storage has its result, before the caller gets it; after each batch of a walk. */
export type StorageHooks = Partial<
	Readonly<Record<string, () => Promise<void>>>
>;

/** Storage that does something between two steps of its caller: another writer, at the worst moment. */
export function hookedStorage(storage: Storage, hooks: StorageHooks): Storage {
	return new Proxy(storage, {
		get(target, name) {
			const value: unknown = Reflect.get(target, name, target);
			if (typeof value !== "function") return value;
			return (...given: unknown[]) => {
				const result: unknown = value.apply(target, given);
				const hook = hooks[verbOf(name, given)];
				if (hook === undefined) return result;
				return result instanceof Promise
					? result.then(async (done) => {
							await hook();
							return done;
						})
					: walkWith(result as AsyncIterable<unknown>, hook);
			};
		},
	});
}

async function* walkWith(
	batches: AsyncIterable<unknown>,
	hook: () => Promise<void>,
): AsyncGenerator<unknown> {
	for await (const batch of batches) {
		await hook();
		yield batch;
	}
	await hook();
}
