import { EMPTY_LOCK, holdersOf, keepsOrder, type Lock } from "./lock.ts";

/** How the model of a program differs from the one that a fleet's tables were made for. */
export interface LockDifference {
	/** What the program's has and the fleet's lacks: the program is newer. */
	readonly additions: readonly string[];
	/** What the fleet's has and the program's lacks: the program is older. */
	readonly unknown: readonly string[];
	/** What means one thing here and another there: the program would misread what is stored. */
	readonly contradictions: readonly string[];
	/** Both together. If there is no contradiction, each of them is a part of it. */
	readonly union: Lock;
}

const RETIRED = "retired";
const SECTIONS = ["types", "mappings", "lookups"] as const;
const KINDS = { types: "type", mappings: "mapping", lookups: "lookup" };

type Entry = Readonly<Record<string, unknown>> & {
	readonly keys?: Readonly<Record<string, string>>;
};
type Entries = Readonly<Record<string, Entry>>;

/** Compares the lock file of a program with the fleet's, null if it has none yet. */
export function compareLocks(own: Lock, fleet: Lock | null): LockDifference {
	const stored = fleet ?? EMPTY_LOCK;
	const additions: string[] = [];
	const unknown: string[] = [];
	const contradictions: string[] = [];
	const union: Record<string, Record<string, Entry>> = {};
	for (const section of SECTIONS) {
		const kind = KINDS[section];
		const ours: Entries = own[section];
		const theirs: Entries = stored[section];
		const merged: Record<string, Entry> = { ...theirs };
		for (const name of Object.keys(theirs)) {
			if (!Object.hasOwn(ours, name)) unknown.push(`the ${kind} ${name}`);
		}
		for (const [name, entry] of Object.entries(ours)) {
			const other = Object.hasOwn(theirs, name) ? theirs[name] : undefined;
			if (other === undefined) {
				additions.push(`the ${kind} ${name}`);
				merged[name] = entry;
				continue;
			}
			merged[name] = mergeEntries(`${kind} ${name}`, entry, other);
		}
		union[section] = merged;
	}
	compareHolders(own, stored, contradictions);
	return {
		additions,
		unknown,
		contradictions,
		union: union as unknown as Lock,
	};

	function mergeEntries(what: string, ours: Entry, theirs: Entry): Entry {
		const merged: Record<string, unknown> = { ...theirs, ...ours };
		for (const property of Object.keys(merged)) {
			const [mine, other] = [ours[property], theirs[property]];
			if (property === "keys") {
				merged.keys = mergeKeys(what, ours.keys ?? {}, theirs.keys ?? {});
			} else if (property === RETIRED && mine !== other) {
				(mine === true ? additions : unknown).push(
					`that the ${what} is retired`,
				);
			} else if (property === "order" && keepsOrder(other, mine)) {
				additions.push(`the order ${mine} of the ${what}`);
			} else if (property === "order" && keepsOrder(mine, other)) {
				unknown.push(`the order ${other} of the ${what}`);
				merged.order = other;
			} else if (mine !== other) {
				contradictions.push(
					`the ${property} of the ${what} is ${other ?? "none"} in the fleet, and ${mine ?? "none"} here`,
				);
			}
		}
		return merged as Entry;
	}

	function mergeKeys(
		what: string,
		ours: Readonly<Record<string, string>>,
		theirs: Readonly<Record<string, string>>,
	): Readonly<Record<string, string>> {
		const merged = { ...theirs, ...ours };
		for (const key of Object.keys(merged)) {
			const [mine, other] = [ours[key], theirs[key]];
			if (mine === other) continue;
			const named = `the key ${key} of the ${what}`;
			if (other === undefined) additions.push(named);
			else if (mine === undefined) unknown.push(named);
			else if (mine === RETIRED) additions.push(`that ${named} is retired`);
			else if (other === RETIRED) {
				unknown.push(`that ${named} is retired`);
				merged[key] = other;
			} else {
				contradictions.push(
					`${named} is ${other} in the fleet, and ${mine} here`,
				);
			}
		}
		return merged;
	}
}

/** A number or a table that one name has here and another in the fleet. */
function compareHolders(own: Lock, fleet: Lock, found: string[]): void {
	const theirs = holdersOf(fleet);
	for (const [thing, holder] of holdersOf(own)) {
		const other = theirs.get(thing);
		if (other !== undefined && other !== holder) {
			found.push(`${thing} is of ${other} in the fleet, and of ${holder} here`);
		}
	}
}
