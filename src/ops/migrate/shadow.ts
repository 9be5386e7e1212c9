import { isDeepStrictEqual } from "node:util";
import { CorkboardError } from "../../errors.ts";
import { readDecisive } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";
import { didYouMean } from "../../util/nearest.ts";
import type { Pace } from "../../util/pace.ts";
import { reasonOf } from "../../util/reasonOf.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import { partsOfKey } from "./keys.ts";
import type { Conversion, Row, Value } from "./mapping.ts";
import type { TablePlan } from "./plan.ts";
import { isSampled } from "./sample.ts";
import type { Screen, Screens } from "./screens.ts";
import type { Source } from "./sources/source.ts";
import { readValue } from "./values.ts";

export interface ScreenReport {
	readonly name: string;
	/** Objects for which it was shown on both sides. */
	readonly samples: number;
	readonly equal: number;
	readonly differ: number;
	/** Sampled rows whose object is not here. */
	readonly notHere: number;
	/** The first of those that differ. */
	readonly differences: readonly ScreenDifference[];
}

interface ScreenDifference {
	/** `Photo:8123` */
	readonly key: string;
	readonly id: Id;
	/** `order`: the same rows in another order. */
	readonly kind: "count" | "order" | "value" | "error";
	/** The number of the row, from 1; null if the whole differs. */
	readonly row: number | null;
	readonly field: string | null;
	readonly there: JsonValue;
	readonly here: JsonValue;
}

export interface Shown {
	readonly data?: unknown;
	readonly errors?: readonly { readonly message: string }[] | undefined;
}

interface ShadowOptions {
	readonly screens: Screens;
	readonly plans: readonly TablePlan[];
	readonly source: Source;
	/** Runs the document of a screen for an object. */
	readonly show: (screen: string, id: Id) => Promise<Shown>;
	/** From 0 to 1. The same share is the same objects. */
	readonly share: number;
	readonly pace?: Pace;
	readonly signal: AbortSignal;
	readonly onProgress?: (screen: string, samples: number) => void;
	/** How long the old application may take for a screen. Milliseconds. */
	readonly timeoutMs?: number;
}

/** Differences that are kept of a screen. */
const KEPT = 20;
const TIMEOUT_MS = 30_000;

/**
 * Shows screens for a share of the objects of their type, here and as the old
 * application has them, and compares the rows: their number, their order and each
 * field. Throws BAD_CONFIG for a screen that cannot be shown.
 */
export async function shadow(
	store: Store,
	options: ShadowOptions,
): Promise<readonly ScreenReport[]> {
	for (const [name, screen] of Object.entries(options.screens)) {
		checkScreen(name, screen, options.plans);
	}
	const reports: ScreenReport[] = [];
	for (const [name, screen] of Object.entries(options.screens)) {
		reports.push(await shadowScreen(store, name, screen, options));
	}
	return reports;
}

function refuse(name: string, what: string, cause?: unknown): CorkboardError {
	return new CorkboardError("BAD_CONFIG", `screens.${name}${what}`, { cause });
}

function checkScreen(
	name: string,
	{ of, sql, there, fields, rows, document }: Screen,
	plans: readonly TablePlan[],
): void {
	const types = plans.flatMap(({ kind, name }) =>
		kind === "object" ? [name] : [],
	);
	if (!types.includes(of)) {
		throw refuse(
			name,
			`.of must be a type of the mapping (${types.join(", ")}), got ${JSON.stringify(of)}.${didYouMean(String(of), types)}`,
		);
	}
	if ((sql === undefined) === (there === undefined)) {
		throw refuse(name, " needs either sql or there, and not both.");
	}
	if (typeof document !== "string" || typeof rows !== "string") {
		throw refuse(
			name,
			" needs document, a query, and rows, the path of a list or an object in its response.",
		);
	}
	if (Object.keys(fields ?? {}).length === 0) {
		throw refuse(name, ".fields names nothing to compare.");
	}
}

