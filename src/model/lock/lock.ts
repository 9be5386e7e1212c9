import { CorkboardError } from "../../errors.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import {
	keyFields,
	type Lookup,
	type Mapping,
	type Model,
	type ObjectType,
} from "../types.ts";

/**
 * Every name and number that was ever shipped (schema/model.lock.json). Stored
 * rows, edges and keys are found by them, so none may change its meaning. What
 * is no longer used stays as retired, and its names stay taken.
 */
export interface Lock {
	readonly types: ByName<
		Pick<ObjectType, "number" | "table"> & {
			/** By path in the stored JSON: a type, `id of` a type, or `retired`. */
			readonly keys: Readonly<Record<string, string>>;
		}
	>;
	readonly mappings: ByName<
		Pick<Mapping, "table" | "from" | "to" | "order" | "place"> & {
			/** The key of the reference that a grouped list is ordered by. */
			readonly groupBy?: string;
			/** The key of the field that a list is ordered by. */
			readonly orderBy?: string;
		}
	>;
	readonly lookups: ByName<
		Pick<Lookup, "type" | "fold"> & {
			/** The key in the stored JSON, or those of the parts, with spaces between them. */
			readonly key: string;
		}
	>;
}

type ByName<Entry> = Readonly<
	Record<string, Entry & { readonly retired?: true }>
>;

const RETIRED = "retired";

export const EMPTY_LOCK: Lock = { types: {}, mappings: {}, lookups: {} };

interface LockComparison {
	/** What the model has and the lock lacks: `schema lock` adds it. */
	readonly additions: readonly string[];
	/** Changes that would lose or misread stored data. */
	readonly breaks: readonly string[];
	/** The lock with the additions. */
	readonly next: Lock;
}

/** Compares a model with what was shipped. */
export function compareLock(lock: Lock, model: Model): LockComparison {
	const now = lockOf(model);
	const additions: string[] = [];
	const breaks: string[] = [];
	for (const section of ["types", "mappings", "lookups"] as const) {
		compareSection(section, lock[section], now[section], additions, breaks);
	}
	for (const [name, { keys }] of Object.entries(now.types)) {
		const shipped = lock.types[name];
		if (shipped === undefined) continue;
		compareKeys(name, shipped.keys, keys, additions, breaks);
	}
	compareTaken(lock, now, breaks);
	return { additions, breaks, next: merge(lock, now) };
}

/** Throws BAD_MODEL for text that is not a lock file. */
export function parseLock(text: string): Lock {
	let lock: unknown;
	try {
		lock = JSON.parse(text);
	} catch (thrown) {
		throw new CorkboardError(
			"BAD_MODEL",
			`The lock file is not JSON: ${reasonOf(thrown)}`,
			{ cause: thrown },
		);
	}
	if (!isLock(lock)) {
		throw new CorkboardError(
			"BAD_MODEL",
			"The lock file must have types with their keys, mappings and lookups, each by name.",
		);
	}
	return lock;
}

