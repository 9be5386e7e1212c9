import {
	readDecisive,
	readUncachedObjects,
} from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import { keyOfContent, type ObjectType } from "../../model/types.ts";
import type { LookupKey, LookupRow } from "../../storage/rows.ts";
import { DECISIVE } from "../../trace.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import { isImportKey, type Line, type ObjectLine } from "./lineReader.ts";
import type { RawLine } from "./readBatches.ts";
import { readToken } from "./revision.ts";

/** What existed before a batch, of what its lines name. */
export interface ExistingData {
	/** By import key. */
	readonly ids: ReadonlyMap<string, Id>;
	/** The tokens of import keys (revision.ts). */
	readonly tokens: ReadonlyMap<string, string>;
	/** Natural keys that objects have, as `naturalKeyText` writes them. */
	readonly taken: ReadonlySet<string>;
	/** The content of objects whose owner new objects inherit, or which must have the same parent. */
	readonly contents: ReadonlyMap<Id, JsonObject | null>;
}

/** The lookup rows of import keys; null for a key that no object has. */
export type KnownKeys = ReadonlyMap<string, LookupRow | null>;

/** Looks at the lines that say their revision. Makes one storage call, or none. */
export async function readKnownKeys(
	store: Store,
	lines: readonly RawLine[],
): Promise<KnownKeys> {
	const keys = new Set<string>();
	for (const line of lines) {
		if (typeof line !== "string" && "rev" in line && isImportKey(line.key)) {
			keys.add(line.key);
		}
	}
	const all = [...keys];
	if (all.length === 0) return new Map();
	const rows = await readDecisive(
		store.storage,
		"lookups",
		all.map((key) => ({ name: IMPORT_LOOKUP, key })),
	);
	return new Map(all.map((key, at) => [key, rows[at] ?? null]));
}

/** Whether a line says nothing new of its object. */
export function isUnchanged(line: RawLine, known: KnownKeys): boolean {
	if (typeof line === "string" || !("rev" in line)) return false;
	const row = known.get(line.key) ?? null;
	return row !== null && readToken(row.token).rev === line.rev;
}

/** Makes two storage calls, whatever the number of lines: one for all keys, one for the objects. A third if references are parts of natural keys: those need ids. */
export async function readExistingData(
	store: Store,
	lines: readonly Line[],
	known: KnownKeys,
	/** The import keys of the objects whose content decides about a line. */
	neededContents: (line: ObjectLine) => readonly string[],
): Promise<ExistingData> {
	const imported = new Set<string>();
	const natural = new Map<string, LookupKey>();
	const needed = new Set<string>();
	for (const line of lines) {
		if (line.kind === "edge") {
			imported.add(line.from).add(line.to);
		} else if (line.kind === "object") {
			imported.add(line.key);
			for (const { key } of line.references) imported.add(key);
			for (const key of naturalKeys(line, NO_IDS)) {
				natural.set(naturalKeyText(key), key);
			}
			for (const key of neededContents(line)) needed.add(key);
		}
	}
	const keys = [...imported].filter((key) => !known.has(key));
	const wanted = [
		...keys.map((key) => ({ name: IMPORT_LOOKUP, key })),
		...natural.values(),
	];
	const rows = await readDecisive(store.storage, "lookups", wanted);
	const ids = new Map<string, Id>();
	const tokens = new Map<string, string>();
	const asked = new Map(keys.map((key, at) => [key, rows[at] ?? null]));
	for (const key of imported) {
		const row = known.get(key) ?? asked.get(key) ?? null;
		if (row === null) continue;
		ids.set(key, row.id);
		tokens.set(key, row.token);
	}
	const holders = rows.slice(keys.length).filter((row) => row !== null);
	const ofReferences = new Map<string, LookupKey>();
	for (const line of lines) {
		if (line.kind !== "object") continue;
		for (const key of naturalKeys(line, (one) => ids.get(one) ?? null)) {
			const text = naturalKeyText(key);
			if (!natural.has(text)) ofReferences.set(text, key);
		}
	}
	if (ofReferences.size > 0) {
		const found = await readDecisive(store.storage, "lookups", [
			...ofReferences.values(),
		]);
		holders.push(...found.filter((row) => row !== null));
	}
	const contents = await readUncachedObjects(
		store,
		[
			...holders.map(({ id }) => id),
			...[...needed].flatMap((key) => ids.get(key) ?? []),
		],
		DECISIVE,
	);
	return {
		ids,
		tokens,
		// The natural key of a rejected object is free: another object may reserve it.
		taken: new Set(
			holders
				.filter(({ id }) => {
					const data = contents.get(id) ?? null;
					return data !== null && data.state !== "rejected";
				})
				.map(naturalKeyText),
		),
		contents,
	};
}

/** The natural keys of an object's line, normalized. `idOf` says what stands for the object of an import key; null: keys with it are left out. */
export function naturalKeys(
	{ type, data, references }: ObjectLine,
	idOf: (key: string) => string | null,
): readonly LookupKey[] {
	if (type.lookups.length === 0) return [];
	const content: Record<string, JsonValue> = { ...data };
	for (const { reference, key } of references) {
		content[reference.key] = idOf(key);
	}
	return keysOfContent(type, content);
}

/** No object of an import key is known. */
const NO_IDS = () => null;

function keysOfContent(
	{ lookups }: ObjectType,
	content: JsonObject,
): readonly LookupKey[] {
	return lookups.flatMap((lookup) => {
		const key = keyOfContent(lookup, content);
		return key === null ? [] : [{ name: lookup.name, key }];
	});
}

/** The natural keys of this content that other objects have than its own. */
export async function takenKeys(
	store: Store,
	type: ObjectType,
	content: JsonObject,
	own: Id,
): Promise<readonly LookupKey[]> {
	const names = keysOfContent(type, content);
	const rows = await readDecisive(store.storage, "lookups", names);
	return names.filter((_, at) => {
		const row = rows[at] ?? null;
		return row !== null && row.id !== own;
	});
}

export function naturalKeyText({ name, key }: LookupKey): string {
	return `${name} ${key}`;
}
