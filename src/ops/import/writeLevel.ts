import { activateObjects } from "../../graph/outbox/activateObjects.ts";
import type { EdgeUpdate } from "../../graph/outbox/entry.ts";
import { withTokens } from "../../graph/outbox/naturalKeys.ts";
import {
	distinctLists,
	lastSequencesOf,
} from "../../graph/store/lockedLists.ts";
import type { Store } from "../../graph/store/store.ts";
import type { WritePipeline } from "../../graph/write/pipeline.ts";
import type { Id } from "../../id/ids.ts";
import { unpackId } from "../../id/ids.ts";
import {
	globalListId,
	type Mapping,
	type ObjectType,
} from "../../model/types.ts";
import { listName } from "../../storage/keys.ts";
import {
	type Edge,
	type EdgeKey,
	type ListKey,
	PRESENT,
	type TransactionReads,
} from "../../storage/storage.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import type { BatchOutbox, ImportRun } from "./importRun.ts";
import type { BadLine } from "./lineReader.ts";
import type { Numbering } from "./numbering.ts";
import { idOf, type NewObject, nameTakenReason } from "./planBatch.ts";

/** An object with its content, on the way to its shard. */
interface PreparedObject {
	readonly object: NewObject;
	readonly content: JsonObject;
	/** Whether it has to win a name before anybody sees it. */
	readonly needsActivation: boolean;
}

/** Make objects whose references are all there: one transaction a shard. Answers the lines that came to nothing. */
export async function writeLevel(
	{ store, pipeline, numbering }: ImportRun,
	level: readonly NewObject[],
	debts: BatchOutbox,
): Promise<readonly BadLine[]> {
	const bad: BadLine[] = [];
	const byShard = new Map<number, PreparedObject[]>();
	for (const object of level) {
		const placed = prepareObject(store, numbering, object);
		if (placed === null) {
			bad.push(badLine(object, "what it refers to was not made"));
			continue;
		}
		const type = object.line.type.name;
		const shard = store.domain.placement.shardFor(
			type,
			placed.content,
			store.storage,
		);
		const some = byShard.get(shard);
		if (some === undefined) byShard.set(shard, [placed]);
		else some.push(placed);
	}
	if (byShard.size === 0) return bad;
	await numbering.open();
	const owed = await Promise.all(
		[...byShard].map(([shard, some]) =>
			createOnShard(pipeline, numbering, shard, some, debts),
		),
	);

	const waiting = [...byShard.values()]
		.flat()
		.filter(({ needsActivation: waits }) => waits);
	const { activations, failures } = await activateObjects(
		pipeline,
		waiting.map(({ object }) => object.id as Id),
	);
	for (const error of failures.values()) throw error;
	const rejected = new Set<Id>();
	for (const { object } of waiting) {
		const id = object.id as Id;
		if (activations.get(id)?.status === "active") continue;
		rejected.add(id);
		object.id = null;
		bad.push(badLine(object, nameTakenReason(object.line)));
	}
	for (const edge of owed.flat())
		if (!rejected.has(edge.to)) debts.edges.push(edge);
	return bad;
}

function badLine({ line }: NewObject, reason: string): BadLine {
	return { kind: "bad", number: line.number, reason };
}

/** The content to store; null when something it refers to is not there after all. */
function prepareObject(
	store: Store,
	numbering: Numbering,
	object: NewObject,
): PreparedObject | null {
	const { type, data } = object.line;
	const content: Record<string, JsonValue> = { ...data };
	for (const { reference, target } of object.references) {
		const id = idOf(target);
		if (id === null) return null;
		content[reference.key] = id;
	}
	const creationField = type.stored.find(
		({ field }) => field === store.domain.createdAtField,
	);
	if (creationField !== undefined) {
		content[creationField.key] ??= new Date(numbering.start).toISOString();
	}
	const named = withTokens(store, type.name, content);
	const waits = named.tokens !== undefined;
	return {
		object,
		needsActivation: waits,
		content: { ...named, ...(waits && { state: "pending" }), version: 1 },
	};
}