async function shadowScreen(
	store: Store,
	name: string,
	screen: Screen,
	{ plans, source, share, signal, ...options }: ShadowOptions,
): Promise<ScreenReport> {
	const plan = plans.find((one) => one.name === screen.of) as TablePlan;
	const counts = { samples: 0, equal: 0, differ: 0, notHere: 0 };
	const differences: ScreenDifference[] = [];
	for await (const page of source.scan(plan, {})) {
		if (signal.aborted) break;
		const keys = page.flatMap(({ row }) => {
			const line = plan.lineOf(row);
			return line === null || line.isDeleted || !isSampled(line.key, share)
				? []
				: [line.key];
		});
		const ids = await idsOf(store, keys);
		for (const key of keys) {
			const id = ids.get(key) ?? null;
			if (id === null) {
				counts.notHere++;
				continue;
			}
			await options.pace?.take(1, 0, signal).catch(() => {});
			if (signal.aborted) break;
			const given = Object.fromEntries(
				plan.key.map((column, at) => [column, partsOfKey(plan.key, key)[at]]),
			);
			const [there, shown] = await Promise.all([
				rowsThere(name, screen, given, source, options.timeoutMs),
				options.show(name, id),
			]);
			const found = await compareScreen(store, name, screen, there, shown);
			counts.samples++;
			if (found === null) counts.equal++;
			else {
				counts.differ++;
				if (differences.length < KEPT) {
					differences.push({ key, id, ...found });
				}
			}
			options.onProgress?.(name, counts.samples);
		}
	}
	return { name, ...counts, differences };
}

async function idsOf(
	{ storage }: Store,
	keys: readonly string[],
): Promise<ReadonlyMap<string, Id | null>> {
	const found = await readDecisive(
		storage,
		"lookups",
		keys.map((key) => ({ name: IMPORT_LOOKUP, key })),
	);
	return new Map(keys.map((key, at) => [key, found[at]?.id ?? null]));
}

async function rowsThere(
	name: string,
	{ sql, there }: Screen,
	key: Row,
	source: Source,
	timeoutMs = TIMEOUT_MS,
): Promise<readonly Row[]> {
	const signal = AbortSignal.timeout(timeoutMs);
	try {
		if (sql !== undefined) return await source.select(sql, key);
		const late = Promise.withResolvers<never>();
		signal.addEventListener("abort", () => late.reject(signal.reason));
		const rows = await Promise.race([there?.(key, signal), late.promise]);
		if (Array.isArray(rows)) return rows as readonly Row[];
	} catch (thrown) {
		const what = sql === undefined ? "there" : "sql";
		// What the server says of the statement; else that it does not answer.
		const isRefused =
			thrown instanceof CorkboardError && thrown.code === "BAD_CONFIG";
		const reason = reasonOf(isRefused ? (thrown.cause ?? thrown) : thrown);
		throw refuse(
			name,
			`.${what} failed for ${JSON.stringify(key)}: ${reason}`,
			thrown,
		);
	}
	throw refuse(name, ".there must return a list of rows.");
}

type Found = Omit<ScreenDifference, "key" | "id">;
type Compared = Readonly<Record<string, JsonValue>>;

/** The first difference; null if the sides are equal. */
async function compareScreen(
	store: Store,
	name: string,
	screen: Screen,
	rows: readonly Row[],
	{ data, errors = [] }: Shown,
): Promise<Found | null> {
	const none = { row: null, field: null };
	if (errors.length > 0) {
		const here = errors.map(({ message }) => message).join(" ");
		return { ...none, kind: "error", there: null, here };
	}
	const here = nodesAt(name, screen.rows, data).map((node) =>
		fieldsHere(name, screen, node),
	);
	const there = await fieldsThere(store, name, screen, rows, here);
	if (there.length !== here.length) {
		return { ...none, kind: "count", there: there.length, here: here.length };
	}
	const own = here.map((one) => JSON.stringify(one));
	const others = there.map((one) => JSON.stringify(one));
	if (isDeepStrictEqual(own, others)) return null;
	if (isDeepStrictEqual(own.toSorted(), others.toSorted())) {
		if (screen.isUnordered === true) return null;
		const at = own.findIndex((text, nth) => text !== others[nth]);
		return {
			...none,
			kind: "order",
			row: at + 1,
			there: there[at] as JsonObject,
			here: here[at] as JsonObject,
		};
	}
	return firstValue(screen, there, here);
}

function firstValue(
	{ isUnordered }: Screen,
	there: readonly Compared[],
	here: readonly Compared[],
): Found {
	const [theirs, own] = isUnordered
		? [without(there, here), without(here, there)]
		: [there, here];
	for (const [at, one] of theirs.entries()) {
		for (const [field, value] of Object.entries(one)) {
			const other = own[at]?.[field] ?? null;
			if (isDeepStrictEqual(value, other)) continue;
			return { kind: "value", row: at + 1, field, there: value, here: other };
		}
	}
	throw new TypeError("Both sides are equal.");
}

