import type { EdgeUpdate } from "../../graph/outbox/entry.ts";
import { isInvalidation } from "../../graph/outbox/hostBreakers.ts";
import { activateObjects } from "../../graph/outbox/parts/activateObjects.ts";
import { withTokens } from "../../graph/outbox/parts/naturalKeys.ts";
import {
	derivedLists,
	sequenceByContent,
} from "../../graph/store/derivedLists.ts";
import {
	distinctLists,
	lastSequencesOf,
} from "../../graph/store/lockedLists.ts";
import type { Store } from "../../graph/store/store.ts";
import type { WritePipeline } from "../../graph/write/pipeline.ts";
import type { Id } from "../../id/ids.ts";
import { unpackId } from "../../id/ids.ts";
import { listName } from "../../storage/keys.ts";
import {
	type Edge,
	type EdgeKey,
	type ListKey,
	type OutboxRow,
	PRESENT,
	type TransactionReads,
} from "../../storage/rows.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import { takenKeys } from "./existingData.ts";
import type { BatchEntry, ImportRun } from "./importRun.ts";
import type { BadLine } from "./lineReader.ts";
import { type Numbering, sequenceAt } from "./numbering.ts";
import {
	idOf,
	type NewObject,
	nameTakenReason,
	type ResolvedReference,
} from "./planBatch.ts";

/** An object with the content to store. */
interface PreparedObject {
	readonly object: NewObject;
	readonly content: JsonObject;
	/** Whether it stays invisible until it has its natural keys. */
	readonly needsActivation: boolean;
}

interface WrittenLevel {
	/** Lines whose objects were not created. */
	readonly bad: readonly BadLine[];
	readonly entries: readonly BatchEntry[];
}

/** Creates objects whose references all exist, with one transaction per shard. */
export async function writeLevel(
	run: ImportRun,
	level: readonly NewObject[],
): Promise<WrittenLevel> {
	const { store, pipeline, numbering } = run;
	const bad: BadLine[] = [];
	const byShard = new Map<number, PreparedObject[]>();
	for (const object of level) {
		const prepared = prepareObject(store, numbering, object);
		if (prepared === null) {
			bad.push(badLine(object, "an object it references was not created."));
			continue;
		}
		const type = object.line.type.name;
		const shard = store.domain.placement.shardFor(
			type,
			prepared.content,
			store.storage.map,
		);
		const some = byShard.get(shard);
		if (some === undefined) byShard.set(shard, [prepared]);
		else some.push(prepared);
	}
	if (byShard.size === 0) return { bad, entries: [] };
	await numbering.open();
	const entries = await Promise.all(
		[...byShard].map(([shard, some]) => createOnShard(run, shard, some)),
	);

	const waiting = [...byShard.values()]
		.flat()
		.filter(({ needsActivation }) => needsActivation);
	const { activations, isAcknowledged } = await activate(
		pipeline,
		waiting.map(({ object }) => object.id as Id),
	);
	const rejected = new Set<Id>();
	for (const { object, content } of waiting) {
		const id = object.id as Id;
		if (activations.get(id)?.status === "active") continue;
		rejected.add(id);
		object.id = null;
		const { type } = object.line;
		const taken = await takenKeys(store, type, content, id);
		bad.push(badLine(object, nameTakenReason(type, taken)));
	}
	return {
		bad,
		entries: entries.map((entry) => ({
			...entry,
			edges: entry.edges.filter(({ to }) => !rejected.has(to)),
			isAcknowledged: entry.isAcknowledged && isAcknowledged,
		})),
	};
}

/** A cache that does not acknowledge keeps no object from becoming active. */
async function activate(pipeline: WritePipeline, ids: readonly Id[]) {
	const first = await activateObjects(pipeline, ids);
	if (first.failures.size === 0) return { ...first, isAcknowledged: true };
	for (const error of first.failures.values()) {
		if (!isInvalidation(error)) throw error;
	}
	// These are decided. Their entries stay, for the outbox worker to invalidate the caches.
	const again = await activateObjects(pipeline, [...first.failures.keys()]);
	for (const error of again.failures.values()) throw error;
	return {
		activations: new Map([...first.activations, ...again.activations]),
		isAcknowledged: false,
	};
}

function badLine({ line }: NewObject, reason: string): BadLine {
	return { kind: "bad", number: line.number, reason };
}

