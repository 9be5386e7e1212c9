import { setTimeout as sleep } from "node:timers/promises";
import type { Damage } from "./damage.ts";
import { isExplained, type PendingEntries } from "./pendingEntries.ts";

/** Reads some subjects anew, with everything they are compared with. */
export type Check<Subject> = (
	subjects: readonly Subject[],
) => Promise<readonly Damage[]>;

/** Subjects of one check, by their names. */
interface Group<Subject = unknown> {
	readonly check: Check<Subject>;
	subjects: ReadonlyMap<string, Subject>;
}

export interface Settled {
	/** Damage that no write explains. */
	readonly damage: readonly Damage[];
	/** Subjects that changed during each look, so that nothing can be said about them. */
	readonly changing: number;
}

/** How often suspects are looked at: those that a write is changing are looked at again after it. */
const LOOKS = 5;
/** Before the second look, doubled before each further one. Milliseconds. */
const FIRST_WAIT_MS = 50;
/** Subjects that are read together. */
const BATCH = 500;

/**
 * What the walk found suspicious: rows that disagree, but were read at different
 * times, beside writes. They are looked at together (docs/consistency.md,
 * "8. Verify"). A look reads them, then the outbox, then them again. Rows that
 * were the same in both readings were so while the outbox was read. If they
 * disagree and no entry names them, then nothing under way will make them agree:
 * every promise of a committed write is in the outbox until it is kept.
 */
export class Suspicions {
	readonly #groups = new Map<unknown, Group>();
	readonly #readPending: () => Promise<PendingEntries>;

	constructor(readPending: () => Promise<PendingEntries>) {
		this.#readPending = readPending;
	}

	get size(): number {
		let size = 0;
		for (const { subjects } of this.#groups.values()) size += subjects.size;
		return size;
	}

	/** Subjects of one check are kept together, so the check has to be the same function each time. */
	add<Subject>(
		check: Check<Subject>,
		subjects: ReadonlyMap<string, Subject>,
	): void {
		if (subjects.size === 0) return;
		const group = this.#groups.get(check);
		this.#groups.set(check, {
			check: check as Check<unknown>,
			subjects: new Map([...(group?.subjects ?? []), ...subjects]),
		});
	}

	/** Finds out which suspicions are damage, and forgets them all. */
	async settle(): Promise<Settled> {
		const groups = [...this.#groups.values()];
		this.#groups.clear();
		const settled = new Map<string, Damage>();
		let changing = 0;
		for (let look = 0; look < LOOKS; look++) {
			if (look > 0) await sleep(FIRST_WAIT_MS * 2 ** (look - 1));
			const before = await checkAll(groups);
			if (before.every((found) => found.size === 0)) return done(0);
			const pending = await this.#readPending();
			const after = await checkAll(groups);
			changing = 0;
			for (const [at, group] of groups.entries()) {
				const open = new Set<string>();
				for (const [name, damage] of after[at] ?? []) {
					if (settled.has(name)) continue;
					const isUnchanged =
						before[at]?.get(name)?.evidence === damage.evidence;
					const isUnderWay = isExplained(pending, damage.topics);
					if (isUnchanged && !isUnderWay) settled.set(name, damage);
					else open.add(damage.subject);
					if (!isUnchanged && !isUnderWay) changing++;
				}
				group.subjects = new Map(
					[...group.subjects].filter(([name]) => open.has(name)),
				);
			}
			if (groups.every(({ subjects }) => subjects.size === 0)) break;
		}
		return done(changing);

		function done(changing: number): Settled {
			return { damage: [...settled.values()], changing };
		}
	}
}

/** The damage of each group, by what and where it is. */
async function checkAll(
	groups: readonly Group[],
): Promise<readonly ReadonlyMap<string, Damage>[]> {
	const found: ReadonlyMap<string, Damage>[] = [];
	for (const { check, subjects } of groups) {
		const all = [...subjects.values()];
		const damages: Damage[] = [];
		for (let at = 0; at < all.length; at += BATCH) {
			damages.push(...(await check(all.slice(at, at + BATCH))));
		}
		found.push(new Map(damages.map((damage) => [nameOf(damage), damage])));
	}
	return found;
}

/** One subject may be damaged in several ways. */
function nameOf({ kind, subject, table, row, part = "" }: Damage): string {
	return [kind, subject, table, row, part].join("\n");
}