/** Those of the first list that the second one has not as often. */
function without(
	some: readonly Compared[],
	others: readonly Compared[],
): readonly Compared[] {
	const left = others.map((one) => JSON.stringify(one));
	return some.filter((one) => {
		const at = left.indexOf(JSON.stringify(one));
		if (at !== -1) left.splice(at, 1);
		return at === -1;
	});
}

/** The list at a path of a response, or the object there; none if it is null. */
function nodesAt(
	name: string,
	path: string,
	data: unknown,
): readonly unknown[] {
	const found = valueAt(data, path, (known) =>
		refuse(
			name,
			`.rows: the response has no ${path}. It has ${known.join(", ")}.`,
		),
	);
	if (found === null) return [];
	return Array.isArray(found) ? found : [found];
}

/** Null if something before is null. Throws for a name that is not there. */
function valueAt(
	given: unknown,
	path: string,
	absent: (known: readonly string[]) => CorkboardError,
): JsonValue {
	let value: unknown = given;
	for (const name of path.split(".")) {
		if (value === null || value === undefined) return null;
		if (typeof value !== "object" || !Object.hasOwn(value, name)) {
			throw absent(typeof value === "object" ? Object.keys(value) : []);
		}
		value = (value as Readonly<Record<string, unknown>>)[name];
	}
	return (value ?? null) as JsonValue;
}

function fieldsHere(name: string, { fields }: Screen, node: unknown): Compared {
	return Object.fromEntries(
		Object.keys(fields).map((field) => [
			field,
			valueAt(node, field, (known) =>
				refuse(
					name,
					`.fields: the document selects no ${field} in its rows. It selects ${known.join(", ")}.`,
				),
			),
		]),
	);
}

/** The same fields as the old rows have them. Old keys become ids. */
async function fieldsThere(
	store: Store,
	name: string,
	{ fields, sql }: Screen,
	rows: readonly Row[],
	here: readonly Compared[],
): Promise<readonly Compared[]> {
	const refersAt = new Map<string, Value>();
	for (const [field, value] of Object.entries(fields)) {
		for (const column of columnsOf(value)) {
			const [row] = rows;
			if (row === undefined || Object.hasOwn(row, column)) continue;
			throw refuse(
				name,
				`.fields.${field}: the rows of ${sql === undefined ? "there" : "sql"} have no column ${column}.${didYouMean(column, Object.keys(row))} They have ${Object.keys(row).join(", ")}.`,
			);
		}
		if (isReference(value)) refersAt.set(field, value);
	}
	const there = rows.map((row, at) =>
		Object.fromEntries(
			Object.entries(fields).map(([field, value]) => {
				const typeName = typeNameOf(here[at]?.[field] ?? null);
				return [field, readField(name, field, value, row, typeName)];
			}),
		),
	);
	if (refersAt.size === 0) return there;
	const keys = there.flatMap((one) =>
		[...refersAt.keys()].flatMap((field) =>
			typeof one[field] === "string" ? [one[field]] : [],
		),
	);
	const ids = await idsOf(store, [...new Set(keys)]);
	return there.map((one) => ({
		...one,
		...Object.fromEntries(
			[...refersAt.keys()].map((field) => {
				const key = one[field] ?? null;
				// A key that is not here stays, so that it is shown.
				return [field, ids.get(String(key)) ?? key];
			}),
		),
	}));
}

function readField(
	name: string,
	field: string,
	value: Value,
	row: Row,
	typeName: string,
): JsonValue {
	try {
		return readValue(field, value, row, typeName);
	} catch (thrown) {
		throw refuse(name, `.fields.${field}: ${reasonOf(thrown)}.`, thrown);
	}
}

function columnsOf(value: Value): readonly string[] {
	if (typeof value === "string") return [value];
	return typeof value === "function" ? [] : value.columns;
}

function isReference(value: Value): value is Conversion {
	return typeof value === "object" && value.target !== undefined;
}

/** Old databases have numbers for booleans, and texts for large numbers: the side here says what is meant. */
function typeNameOf(here: JsonValue): string {
	if (typeof here === "boolean") return "Boolean";
	return typeof here === "number" ? "Int" : "String";
}
