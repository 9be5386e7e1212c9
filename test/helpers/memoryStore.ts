import { CorkboardError } from "../../src/errors.ts";
import type { TopologyStore } from "../../src/topology/store.ts";
import { checkPath } from "../../src/topology/store.ts";

/** What stores that stand for one process each have in common. */
export interface StoredTexts {
	readonly texts: Map<string, { text: string; revision: string }>;
	readonly watches: Set<{ path: string; hint: () => void }>;
	revisions: number;
}

export function storedTexts(): StoredTexts {
	return { texts: new Map(), watches: new Set(), revisions: 0 };
}

/** A topology store in memory, which passes the same suite as the others. */
export function memoryStore(
	stored: StoredTexts = storedTexts(),
): TopologyStore {
	const announced = new Set<string>();
	const put = (path: string, text: string | null) => {
		stored.revisions++;
		if (text === null) stored.texts.delete(path);
		else stored.texts.set(path, { text, revision: `${stored.revisions}` });
	};
	const report = (changed: readonly string[]) => {
		for (const { path, hint } of stored.watches) {
			const isBelow = (each: string) =>
				each === path || each.startsWith(`${path}/`);
			if (changed.some(isBelow)) setImmediate(hint);
		}
	};
	return {
		name: "memory",
		hasMembers: true,
		async get(path) {
			checkPath(path);
			return stored.texts.get(path) ?? null;
		},
		async list(path) {
			checkPath(path);
			const below = [...stored.texts.keys()].filter((each) =>
				each.startsWith(`${path}/`),
			);
			const names = below.map((each) =>
				each.slice(path.length + 1).replace(/\/.*/, ""),
			);
			return [...new Set(names)].sort();
		},
		async write(changes) {
			for (const { path, revision } of changes) {
				checkPath(path);
				const now = stored.texts.get(path)?.revision ?? null;
				if (now !== revision) {
					throw new CorkboardError("CONFLICT", `${path} has changed`, {
						details: { path },
					});
				}
			}
			for (const { path, text } of changes) put(path, text);
			report(changes.map(({ path }) => path));
		},
		watch(path, hint) {
			const watch = { path, hint };
			stored.watches.add(watch);
			return { [Symbol.dispose]: () => void stored.watches.delete(watch) };
		},
		announce(path) {
			checkPath(path);
			const remove = () => {
				if (announced.delete(path)) put(path, null);
				report([path]);
			};
			return {
				async set(text) {
					announced.add(path);
					put(path, text);
					report([path]);
				},
				async [Symbol.asyncDispose]() {
					remove();
				},
			};
		},
		async [Symbol.asyncDispose]() {
			for (const path of announced) put(path, null);
			report([...announced]);
			announced.clear();
		},
	};
}