/** Null if an object that it references was not created. */
export function withReferences(
	data: JsonObject,
	references: readonly ResolvedReference[],
): Record<string, JsonValue> | null {
	const content: Record<string, JsonValue> = { ...data };
	for (const { reference, target } of references) {
		const id = idOf(target);
		if (id === null) return null;
		content[reference.key] = id;
	}
	return content;
}

/** Returns null if an object that it references was not created. */
function prepareObject(
	store: Store,
	numbering: Numbering,
	object: NewObject,
): PreparedObject | null {
	const { type, data } = object.line;
	const content = withReferences(data, object.references);
	if (content === null) return null;
	const creationField = type.stored.find(
		({ field }) => field === store.domain.createdAtField,
	);
	if (creationField !== undefined) {
		content[creationField.key] ??= new Date(numbering.start).toISOString();
	}
	const named = withTokens(store, type.name, content);
	const needsActivation = named.tokens !== undefined;
	return {
		object,
		needsActivation,
		content: {
			...named,
			...(needsActivation && { state: "pending" }),
			version: 1,
		},
	};
}

/** Returns the outbox entry, with natural keys, import keys and the edges of lists on other shards. */
async function createOnShard(
	{ pipeline, numbering, lease }: ImportRun,
	shard: number,
	prepared: readonly PreparedObject[],
): Promise<BatchEntry> {
	const listsByObject = prepared.map(({ object, content }) =>
		derivedLists(pipeline.store, object.line.type, content),
	);
	const locked = distinctLists(
		listsByObject.flatMap((lists, at) =>
			lists.filter((list) =>
				isWrittenHere(prepared[at] as PreparedObject, list, shard),
			),
		),
	);
	const { result, row, invalidated } = await pipeline.transactWithInvalidations(
		{
			shard,
			lists: locked,
			creates: prepared.map(({ object, content }) => ({
				type: object.line.type.name,
				data: content,
			})),
			decide(reads) {
				lease.assertNotExpired();
				const { edges, remote } = decideListEdges(numbering, reads, locked, {
					prepared,
					listsByObject,
					shard,
				});
				const entry = {
					pendingObjects: reads.created.filter(
						(_, at) => prepared[at]?.needsActivation,
					),
					lookups: prepared.map(({ object }, at) => ({
						name: IMPORT_LOOKUP,
						key: object.line.key,
						id: reads.created[at] as Id,
					})),
					edges: remote,
				};
				return { result: { created: reads.created, remote }, edges, entry };
			},
		},
	);
	for (const [at, { object }] of prepared.entries()) {
		object.id = result.created[at] as Id;
	}
	return {
		// It holds the import keys.
		row: row as OutboxRow,
		edges: result.remote,
		isAcknowledged: invalidated,
	};
}

/** No edge leads to an object that is not active yet, so its list edges wait in the outbox. */
function isWrittenHere(
	{ needsActivation }: PreparedObject,
	{ from }: ListKey,
	shard: number,
): boolean {
	return !needsActivation && unpackId(from).shard === shard;
}

function decideListEdges(
	numbering: Numbering,
	reads: TransactionReads,
	locked: readonly ListKey[],
	{
		prepared,
		listsByObject,
		shard,
	}: {
		readonly prepared: readonly PreparedObject[];
		readonly listsByObject: readonly (readonly ListKey[])[];
		readonly shard: number;
	},
) {
	const lastSequences = lastSequencesOf(locked, reads);
	const edges: (EdgeKey & Omit<Edge, "from" | "to">)[] = [];
	const remote: EdgeUpdate[] = [];
	for (const [at, one] of prepared.entries()) {
		const to = reads.created[at] as Id;
		const { number, at: time } = one.object.line;
		const timed = time === null ? null : sequenceAt(time, number);
		for (const list of listsByObject[at] ?? []) {
			const state = {
				from: list.from,
				to,
				state: PRESENT,
				version: 1,
			} as const;
			const own = sequenceByContent(list.mapping, one.content);
			if (!isWrittenHere(one, list, shard)) {
				const sequence = own ?? timed ?? numbering.sequenceOf(number);
				remote.push({ ...state, mapping: list.mapping.name, sequence });
				continue;
			}
			const key = listName(list.mapping, list.from);
			const last = lastSequences.get(key) ?? 0;
			const sequence = own ?? timed ?? numbering.sequenceInList(last, number);
			lastSequences.set(key, Math.max(last, sequence));
			edges.push({ ...state, mapping: list.mapping, sequence });
		}
	}
	return { edges, remote };
}
