import { derivedLists } from "../graph/store/derivedLists.ts";
import type { Store } from "../graph/store/store.ts";
import {
	listsLeftBy,
	partReference,
	unlistedOwner,
} from "../graph/write/archiveJobs.ts";
import { type Id, packId, unpackId } from "../id/ids.ts";
import type { Mapping, ObjectType } from "../model/types.ts";
import { databaseOfShard, shardOfList } from "../storage/feedShards.ts";
import { type Edge, PRESENT } from "../storage/rows.ts";
import type { Table } from "../storage/statements/tables.ts";
import { parseJsonObject } from "../storage/storedObject.ts";
import type { JsonObject } from "../util/json.ts";
import type { Database } from "./databases.ts";
import type { DumpFiles } from "./files/dumpFiles.ts";
import type { FileCipher } from "./files/fileCipher.ts";
import { readLines } from "./lineFiles.ts";
import type { Dump } from "./manifest.ts";
import type { StoredRow } from "./source/dumpSource.ts";
import { rowIn } from "./storedLines.ts";

export interface DumpedGraphOptions {
	readonly store: Store;
	readonly files: DumpFiles;
	readonly cipher: FileCipher | null;
	readonly dump: Dump;
	readonly databases: readonly Database[];
	readonly signal: AbortSignal;
}

/** An object as it was dumped. */
export interface DumpedObject {
	readonly id: Id;
	readonly type: ObjectType;
	readonly data: JsonObject;
}

export interface DumpedEdge extends Edge {
	readonly mapping: Mapping;
}

/** Some objects of a dump, and what would be archived with them: their parts, and the edges of their lists. */
export interface DumpedPart {
	/** Those whose parts they are come first. */
	readonly objects: readonly DumpedObject[];
	/** Present edges of their own lists, but for those of parts. */
	readonly edges: readonly DumpedEdge[];
	/** Where the objects were on the lists that follow their content. */
	readonly derived: readonly DumpedEdge[];
}

/** Reads what belongs to an object. Only files that may have some of it are read. Throws BAD_DATA. */
export async function readPart(
	options: DumpedGraphOptions,
	root: Id,
): Promise<DumpedPart> {
	const { store } = options;
	const { domain } = store;
	const objects = new Map<Id, DumpedObject>();
	let level = new Set<Id>([root]);
	while (level.size > 0) {
		const found = await readObjects(options, level);
		for (const object of found) objects.set(object.id, object);
		const next = new Set<Id>();
		for (const [type, some] of Map.groupBy(found, (each) => each.type)) {
			const parts = type.mappings.filter(
				(mapping) => partReference(domain, mapping) !== null,
			);
			const ids = new Set(some.map(({ id }) => id));
			for (const { to } of await readLists(options, parts, ids)) next.add(to);
		}
		if (objects.size > 0 && level.has(root)) {
			for (const id of await readUnlisted(options, root)) next.add(id);
		}
		level = new Set([...next].filter((id) => !objects.has(id)));
	}
	const all = [...objects.values()];
	const edges: DumpedEdge[] = [];
	const wanted = new Map<Mapping, Map<Id, Set<Id>>>();
	for (const [type, some] of Map.groupBy(all, (each) => each.type)) {
		const lists = listsLeftBy(store, type).filter(
			(mapping) =>
				partReference(domain, mapping) === null &&
				// What is shown in a home feed is made anew.
				mapping.place !== "FEEDS",
		);
		const ids = new Set(some.map(({ id }) => id));
		edges.push(...(await readLists(options, lists, ids)));
		for (const { id, data } of some) {
			for (const { mapping, from } of derivedLists(store, type, data)) {
				// Lists of the whole graph and by prefix have their own order.
				if (mapping.from === null) continue;
				const byFrom = wanted.get(mapping) ?? new Map<Id, Set<Id>>();
				wanted.set(mapping, byFrom);
				byFrom.set(from, (byFrom.get(from) ?? new Set()).add(id));
			}
		}
	}
	const derived: DumpedEdge[] = [];
	for (const [mapping, byFrom] of wanted) {
		const found = await readLists(options, [mapping], new Set(byFrom.keys()));
		derived.push(
			...found.filter(({ from, to }) => byFrom.get(from)?.has(to) === true),
		);
	}
	return { objects: all, edges, derived };
}

