import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import { type EdgeState, PRESENT, REMOVED } from "../../storage/storage.ts";
import type { JsonObject } from "../../util/json.ts";
import { activateObjects } from "../outbox/activateObjects.ts";
import {
	decideEdges,
	edgesToRead,
	encodeEntry,
	mappingOf,
} from "../outbox/delivery.ts";
import {
	IDEMPOTENCY_LOOKUP,
	idempotencyLookupKey,
	requestToken,
	withTokens,
} from "../outbox/naturalKeys.ts";
import { nextSequence } from "../outbox/sequences.ts";
import type { Store } from "../store/store.ts";
import type { Writes } from "../types.ts";
import { changeObject, notFound } from "./changeObject.ts";
import { changeWithKeys, keyTaken } from "./changeWithKeys.ts";
import { byShard, commit, decided, followEdges } from "./commit.ts";
import { tracedStore } from "./tracedStore.ts";

/**
 * Every change is one transaction on one shard, with an outbox row for all it
 * owes elsewhere (PROTOCOLS §2).
 */
export function createWrites(
	untraced: Store,
	/** Called after each write, whatever came of it: what the request has read may be old. */
	invalidate: () => void = () => {},
	/** Whose trace is told what they cause. Its signal is not heeded: a write that was begun is brought to its end. */
	call: CallOptions = {},
): Writes {
	const store = tracedStore(untraced, call.trace);
	const thenForget = async <T>(write: Promise<T>): Promise<T> => {
		try {
			return await write;
		} finally {
			invalidate();
		}
	};
	return {
		create: (object) => thenForget(create(store, object)),
		modify: (id, change) => thenForget(changeWithKeys(store, id, change)),
		remove: (id) =>
			thenForget(
				changeObject(store, id, (data) =>
					data.active === false ? null : { ...data, active: false },
				),
			),
		setEdge: (...edge) => thenForget(setEdge(store, ...edge)),
		move: (move) => thenForget(place(store, move)),
	};
}

async function create(
	store: Store,
	{ type: name, data, idempotency }: Parameters<Writes["create"]>[0],
): Promise<Id> {
	const type = store.model.objects.get(name);
	if (type === undefined) {
		throw new TypeError(`expected a type of the model but got: ${name}`);
	}
	const once = idempotency && {
		key: idempotencyLookupKey(idempotency.scope, idempotency.key),
		token: requestToken(idempotency.request),
	};
	const named = withTokens(store, name, data);
	const waits = named.nonces !== undefined || once !== undefined;
	const content: JsonObject = {
		...named,
		...(once && { once }),
		...(waits && { state: "pending" }),
		version: 1,
	};
	const shard = store.domain.placement.shardFor(name, data, store.storage);
	// The new id is not known before the insert; which lists follow it is.
	const followed = edgesToRead(
		store,
		waits
			? []
			: byShard(shard, followEdges(type, "0" as Id, null, content)).here,
	);
	const { created } = await commit<null>(store, {
		shard,
		lists: followed.lists,
		creates: [{ type: name, data: content }],
		decide(seen) {
			const id = seen.created[0] as Id;
			const edges = followEdges(type, id, null, content);
			// Nothing leads to an object before it has won its names.
			const { here, owed } = waits
				? { here: [], owed: edges }
				: byShard(shard, edges);
			return {
				...decideEdges(edgesToRead(store, here), {
					...seen,
					edges: here.map(() => null),
				}),
				...decided(
					null,
					encodeEntry({ pendingObjects: waits ? [id] : [], edges: owed }),
				),
			};
		},
	});
	const id = created[0] as Id;
	return waits ? settled(store, id, once) : id;
}

/** The id of an object that had to win its names: its own, or that of the first of repeated requests. */
async function settled(
	store: Store,
	id: Id,
	once: { readonly key: string; readonly token: string } | undefined,
): Promise<Id> {
	if (await isLiving(store, id)) return id;
	if (once === undefined) throw keyTaken();
	const [first] = await store.storage.readLookups([
		{ name: IDEMPOTENCY_LOOKUP, key: once.key },
	]);
	if (first instanceof CorkboardError) throw first;
	if (first === null || first === undefined || first.id === id)
		throw keyTaken();
	if (first.token !== once.token) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			"This idempotencyKey came with another request before; a new request needs a new key.",
		);
	}
	if (await isLiving(store, first.id)) return first.id;
	throw keyTaken();
}

async function isLiving(store: Store, id: Id): Promise<boolean> {
	return (await activateObjects(store, [id])).get(id) === "living";
}

async function setEdge(
	store: Store,
	...[mapping, from, to, present]: Parameters<Writes["setEdge"]>
): Promise<void> {
	const { shard } = unpackId(from);
	const inverse =
		mapping.inverse?.kind === "target"
			? mappingOf(store, mapping.inverse.mapping)
			: null;
	const isInverseHere = inverse !== null && unpackId(to).shard === shard;
	const state: EdgeState = present ? PRESENT : REMOVED;
	const keys = [{ mapping, from, to }];
	if (isInverseHere) keys.push({ mapping: inverse, from: to, to: from });
	await commit<null>(store, {
		shard,
		lists: keys,
		edges: keys,
		decide(seen) {
			const old = seen.edges[0] ?? null;
			if ((old?.state ?? REMOVED) === state) return decided(null);
			const edge = {
				state,
				version: (old?.version ?? 0) + 1,
				sequence: present
					? nextSequence(seen.lists[0]?.lastSequence ?? 0, seen.now)
					: (old?.sequence as number),
			};
			const owed =
				inverse !== null && !isInverseHere
					? [{ ...edge, mapping: inverse.name, from: to, to: from }]
					: [];
			return {
				...decided(null, encodeEntry({ edges: owed })),
				edges: keys.map((key) => ({ ...key, ...edge })),
			};
		},
	});
}

async function place(
	store: Store,
	{ mapping, object, from, before, after }: Parameters<Writes["move"]>[0],
): Promise<void> {
	if (mapping.inverse?.kind !== "reference") {
		throw new TypeError(
			`expected a mapping that follows a reference but got: ${mapping.name}`,
		);
	}
	const { key } = mapping.inverse;
	const neighbour = before ?? after;
	if (neighbour === object) return;
	if (neighbour !== undefined) {
		const [edge] = await store.storage.readEdges([
			{ mapping, from, to: neighbour },
		]);
		if (edge instanceof CorkboardError) throw edge;
		if (edge?.state !== PRESENT) throw notFound();
	}
	await changeObject(
		store,
		object,
		(data) => {
			if (data.active === false) throw notFound();
			return { ...data, [key]: from };
		},
		{
			placing: {
				mapping,
				from,
				...(before !== undefined && { before }),
				...(after !== undefined && { after }),
			},
		},
	);
}
