import { CorkboardError } from "../../errors.ts";
import { type Id, packId } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { listName } from "../../storage/keys.ts";
import { isDescending, sequenceOfValue } from "../../storage/order.ts";
import type { KeyResult, ListKey } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import { Head } from "../store/head.ts";
import type { ReadStore } from "../store/store.ts";
import type { Page, PageArguments } from "../types.ts";
import { firstPages } from "./firstPages.ts";
import { endPages, ReaderPage } from "./listPage.ts";
import {
	createListReader,
	type ListReader,
	type ListSources,
	type PageBound,
	readMore,
} from "./listReader.ts";
import type { EpochPosition } from "./scanLists.ts";

/** No edge leads to it, and all ids are above it. */
const LOWEST = packId({ shard: 0, type: 0, local: 0 });

/**
 * One page of each of many lists (docs/consistency.md, "5. Pages"). When the
 * client asks whether another page follows, one object more than the page holds
 * is read: the answer is yes only if the viewer may see that object.
 */
export function readPages(
	sources: ListSources,
	mapping: Mapping,
	froms: readonly Id[],
	page: PageArguments,
	call?: CallOptions,
): MaybePromise<readonly (Page | CorkboardError)[]> {
	const { store } = sources;
	const { fields } = page;
	const backward = page.last !== undefined;
	const size = (backward ? page.last : page.first) as number;
	const asksForMore = backward ? fields.hasPreviousPage : fields.hasNextPage;
	const asksForPreceding = backward
		? fields.hasNextPage
		: fields.hasPreviousPage;

	const readsEdges = fields.edges || fields.cursors || asksForPreceding;
	const needed = asksForMore ? size + 1 : readsEdges ? size : 0;
	const readsHead = needed > 0 || fields.totalCount;
	if (
		!backward &&
		page.after === undefined &&
		page.before === undefined &&
		page.startAt === undefined &&
		readsHead
	) {
		const first = { size, needed };
		const lists = froms.map((from) => ({ mapping, from }));
		const reading =
			needed === 0
				? readCounts(sources, lists, call)
				: store.readHeads(lists, needed, call);
		return andThen(reading, (heads) =>
			firstPages(sources, mapping, heads, first, call),
		);
	}

	const readers = froms.map((from): ListReader | CorkboardError => {
		const bounds = readBounds(store, mapping, from, page);
		return bounds instanceof CorkboardError
			? bounds
			: createListReader({ mapping, from }, backward, bounds);
	});
	const valid = readers.filter(
		(reader): reader is ListReader => !(reader instanceof CorkboardError),
	);

	const reading = readsHead
		? readMore(sources, valid, needed, call)
		: undefined;
	const probed = andThen(reading, () => {
		endPages(valid, size);
		const beyond = asksForMore ? probeBeyond(sources, valid, call) : undefined;
		const preceding = asksForPreceding
			? probePreceding(sources, valid, call)
			: undefined;
		return both(beyond, preceding);
	});
	return andThen(probed, () =>
		readers.map((reader) =>
			reader instanceof CorkboardError
				? reader
				: (reader.error ?? new ReaderPage(store, reader)),
		),
	);
}

/** Heads without edges, for the count alone: that of a list which the request has just written is known. */
function readCounts(
	{ store, counts }: ListSources,
	lists: readonly ListKey[],
	call: CallOptions | undefined,
): MaybePromise<readonly KeyResult<Head>[]> {
	if (counts.size === 0) return store.readHeads(lists, 0, call);
	const known = lists.map(({ mapping, from }) => {
		const count = counts.get(listName(mapping, from)) ?? null;
		if (count === null) return undefined;
		// Nothing pages in it: the epoch is not asked for.
		return Head.of({ from, count, epoch: 0, complete: count === 0 }, []);
	});
	const unknown = lists.filter((_, at) => known[at] === undefined);
	if (unknown.length < lists.length) {
		call?.trace?.cache("request", lists.length - unknown.length, 0);
	}
	if (unknown.length === 0) return known as readonly Head[];
	return andThen(store.readHeads(unknown, 0, call), (heads) => {
		let next = 0;
		return known.map((head) => head ?? (heads[next++] as KeyResult<Head>));
	});
}

