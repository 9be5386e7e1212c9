import { READ_VERBS, WALK_VERBS } from "../../src/storage/portCall.ts";
import type { KeyResult } from "../../src/storage/rows.ts";
import type {
	ReadKey,
	ReadKind,
	ReadResult,
	Storage,
	WalkKind,
} from "../../src/storage/storage.ts";
import type { CallOptions } from "../../src/trace.ts";

/** The same storage, with methods of its own. */
export function storageWith<S extends Storage>(storage: S, own: Partial<S>): S {
	return new Proxy(storage, {
		get(target, name) {
			if (Object.hasOwn(own, name)) return own[name as keyof S];
			const value: unknown = Reflect.get(target, name, target);
			return typeof value === "function" ? value.bind(target) : value;
		},
	});
}

export type OwnReads = {
	readonly [K in ReadKind]?: (
		keys: readonly ReadKey<K>[],
		call?: CallOptions,
	) => Promise<readonly KeyResult<ReadResult<K>>[]>;
};

/** The reads of the storage, those of some kinds done otherwise. */
export function readsWith(storage: Storage, own: OwnReads): Storage["read"] {
	const read = storage.read.bind(storage);
	return <K extends ReadKind>(
		kind: K,
		keys: readonly ReadKey<K>[],
		call?: CallOptions,
	) => {
		const other: OwnReads[K] | undefined = own[kind];
		return other === undefined ? read(kind, keys, call) : other(keys, call);
	};
}

/** What a call of the port is named in metrics. */
export function verbOf(
	name: string | symbol,
	[kind]: readonly unknown[],
): string {
	if (name === "read") return READ_VERBS[kind as ReadKind];
	if (name === "walk") return WALK_VERBS[kind as WalkKind];
	return String(name);
}