async function readObjects(
	options: DumpedGraphOptions,
	ids: ReadonlySet<Id>,
): Promise<readonly DumpedObject[]> {
	const { model } = options.store;
	const found: DumpedObject[] = [];
	const byPlace = Map.groupBy(ids, (id) => {
		const { shard, type } = unpackId(id);
		return `${shard} ${type}`;
	});
	for (const some of byPlace.values()) {
		const { shard, type: number } = unpackId(some[0] as Id);
		const type = model.objectsByNumber.get(number);
		if (type === undefined) continue;
		const wanted = new Map(
			some.map((id) => [String(unpackId(id).local), id] as const),
		);
		for await (const [local, text] of rows(
			options,
			databaseOfShard(shard),
			type.table,
		)) {
			const id = wanted.get(local ?? "");
			const data = id === undefined ? null : parseJsonObject(text ?? "");
			// Neither deleted then, nor waiting for its names.
			if (id === undefined || data === null || data.state !== undefined)
				continue;
			if (options.store.domain.visibility.goneFrom(type.name, data) !== null)
				continue;
			found.push({ id, type, data });
		}
	}
	return found;
}

/** Present edges of some lists of these owners. */
async function readLists(
	options: DumpedGraphOptions,
	mappings: readonly Mapping[],
	owners: ReadonlySet<Id>,
): Promise<readonly DumpedEdge[]> {
	const { storage } = options.store;
	const edges: DumpedEdge[] = [];
	for (const mapping of mappings) {
		const byShard = Map.groupBy(owners, (from) =>
			shardOfList({ mapping, from }, storage),
		);
		for (const shard of byShard.keys()) {
			for await (const row of rows(
				options,
				databaseOfShard(shard),
				mapping.table,
			)) {
				const [from, to, sequence, state, version] = row;
				if (!owners.has(from as Id) || Number(state) !== PRESENT) continue;
				edges.push({
					mapping,
					from: from as Id,
					to: to as Id,
					sequence: Number(sequence),
					state: PRESENT,
					version: Number(version),
				});
			}
		}
	}
	return edges;
}

/** Objects of this owner that no list of its own has, such as the comments of a user. */
async function readUnlisted(
	options: DumpedGraphOptions,
	owner: Id,
): Promise<readonly Id[]> {
	const { model, domain } = options.store;
	const ownType = model.objectsByNumber.get(unpackId(owner).type);
	const found: Id[] = [];
	for (const mapping of model.mappings.values()) {
		const key = unlistedOwner({ domain, model }, mapping);
		const type = model.objects.get(mapping.to);
		const target = type?.references.find((each) => each.key === key)?.target;
		if (key === null || type === undefined || target !== ownType?.name)
			continue;
		for (const database of options.dump.databases.keys()) {
			if (!database.startsWith("db")) continue;
			const shard = Number(database.slice(-5));
			for await (const [local, text] of rows(options, database, type.table)) {
				// Most rows are not parsed.
				if (text?.includes(`"${owner}"`) !== true) continue;
				if (parseJsonObject(text)?.[key] !== owner) continue;
				found.push(packId({ shard, type: type.number, local: Number(local) }));
			}
		}
	}
	return found;
}

/** The rows of a table of a dump; none if the dump has no such database. */
async function* rows(
	{ files, cipher, dump, databases, signal }: DumpedGraphOptions,
	name: string,
	tableName: string,
): AsyncGenerator<StoredRow> {
	const dumped = dump.databases
		.get(name)
		?.tables.find((table) => table.name === tableName);
	const table: Table | undefined = databases
		.find((database) => database.name === name)
		?.tables.find((each) => each.name === tableName);
	if (dumped === undefined || table === undefined) return;
	for (const file of dumped.files) {
		for await (const lines of readLines({ files, cipher }, file)) {
			signal.throwIfAborted();
			for (const line of lines) {
				const row = rowIn(table, line);
				if (row !== null) yield row;
			}
		}
	}
}
