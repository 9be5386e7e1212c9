import { CorkboardError } from "../../../errors.ts";
import type { Id } from "../../../id/ids.ts";
import { keyOfContent, type Model } from "../../../model/types.ts";
import {
	type KeyResult,
	type LookupKey,
	type LookupRow,
	type OutboxRow,
	PRESENT,
} from "../../../storage/rows.ts";
import type { Store } from "../../store/store.ts";
import { type EdgeUpdate, type Link, mappingNamed } from "../entry.ts";
import type { Writer } from "../writer.ts";
import { activateObjects } from "./activateObjects.ts";
import { derivedEdges, edgeWithInverse } from "./edgeUpdates.ts";
import { withTokens } from "./naturalKeys.ts";

interface ResolvedLinks {
	/** By link, the edges to apply: to the object that was found or created, and to that object on the lists of all of its type. */
	readonly edges: ReadonlyMap<Link, readonly EdgeUpdate[]>;
	readonly failures: ReadonlyMap<Link, unknown>;
	/** Entries of objects created here, which are delivered by now. */
	readonly delivered: readonly OutboxRow[];
}

/**
 * Find the object of each link by its natural key, or create it. Idempotent:
 * of all who create an object for one key at once, one gets the key; the other
 * objects are rejected, and all links lead to the one that is active.
 */
export async function resolveLinks(
	writer: Writer,
	links: readonly Link[],
): Promise<ResolvedLinks> {
	const edges = new Map<Link, readonly EdgeUpdate[]>();
	const failures = new Map<Link, unknown>();
	const delivered: OutboxRow[] = [];
	if (links.length === 0) return { edges, failures, delivered };
	const { model, storage } = writer.store;
	const byKey = Map.groupBy(links, (link) => {
		const { name, key } = naturalKeyOf(model, link);
		return JSON.stringify([name, key]);
	});
	const groups = [...byKey.values()];
	const keys = groups.map(([link]) => naturalKeyOf(model, link as Link));
	const rows = await storage.read("lookups", keys, writer.call);
	const holders = rows.flatMap((row) =>
		row === null || row instanceof CorkboardError ? [] : [row.id],
	);
	const held = await activateObjects(writer, holders);
	await Promise.all(
		groups.map(async (group, at) => {
			const link = group[0] as Link;
			const row: KeyResult<LookupRow | null> = rows[at] ?? null;
			try {
				if (row instanceof CorkboardError) throw row;
				let to: Id | null = null;
				if (row !== null) {
					if (held.failures.has(row.id)) throw held.failures.get(row.id);
					const status = held.activations.get(row.id)?.status;
					if (status === "active") to = row.id;
				}
				to ??= await create(writer, link, delivered);
				for (const one of group) edges.set(one, edgesOf(writer.store, one, to));
			} catch (error) {
				for (const one of group) failures.set(one, error);
			}
		}),
	);
	return { edges, failures, delivered };
}

/** The id of the object, or of the object that got the key first. */
async function create(
	writer: Writer,
	{ type, data, shard }: Link,
	delivered: OutboxRow[],
): Promise<Id> {
	const { created, row, invalidated } = await writer.transact({
		shard,
		creates: [
			{
				type,
				data: {
					...withTokens(writer.store, type, data),
					state: "pending",
					version: 1,
				},
			},
		],
		decide: ({ created }) => ({
			result: null,
			entry: { pendingObjects: created },
		}),
	});
	const id = created[0] as Id;
	const own = await activateObjects(writer, [id]);
	if (own.failures.has(id)) throw own.failures.get(id);
	if (row !== null && invalidated) delivered.push(row);
	const { status, heldBy } = own.activations.get(id) ?? { status: "absent" };
	if (status === "active") return id;
	if (heldBy !== undefined) {
		const first = await activateObjects(writer, [heldBy.id]);
		if (first.activations.get(heldBy.id)?.status === "active") return heldBy.id;
	}
	throw new CorkboardError(
		"UNAVAILABLE",
		"The object of a link is being created by another request.",
	);
}

function edgesOf(store: Store, link: Link, to: Id): readonly EdgeUpdate[] {
	const { model } = store;
	const { from, sequence, type, data } = link;
	const objectType = model.objects.get(type);
	return [
		...(objectType === undefined
			? []
			: derivedEdges(store, objectType, to, null, { ...data, version: 1 })),
		...edgeWithInverse(mappingNamed(model, link.mapping), {
			from,
			to,
			state: PRESENT,
			version: 1,
			sequence,
		}),
	];
}

/** The first natural key in the content of a link's object. */
function naturalKeyOf(
	model: Model,
	{ type, data }: Pick<Link, "type" | "data">,
): LookupKey {
	for (const lookup of model.objects.get(type)?.lookups ?? []) {
		const key = keyOfContent(lookup, data);
		if (key !== null) return { name: lookup.name, key };
	}
	throw new CorkboardError(
		"BAD_DATA",
		`The outbox entry links to an object of the type ${type} without a natural key.`,
	);
}
