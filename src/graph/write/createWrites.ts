import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import { type LookupRow, PRESENT } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import type { JsonObject } from "../../util/json.ts";
import type { EdgeUpdate } from "../outbox/entry.ts";
import {
	type Activation,
	activateObjects,
} from "../outbox/parts/activateObjects.ts";
import {
	decideEdges,
	derivedEdges,
	edgesToRead,
	splitByShard,
} from "../outbox/parts/edgeUpdates.ts";
import {
	IDEMPOTENCY_LOOKUP,
	idempotencyLookupKey,
	requestToken,
	withTokens,
} from "../outbox/parts/naturalKeys.ts";
import type { Store } from "../store/store.ts";
import type { NewObject, Writes, WrittenState } from "../types.ts";
import {
	changeObject,
	invalidateUnchanged,
	notFound,
	objectTypeOf,
} from "./changeObject.ts";
import { changeWithKeys, keyTaken } from "./changeWithKeys.ts";
import { WritePipeline } from "./pipeline.ts";
import { linksOf, setEdges } from "./setEdges.ts";

/**
 * The writes of one request. Each is one transaction on one shard, with an
 * outbox entry for all that it promises elsewhere.
 */
export function createWrites(
	store: Store,
	/** Called after each write, even after a failed one: what the request has read may be old. */
	discardReads: (written: WrittenState) => void = () => {},
	/** Its trace is given each step. Its signal is ignored: a write that was started is finished. */
	call: CallOptions = {},
): Writes {
	const pipeline = new WritePipeline(store, call, { ofRequest: true });
	const thenDiscardReads = async <T>(write: Promise<T>): Promise<T> => {
		try {
			return await write;
		} finally {
			discardReads(pipeline.takeWritten());
		}
	};
	return {
		create: (object) => thenDiscardReads(create(pipeline, object)),
		modify: (id, change) =>
			thenDiscardReads(changeWithKeys(pipeline, id, change)),
		remove: (id) =>
			thenDiscardReads(
				changeObject(pipeline, id, (data) =>
					data.active === false ? null : { ...data, active: false },
				),
			),
		setEdge: (mapping, from, to, present) =>
			thenDiscardReads(
				setEdges(pipeline, mapping, from, {
					add: present ? [{ to }] : [],
					remove: present ? [] : [to],
				}),
			),
		setEdges: (...edges) => thenDiscardReads(setEdges(pipeline, ...edges)),
		move: (move) => thenDiscardReads(moveObject(pipeline, move)),
	};
}

async function create(pipeline: WritePipeline, object: NewObject): Promise<Id> {
	const { type: name, data } = object;
	const { store } = pipeline;
	const type = store.model.objects.get(name);
	if (type === undefined) {
		throw new TypeError(`The model has no type ${name}.`);
	}
	const idempotency = object.idempotency && {
		key: idempotencyLookupKey(object.idempotency.scope, object.idempotency.key),
		token: requestToken(object.idempotency.request),
	};
	const withKeys = withTokens(store, name, data);
	const isPending = withKeys.tokens !== undefined || idempotency !== undefined;
	const content: JsonObject = {
		...withKeys,
		...(idempotency && { idempotency }),
		...(isPending && { state: "pending" }),
		version: 1,
	};
	const shard = store.domain.placement.shardFor(name, data, store.storage.map);
	/** Nothing leads to an object before it is active: until then all its edges are in the outbox. */
	const split = (edges: readonly EdgeUpdate[]) =>
		isPending
			? { here: [], elsewhere: edges }
			: splitByShard(store, shard, edges);
	// The id is not known before the insert, but the lists that get the object are.
	const { lists } = edgesToRead(
		store,
		split(derivedEdges(store, type, "0" as Id, null, content)).here,
	);
	const { events, queue } = store.jobs ?? {};
	const newJob = events?.ofType(name) ? await queue?.prepare() : null;
	const { created, delivery } = await pipeline.write({
		shard,
		lists,
		creates: [{ type: name, data: content }],
		decide(reads) {
			const id = reads.created[0] as Id;
			const { here, elsewhere } = split(
				derivedEdges(store, type, id, null, content),
			);
			const linked = linksOf(store, id, object.links ?? [], reads.now);
			return {
				...decideEdges(edgesToRead(store, here), {
					...reads,
					edges: here.map(() => null),
				}),
				entry: {
					pendingObjects: isPending ? [id] : [],
					edges: [...elsewhere, ...(linked.edges ?? [])],
					links: linked.links ?? [],
					jobs: newJob
						? (events?.created(name, id, content) ?? []).map(newJob)
						: [],
				},
			};
		},
	});
	const id = created[0] as Id;
	if (!isPending) return id;
	const activation =
		delivery.activations.get(id) ?? (await activate(pipeline, id));
	if (activation.status === "active") return id;
	if (activation.status === "absent") throw creationLost();
	if (idempotency === undefined) {
		throw keyTaken(store, id, activation.heldBy?.name);
	}
	return firstOfRepeated(pipeline, id, idempotency, activation);
}