/** Checks the form only: `compareLock` compares the values with the model. */
function isLock(lock: unknown): lock is Lock {
	return (
		isRecord(lock) &&
		[lock.types, lock.mappings, lock.lookups].every(
			(section) => isRecord(section) && Object.values(section).every(isRecord),
		) &&
		Object.values(lock.types as object).every(({ keys }: { keys?: unknown }) =>
			isRecord(keys),
		)
	);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sorted, so that reordering the SDL does not change the file. */
export function printLock(lock: Lock): string {
	const types = sorted(lock.types).map(([name, type]) => [
		name,
		{ ...type, keys: Object.fromEntries(sorted(type.keys)) },
	]);
	const ordered = {
		types: Object.fromEntries(types),
		mappings: Object.fromEntries(sorted(lock.mappings)),
		lookups: Object.fromEntries(sorted(lock.lookups)),
	};
	return `${JSON.stringify(ordered, null, "\t")}\n`;
}

function lockOf({ objects, mappings, lookups }: Model): Lock {
	return {
		types: Object.fromEntries(
			[...objects.values()].map((object) => [
				object.name,
				{
					number: object.number,
					table: object.table,
					keys: Object.fromEntries([
						// A lookup without @stored has a resolver; its key is stored as text.
						...keyFields(object).map(({ key }) => [key, "String"]),
						...object.stored.flatMap(({ typesByPath }) => [...typesByPath]),
						...object.references.map(({ key, target }) => [
							key,
							`id of ${target}`,
						]),
					]),
				},
			]),
		),
		mappings: Object.fromEntries(
			[...mappings].map(
				([name, { table, from, to, order, groupedBy, orderedBy, place }]) => [
					name,
					{
						table,
						from,
						to,
						order,
						...(groupedBy && { groupBy: groupedBy.key }),
						...(orderedBy && { orderBy: orderedBy.key }),
						...(place && { place }),
					},
				],
			),
		),
		lookups: Object.fromEntries(
			[...lookups].map(([name, { type, parts, fold }]) => [
				name,
				{ type, key: parts.map(({ key }) => key).join(" "), fold },
			]),
		),
	};
}

type Entry = Readonly<Record<string, unknown>> & {
	readonly retired?: true | undefined;
};

const SINGULAR = { types: "type", mappings: "mapping", lookups: "lookup" };

function compareSection(
	section: keyof Lock,
	shipped: Readonly<Record<string, Entry>>,
	now: Readonly<Record<string, Entry>>,
	additions: string[],
	breaks: string[],
): void {
	const kind = SINGULAR[section];
	for (const [name, old] of Object.entries(shipped)) {
		const current = now[name];
		if (current === undefined) {
			if (old.retired) continue;
			breaks.push(
				`the ${kind} ${name} was removed: if that is intended, give it "retired": true in the lock`,
			);
			continue;
		}
		if (old.retired) {
			breaks.push(`the ${kind} ${name} is retired and cannot be used again`);
		}
		for (const property of new Set(
			[old, current].flatMap((entry) => Object.keys(entry)),
		)) {
			if (property === "keys" || property === "retired") continue;
			if (current[property] === old[property]) continue;
			if (property === "order" && keepsOrder(old[property], current.order)) {
				additions.push(`the order ${current.order} of the ${kind} ${name}`);
				continue;
			}
			breaks.push(
				`the ${property} of the ${kind} ${name} must stay ${old[property] ?? "none"}, got ${current[property] ?? "none"}`,
			);
		}
	}
	for (const name of Object.keys(now)) {
		if (!Object.hasOwn(shipped, name)) additions.push(`the ${kind} ${name}`);
	}
}

/** Both orders run from high sequences to low ones, so that a list that was in order of time can come to be arranged. */
export function keepsOrder(shipped: unknown, now: unknown): boolean {
	return shipped === "NEWEST_FIRST" && now === "POSITION";
}

function compareKeys(
	type: string,
	shipped: Readonly<Record<string, string>>,
	now: Readonly<Record<string, string>>,
	additions: string[],
	breaks: string[],
): void {
	for (const [key, old] of Object.entries(shipped)) {
		const current = now[key];
		if (current === undefined) {
			if (old === RETIRED) continue;
			breaks.push(
				`the key ${key} of ${type} was removed, which loses what rows store there: if that is intended, make it "retired" in the lock; if its field was renamed, name the key with @stored(key:)`,
			);
		} else if (old === RETIRED) {
			breaks.push(
				`the key ${key} of ${type} is retired and cannot be used again`,
			);
		} else if (current !== old) {
			breaks.push(`the key ${key} of ${type} must stay ${old}, got ${current}`);
		}
	}
	for (const key of Object.keys(now)) {
		if (!Object.hasOwn(shipped, key))
			additions.push(`the key ${key} of ${type}`);
	}
}

/** Finds type numbers and tables that belong to another name in the lock. */
function compareTaken(lock: Lock, now: Lock, breaks: string[]): void {
	const holders = holdersOf(lock);
	for (const [thing, holder] of holdersOf(now)) {
		const old = holders.get(thing);
		if (old === undefined || old === holder) continue;
		breaks.push(`${thing} of ${holder} is taken by ${old}`);
	}
}

/** Who has which number of a type and which table. */
export function holdersOf({
	types,
	mappings,
}: Lock): ReadonlyMap<string, string> {
	return new Map([
		...Object.entries(types).flatMap(([name, { number, table }]) => [
			[`the number ${number}`, name] as const,
			[`the table ${table}`, name] as const,
		]),
		...Object.entries(mappings).map(
			([name, { table }]) => [`the table ${table}`, name] as const,
		),
	]);
}

/** Keeps what was shipped and adds what is new. */
function merge(lock: Lock, now: Lock): Lock {
	const types = Object.entries(now.types).map(([name, type]) => {
		const shipped = lock.types[name] ?? type;
		return [name, { ...shipped, keys: { ...type.keys, ...shipped.keys } }];
	});
	return {
		types: { ...lock.types, ...Object.fromEntries(types) },
		mappings: {
			...now.mappings,
			...Object.fromEntries(
				Object.entries(lock.mappings).map(([name, shipped]) => [
					name,
					{ ...shipped, order: now.mappings[name]?.order ?? shipped.order },
				]),
			),
		},
		lookups: { ...now.lookups, ...lock.lookups },
	};
}

function sorted<T>(
	record: Readonly<Record<string, T>>,
): readonly (readonly [string, T])[] {
	return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1));
}
