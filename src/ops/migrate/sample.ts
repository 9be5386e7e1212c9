import { fnv1a } from "../../util/fnv1a.ts";

/** Whether a key belongs to a share of all keys, from 0 to 1: always the same ones. */
export function isSampled(key: string, share: number): boolean {
	// In FNV-1a alone, short keys that differ in their end lie close together.
	return (Math.imul(fnv1a(key), 0x9e3779b1) >>> 0) / 2 ** 32 < share;
}