/** The object of the first request with this idempotency key, after the object of this request was rejected. */
async function firstOfRepeated(
	pipeline: WritePipeline,
	id: Id,
	{ key, token }: { readonly key: string; readonly token: string },
	{ heldBy }: Activation,
): Promise<Id> {
	const first =
		heldBy ?? (await readLookup(pipeline, { name: IDEMPOTENCY_LOOKUP, key }));
	// The idempotency key was free or its own: another natural key is taken.
	if (first?.name !== IDEMPOTENCY_LOOKUP || first.id === id) {
		throw keyTaken(pipeline.store, id, heldBy?.name);
	}
	if (first.token !== token) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			"This idempotencyKey was used for a different request. Use a new key for a new request.",
			{
				fields: [
					{
						path: ["input", "idempotencyKey"],
						code: "INVALID",
						message:
							"This was sent before with other content. Send it again as a new request.",
					},
				],
			},
		);
	}
	const { status } = await activate(pipeline, first.id);
	if (status === "active") {
		await invalidateUnchanged(pipeline, first.id);
		return first.id;
	}
	throw status === "absent"
		? creationLost()
		: keyTaken(pipeline.store, first.id);
}

/** The object was committed, but a failover has led to a server that lacks it. */
function creationLost(): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		"A failover lost this write while it was under way. Send it again.",
	);
}

async function readLookup(
	{ store, call }: WritePipeline,
	key: Pick<LookupRow, "name" | "key">,
): Promise<LookupRow | null> {
	const [row = null] = await store.storage.read("lookups", [key], call);
	if (row instanceof CorkboardError) throw row;
	return row;
}

async function activate(pipeline: WritePipeline, id: Id): Promise<Activation> {
	const { activations, failures } = await activateObjects(pipeline, [id]);
	const activation = activations.get(id);
	if (activation === undefined) throw failures.get(id);
	return activation;
}

async function moveObject(
	pipeline: WritePipeline,
	{
		mapping,
		object,
		from,
		before,
		after,
		change = (data) => data,
	}: Parameters<Writes["move"]>[0],
): Promise<void> {
	if (mapping.inverse?.kind !== "reference") {
		throw new TypeError(`The mapping ${mapping.name} follows no reference.`);
	}
	const { key } = mapping.inverse;
	const neighbor = before ?? after;
	if (neighbor === object) return;
	if (neighbor !== undefined) {
		const { store, call } = pipeline;
		const keys = [{ mapping, from, to: neighbor }];
		const [edge] = await store.storage.read("edges", keys, call);
		if (edge instanceof CorkboardError) throw edge;
		if (edge?.state !== PRESENT) throw notFound();
	}
	// The list may be that of a part of a natural key.
	const isKey = objectTypeOf(pipeline.store, object).lookups.length > 0;
	await (isKey ? changeWithKeys : changeObject)(
		pipeline,
		object,
		(data) => {
			if (data.active === false) throw notFound();
			return { ...change(data), [key]: from };
		},
		{
			position: {
				mapping,
				from,
				...(before !== undefined && { before }),
				...(after !== undefined && { after }),
			},
		},
	);
}
