import { Levels } from "../diagnostics.ts";
import type { JsonObject } from "../util/json.ts";
import { lookAgain } from "./lookAgain.ts";
import { changeText, type TopologyStore } from "./store.ts";

/**
 * What became of the last dumps for a purpose, at `dumps/PURPOSE` of the store. A dump
 * is a command that nobody scrapes, so it writes this when it ends, and serving
 * processes show it in their metrics.
 */
export interface SeenDump {
	/** `restore` */
	readonly purpose: string;
	/** When the last one was complete; null: none was. Milliseconds since 1970. */
	readonly finishedAt: number | null;
	/** When one failed last. */
	readonly failedAt: number | null;
	/** What the last complete one has, and how long its last run took. */
	readonly bytes: number | null;
	readonly seconds: number | null;
}

export type DumpEnd =
	| { readonly bytes: number; readonly seconds: number }
	| "failed";

/** The last dumps, as each watch has seen them. */
export const SEEN_DUMPS = new Levels<readonly SeenDump[]>();

const LOOK_MS = 10_000;

/** Says how a dump has ended. Throws UNAVAILABLE. */
export async function recordDump(
	store: Pick<TopologyStore, "get" | "write">,
	purpose: string,
	end: DumpEnd,
	now = Date.now(),
): Promise<void> {
	await changeText(store, `dumps/${purpose}`, (text) => {
		const before = seenIn(purpose, text);
		const next =
			end === "failed"
				? { ...before, failedAt: now }
				: {
						...before,
						finishedAt: now,
						bytes: end.bytes,
						seconds: end.seconds,
					};
		return JSON.stringify(next);
	});
}

/** Looks at the last dumps of a fleet every ten seconds, until it is disposed of. */
export class DumpWatch implements AsyncDisposable {
	readonly #level: Disposable;
	readonly #looking: AsyncDisposable;
	#seen: readonly SeenDump[] = [];

	constructor(store: Pick<TopologyStore, "get" | "list">, lookMs = LOOK_MS) {
		this.#level = SEEN_DUMPS.add(() => this.#seen);
		this.#looking = lookAgain(lookMs, async () => {
			const seen: SeenDump[] = [];
			for (const purpose of await store.list("dumps")) {
				const found = await store.get(`dumps/${purpose}`);
				seen.push(seenIn(purpose, found?.text ?? null));
			}
			this.#seen = seen;
		});
	}

	async [Symbol.asyncDispose](): Promise<void> {
		this.#level[Symbol.dispose]();
		await this.#looking[Symbol.asyncDispose]();
	}
}

function seenIn(purpose: string, text: string | null): SeenDump {
	const said: JsonObject = text === null ? {} : JSON.parse(text);
	const number = (name: keyof SeenDump) => {
		const value = said[name];
		return typeof value === "number" ? value : null;
	};
	return {
		purpose,
		finishedAt: number("finishedAt"),
		failedAt: number("failedAt"),
		bytes: number("bytes"),
		seconds: number("seconds"),
	};
}
