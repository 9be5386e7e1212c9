import { DAY_MS, dayOf, lastDays, OTHER, type UsageDay } from "./usageStore.ts";

/** How often, and when last. */
interface UseCount {
	readonly requests: number;
	readonly lastDay: string;
}

export interface NamedCount extends UseCount {
	readonly name: string;
}

export interface DocumentCount extends UseCount {
	/** The hash of its text; null for documents that are counted together. */
	readonly sha256: string | null;
	readonly operation: string | null;
}

/** The use of a coordinate or a document. Lists start with the most requests. */
export interface Use extends UseCount {
	readonly clients: readonly NamedCount[];
	readonly documents: readonly DocumentCount[];
}

/** Days of which usage was asked, and those that were recorded. */
export interface Period {
	readonly from: string;
	readonly to: string;
	readonly recordedDays: number;
	/** A day counts as recorded if a server with a store ran on it. */
	readonly missingDays: number;
}

export interface UsageReport {
	readonly coordinates: ReadonlyMap<string, Use>;
	/** By key (usageStore.ts). */
	readonly documents: ReadonlyMap<string, Use>;
}

/** Sums up days, of one client if that is given. */
export function reportUsage(
	days: readonly UsageDay[],
	client?: string,
): UsageReport {
	const coordinates = new Map<string, GrowingUse>();
	const documents = new Map<string, GrowingUse>();
	const isMeant = (name: string) => client === undefined || name === client;
	for (const { day, requests, fields, documents: uses } of days) {
		for (const [name, own] of requests) {
			if (!isMeant(name)) continue;
			for (const [key, count] of own) {
				add(documents, key, day, name, key, count);
				for (const coordinate of uses.get(key) ?? []) {
					add(coordinates, coordinate, day, name, key, count);
				}
			}
		}
		for (const [name, own] of fields) {
			if (!isMeant(name)) continue;
			for (const [coordinate, count] of own) {
				add(coordinates, coordinate, day, name, OTHER, count);
			}
		}
	}
	return { coordinates: finish(coordinates), documents: finish(documents) };
}

/** The use of several coordinates together. A request that used two of them may count twice. Null without any. */
export function usesTogether(uses: readonly Use[]): Use | null {
	const [first] = uses;
	if (first === undefined) return null;
	const clients = new Map<string, Growing>();
	const documents = new Map<string, Growing>();
	const all: Growing = { requests: 0, lastDay: "" };
	for (const use of uses) {
		grow(all, use.lastDay, use.requests);
		for (const { name, lastDay, requests } of use.clients) {
			grow(grown(clients, name), lastDay, requests);
		}
		for (const { sha256, operation, lastDay, requests } of use.documents) {
			const key = sha256 === null ? OTHER : keyOf(sha256, operation);
			grow(grown(documents, key), lastDay, requests);
		}
	}
	return finishOne({ all, clients, documents });
}

export function periodOf(
	days: readonly UsageDay[],
	count: number,
	now: number,
): Period {
	const asked = lastDays(count, now);
	const recorded = new Set(days.map(({ day }) => day));
	const recordedDays = asked.filter((day) => recorded.has(day)).length;
	return {
		from: dayOf(now - (count - 1) * DAY_MS),
		to: dayOf(now),
		recordedDays,
		missingDays: count - recordedDays,
	};
}

interface Growing {
	requests: number;
	lastDay: string;
}

interface GrowingUse {
	readonly all: Growing;
	readonly clients: Map<string, Growing>;
	readonly documents: Map<string, Growing>;
}

function add(
	to: Map<string, GrowingUse>,
	name: string,
	day: string,
	client: string,
	document: string,
	count: number,
): void {
	const use = to.get(name) ?? {
		all: { requests: 0, lastDay: "" },
		clients: new Map(),
		documents: new Map(),
	};
	to.set(name, use);
	grow(use.all, day, count);
	grow(grown(use.clients, client), day, count);
	grow(grown(use.documents, document), day, count);
}

function grown(to: Map<string, Growing>, name: string): Growing {
	const known = to.get(name) ?? { requests: 0, lastDay: "" };
	to.set(name, known);
	return known;
}

function grow(to: Growing, day: string, requests: number): void {
	to.requests += requests;
	if (day > to.lastDay) to.lastDay = day;
}

function finish(
	all: ReadonlyMap<string, GrowingUse>,
): ReadonlyMap<string, Use> {
	return new Map(
		[...all]
			.toSorted(([a], [b]) => (a < b ? -1 : 1))
			.map(([name, use]) => [name, finishOne(use)]),
	);
}

function finishOne({ all, clients, documents }: GrowingUse): Use {
	return {
		...all,
		clients: sorted(clients).map(([name, count]) => ({ name, ...count })),
		documents: sorted(documents).map(([key, count]) => ({
			...documentOf(key),
			...count,
		})),
	};
}

function sorted(
	counts: ReadonlyMap<string, Growing>,
): readonly (readonly [string, Growing])[] {
	return [...counts].toSorted(
		([nameA, a], [nameB, b]) =>
			b.requests - a.requests || (nameA < nameB ? -1 : 1),
	);
}

function keyOf(sha256: string, operation: string | null): string {
	return operation === null ? sha256 : `${sha256} ${operation}`;
}

/** The parts of a document's key. */
export function documentOf(
	key: string,
): Pick<DocumentCount, "sha256" | "operation"> {
	if (key === OTHER) return { sha256: null, operation: null };
	const [sha256 = "", operation = null] = key.split(" ");
	return { sha256, operation };
}