/** Both are started. */
function both(
	one: MaybePromise<void>,
	other: MaybePromise<void>,
): MaybePromise<void> {
	return one instanceof Promise && other instanceof Promise
		? Promise.all([one, other]).then(() => {})
		: andThen(one, () => other);
}

function readBounds(
	store: ReadStore,
	mapping: Mapping,
	from: Id,
	page: PageArguments,
): { readonly after: PageBound; readonly before: PageBound } | CorkboardError {
	const bounds: { after: PageBound; before: PageBound } = {
		after: undefined,
		before: undefined,
	};
	for (const name of ["after", "before"] as const) {
		const cursor = page[name];
		if (cursor === undefined) continue;
		const position = store.cursors.decode(listName(mapping, from), cursor);
		if (position === null) {
			return new CorkboardError(
				"BAD_USER_INPUT",
				`${name} must be a cursor of this list, from edges.cursor or pageInfo.`,
			);
		}
		bounds[name] = position;
	}
	if (page.startAt !== undefined) {
		bounds.after ??= positionBefore(mapping, page.startAt);
	}
	return bounds;
}

/** Before all objects that have this value, and after those that come before them. */
function positionBefore(mapping: Mapping, value: string | number): PageBound {
	const { orderedBy } = mapping;
	if (orderedBy === undefined) {
		throw new TypeError(`The mapping ${mapping.name} is ordered by no field.`);
	}
	const sequence = sequenceOfValue(mapping, orderedBy, {
		[orderedBy.key]: value,
	});
	return {
		sequence: isDescending(mapping) ? sequence + 1 : sequence,
		to: LOWEST,
		// Such lists are never renumbered.
		epoch: 0,
	};
}

/** Decides `hasMore` of pages that end at a bound of the client: whether an object lies beyond it. */
function probeBeyond(
	sources: ListSources,
	readers: readonly ListReader[],
	call: CallOptions | undefined,
): MaybePromise<void> {
	const open = readers.filter(
		(reader) =>
			reader.error === null && !reader.hasMore && reader.end !== undefined,
	);
	const probes = open.map(({ key, end, backward }) =>
		readerAt(key, end as EpochPosition, backward),
	);
	return andThen(readMore(sources, probes, 1, call), () => {
		for (const [at, reader] of open.entries()) {
			reader.hasMore = foundAny(probes[at] as ListReader);
		}
	});
}

/** Decides `hasPreceding` of pages that start at a bound of the client: whether an object lies before it. */
function probePreceding(
	sources: ListSources,
	readers: readonly ListReader[],
	call: CallOptions | undefined,
): MaybePromise<void> {
	const open = readers.filter(
		(reader) => reader.error === null && reader.start !== undefined,
	);
	const probes = open.map(({ key, start, backward }) =>
		readerAt(key, start as EpochPosition, !backward),
	);
	return andThen(readMore(sources, probes, 1, call), () => {
		for (const [at, reader] of open.entries()) {
			reader.hasPreceding = foundAny(probes[at] as ListReader);
		}
	});
}

/** A reader from a position, which meets an edge at the position too. */
export function readerAt(
	key: ListKey,
	position: EpochPosition,
	backward: boolean,
): ListReader {
	// Bounds are exclusive.
	const step = isDescending(key.mapping) === backward ? -1n : 1n;
	const to = String(BigInt(position.to) + step) as Id;
	const from = { ...position, to };
	return createListReader(
		key,
		backward,
		backward
			? { after: undefined, before: from }
			: { after: from, before: undefined },
	);
}

/** Whether a probe found an object, or ended before it had scanned everything. */
function foundAny(probe: ListReader): boolean {
	return probe.visible.length > 0 || !probe.exhausted;
}
