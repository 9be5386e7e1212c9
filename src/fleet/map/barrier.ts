import { setTimeout as sleep } from "node:timers/promises";
import { type Member, readMembers } from "../../topology/members.ts";
import type { TopologyStore } from "../../topology/store.ts";

/** Whether all processes serve a version. */
export interface Agreement {
	/** How it is known: members said so, or so much time has passed that they must. */
	readonly by: "members" | "time";
	/** Those who serve the version, and run no call on an older one. */
	readonly agreed: readonly Member[];
	/** Those who do not, within the time. */
	readonly missing: readonly Member[];
	/** How long it took. */
	readonly ms: number;
}

export interface BarrierOptions {
	/** Ids of members that are not waited for, because they are known to be dead. */
	readonly without?: readonly string[];
	/** How long processes take at most to switch where none can say so. Milliseconds. */
	readonly byTimeMs?: number;
	readonly signal?: AbortSignal;
}

/** Hints may be lost. */
const LOOK_MS = 250;
/** Two polls of a file, and the 30 s after which a replaced version is closed. */
const BY_TIME_MS = 32_000;

/**
 * Waits until every member serves the version or a later one and runs no call on
 * an older one, at most `ms`. A member that starts counts as missing. If the
 * store has no members, it waits for as long as a process takes at most.
 */
export async function agreed(
	store: Pick<
		TopologyStore,
		"get" | "list" | "watch" | "hasMembers" | "arrivesMs"
	>,
	version: number,
	ms: number,
	{ without = [], byTimeMs = BY_TIME_MS, signal }: BarrierOptions = {},
): Promise<Agreement> {
	const began = performance.now();
	const elapsed = () => performance.now() - began;
	if (!store.hasMembers) {
		// An operation that does not wait by time need not wait for this either.
		const ms = byTimeMs === 0 ? 0 : byTimeMs + (store.arrivesMs ?? 0);
		await sleep(ms, undefined, { ...(signal && { signal }) });
		return { by: "time", agreed: [], missing: [], ms: elapsed() };
	}
	let hinted: () => void = () => {};
	using _watch = store.watch("members", () => hinted());
	for (;;) {
		const next = new Promise<void>((resolve) => {
			hinted = resolve;
		});
		const members = await look();
		// Once more: somebody may have started while the others were read.
		const result = members.missing.length === 0 ? await look() : members;
		if (result.missing.length === 0 || elapsed() >= ms) {
			return { by: "members", ...result, ms: elapsed() };
		}
		const timer = new AbortController();
		const left = Math.min(LOOK_MS, Math.max(1, ms - elapsed()));
		await Promise.race([
			next,
			sleep(left, undefined, { signal: timer.signal }).catch(() => {}),
		]);
		timer.abort();
		signal?.throwIfAborted();
	}

	async function look(): Promise<Pick<Agreement, "agreed" | "missing">> {
		const members = (await readMembers(store)).filter(
			({ id }) => !without.includes(id),
		);
		const serves = ({ oldest }: Member) => oldest >= version;
		return {
			agreed: members.filter(serves),
			missing: members.filter((member) => !serves(member)),
		};
	}
}