/** Answers the edges it owes to lists elsewhere; names and keys are owed too. */
async function createOnShard(
	pipeline: WritePipeline,
	numbering: Numbering,
	shard: number,
	placed: readonly PreparedObject[],
	debts: BatchOutbox,
): Promise<readonly EdgeUpdate[]> {
	const follows = placed.map((one) => listsOf(pipeline.store, one));
	const locked = distinctLists(
		follows.flatMap((lists, at) =>
			lists.filter((list) =>
				isWrittenHere(placed[at] as PreparedObject, list, shard),
			),
		),
	);
	const { result, row, invalidated } = await pipeline.transactWithInvalidations(
		{
			shard,
			lists: locked,
			creates: placed.map(({ object, content }) => ({
				type: object.line.type.name,
				data: content,
			})),
			decide(seen) {
				const { edges, owed } = decideListEdges(numbering, seen, locked, {
					placed,
					follows,
					shard,
				});
				const entry = {
					pendingObjects: seen.created.filter(
						(_, at) => placed[at]?.needsActivation,
					),
					lookups: placed.map(({ object }, at) => ({
						name: IMPORT_LOOKUP,
						key: object.line.key,
						id: seen.created[at] as Id,
					})),
					edges: owed,
				};
				return { result: { created: seen.created, owed }, edges, entry };
			},
		},
	);
	// What a shared cache did not acknowledge is left to the outbox worker.
	if (row !== null && invalidated) debts.entries.push(row);
	for (const [at, { object }] of placed.entries()) {
		object.id = result.created[at] as Id;
	}
	return result.owed;
}

/** The lists a new object stands on: those that follow its references, and those of all objects of its type. */
function listsOf(
	store: Store,
	{ object, content }: PreparedObject,
): readonly ListKey[] {
	const { type } = object.line;
	const lists: ListKey[] = [];
	for (const mapping of type.derivedMappings) {
		if (mapping.inverse?.kind !== "reference") continue;
		const from = content[mapping.inverse.key];
		if (typeof from === "string") lists.push({ mapping, from: from as Id });
	}
	for (const mapping of listsOfAll(store, type)) {
		lists.push({ mapping, from: globalListId(store.model, mapping) });
	}
	return lists;
}

function listsOfAll(store: Store, type: ObjectType): readonly Mapping[] {
	return [...store.model.mappings.values()].filter(
		({ from, to }) => from === null && to === type.name,
	);
}

/** Nothing leads to an object before it has won its name: then all lists wait, as debts. */
function isWrittenHere(
	{ needsActivation: waits }: PreparedObject,
	{ from }: ListKey,
	shard: number,
): boolean {
	return !waits && unpackId(from).shard === shard;
}

function decideListEdges(
	numbering: Numbering,
	seen: TransactionReads,
	locked: readonly ListKey[],
	{
		placed,
		follows,
		shard,
	}: {
		readonly placed: readonly PreparedObject[];
		readonly follows: readonly (readonly ListKey[])[];
		readonly shard: number;
	},
) {
	const tops = lastSequencesOf(locked, seen);
	const edges: (EdgeKey & Omit<Edge, "from" | "to">)[] = [];
	const owed: EdgeUpdate[] = [];
	for (const [at, one] of placed.entries()) {
		const to = seen.created[at] as Id;
		const { number } = one.object.line;
		for (const list of follows[at] ?? []) {
			const fact = { from: list.from, to, state: PRESENT, version: 1 } as const;
			if (!isWrittenHere(one, list, shard)) {
				const sequence = numbering.sequenceOf(number);
				owed.push({ ...fact, mapping: list.mapping.name, sequence });
				continue;
			}
			const key = listName(list.mapping, list.from);
			const sequence = numbering.sequenceInList(tops.get(key) ?? 0, number);
			tops.set(key, sequence);
			edges.push({ ...fact, mapping: list.mapping, sequence });
		}
	}
	return { edges, owed };
}
