import { CorkboardError } from "../../src/errors.ts";
import type { Storage } from "../../src/storage/storage.ts";

/** The end of a process at its n-th write: odd ones before it happens, even ones just after. No call is answered from then on. */
export class Death {
	isNear = false;
	hasCome = false;
	readonly #nth: number;
	#writes = 0;

	constructor(nth: number) {
		this.#nth = nth;
	}

	of(storage: Storage): Storage {
		return new Proxy(storage, {
			get: (target, name) => {
				const value: unknown = Reflect.get(target, name, target);
				if (typeof value !== "function") return value;
				// Walks are no promises.
				if (!this.isNear || name === "walk") return value.bind(target);
				return async (...given: unknown[]) => {
					if (this.isOver) throw this.failure();
					const isWrite = [
						"transact",
						"compareAndSetLookups",
						"deleteOutboxEntries",
					].includes(String(name));
					if (isWrite) this.#writes++;
					const isLast = isWrite && this.#writes === Math.ceil(this.#nth / 2);
					if (isLast && this.#nth % 2 === 1) this.#come();
					const answer: unknown = await value.apply(target, given);
					if (isLast) this.#come();
					return answer;
				};
			},
		});
	}

	/** Whether no call is answered any more. */
	protected get isOver(): boolean {
		return this.hasCome;
	}

	protected failure(): Error {
		return new Error("died here");
	}

	#come(): never {
		this.hasCome = true;
		throw this.failure();
	}
}

/** A shard that does not answer the n-th write, in the same two ways, and answers all others. */
export class Fault extends Death {
	protected override get isOver(): boolean {
		return false;
	}

	protected override failure(): Error {
		return new CorkboardError("UNAVAILABLE", "The shard does not answer.");
	}
}
