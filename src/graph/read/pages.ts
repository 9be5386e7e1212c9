import type { CallOptions } from "../../diagnostics.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { Position } from "../../storage/storage.ts";
import { listKey, type Store } from "../store/store.ts";
import type { Page, PageArguments, PageEdge } from "../types.ts";
import {
	createListReader,
	EPOCHS,
	isError,
	type ListReader,
	type ListSources,
	type PageBound,
	readMore,
} from "./listReader.ts";

/**
 * Pages of many lists at once. Each round scans all lists that still need
 * edges, then loads all objects they lead to, so the number of rounds is the
 * number of storage calls whatever the number of lists (PROTOCOLS §5).
 *
 * A list's edges to objects the viewer may not see are left out and the page
 * is topped up (walks.ts). One edge more than the page
 * holds is read when somebody asks whether another follows: it answers yes
 * only if the viewer may see what is behind it.
 */
export async function readPages(
	sources: ListSources,
	mapping: Mapping,
	froms: readonly Id[],
	page: PageArguments,
	call?: CallOptions,
): Promise<readonly (Page | CorkboardError)[]> {
	const { store } = sources;
	const { want } = page;
	const backward = page.last !== undefined;
	const size = (backward ? page.last : page.first) as number;
	const wantMore = backward ? want.hasPreviousPage : want.hasNextPage;
	const wantOther = backward ? want.hasNextPage : want.hasPreviousPage;

	const walks = froms.map((from): ListReader | CorkboardError => {
		const bounds = readBounds(store, mapping, from, page);
		return isError(bounds)
			? bounds
			: createListReader({ mapping, from }, backward, bounds);
	});
	const good = walks.filter((walk): walk is ListReader => !isError(walk));

	const looksAtEdges = want.edges || want.cursors || wantOther;
	const needed = wantMore ? size + 1 : looksAtEdges ? size : 0;
	if (needed > 0 || want.totalCount) {
		await readMore(sources, good, needed, call);
	}
	for (const walk of good) {
		walk.hasMore = walk.visible.length > size || !walk.exhausted;
		walk.visible.splice(size);
		// A page cut short by the bound goes on after the last edge scanned, or
		// whoever pages on would meet the same hidden edges again.
		if (!walk.exhausted && walk.visible.length < size)
			walk.cutAt = walk.lastScanned;
	}
	await Promise.all([
		wantMore && probeBeyond(sources, good, call),
		wantOther && probeBehind(sources, good, call),
	]);
	return walks.map((walk) =>
		isError(walk) ? walk : (walk.error ?? toPage(store, walk, want)),
	);
}

function readBounds(
	store: Store,
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
		const place = store.cursors.decode(listKey({ mapping, from }), cursor);
		if (place === null) {
			return new CorkboardError(
				"BAD_USER_INPUT",
				`\`${name}\` must be a cursor of this list, as \`edges.cursor\` or \`pageInfo\` gave it.`,
			);
		}
		bounds[name] = place;
	}
	return bounds;
}

/** A page that ended at a bound of the client's: whether something lies beyond it. */
async function probeBeyond(
	sources: ListSources,
	walks: readonly ListReader[],
	call: CallOptions | undefined,
): Promise<void> {
	const open = walks.filter(
		(walk) => walk.error === null && !walk.hasMore && walk.end !== undefined,
	);
	const probes = open.map((walk) =>
		probeFrom(walk, walk.backward, walk.visible.at(-1)?.edge ?? walk.start),
	);
	await readMore(sources, probes, 1, call);
	for (const [at, walk] of open.entries())
		walk.hasMore = met(probes[at] as ListReader);
}

/** A page that began at a bound of the client's: whether something lies behind its start. */
async function probeBehind(
	sources: ListSources,
	walks: readonly ListReader[],
	call: CallOptions | undefined,
): Promise<void> {
	const open = walks.filter(
		(walk) => walk.error === null && walk.start !== undefined,
	);
	const probes = open.map((walk) =>
		probeFrom(
			walk,
			!walk.backward,
			walk.visible[0]?.edge ?? justPast(walk, walk.start as Position),
		),
	);
	await readMore(sources, probes, 1, call);
	for (const [at, walk] of open.entries()) {
		walk.hasPreceding = met(probes[at] as ListReader);
	}
}

function probeFrom(
	walk: ListReader,
	backward: boolean,
	from: Position | undefined,
): ListReader {
	return createListReader(
		walk.key,
		backward,
		backward
			? { after: undefined, before: from }
			: { after: from, before: undefined },
	);
}

/** Whether a probe met something, or could not tell within its bound. */
function met(probe: ListReader): boolean {
	return probe.visible.length > 0 || !probe.exhausted;
}

/** An exclusive bound one step further on, so that the edge at `place` itself lies behind it. */
function justPast(walk: ListReader, place: Position): Position {
	const up = (walk.key.mapping.order === "OLDEST_FIRST") !== walk.backward;
	return {
		sequence: place.sequence,
		to: String(BigInt(place.to) + (up ? 1n : -1n)) as Id,
	};
}

function toPage(
	store: Store,
	walk: ListReader,
	want: PageArguments["want"],
): Page {
	const list = listKey(walk.key);
	const epoch = (walk.listRow?.epoch ?? 0) % EPOCHS;
	const spell = ({ sequence, to }: Position) =>
		store.cursors.encode(list, { sequence, to, epoch });
	const edges = walk.visible.map(
		({ edge, node }): PageEdge => ({
			node,
			sequence: edge.sequence,
			cursor: () => spell(edge),
		}),
	);
	const first: Position | undefined = walk.visible[0]?.edge;
	const last: Position | undefined = walk.cutAt ?? walk.visible.at(-1)?.edge;
	const cursor = (place: Position | undefined) =>
		want.cursors && place !== undefined ? spell(place) : null;
	return walk.backward
		? {
				edges: edges.reverse(),
				hasNextPage: walk.hasPreceding,
				hasPreviousPage: walk.hasMore,
				startCursor: cursor(last),
				endCursor: cursor(first),
				totalCount: walk.listRow?.count ?? null,
			}
		: {
				edges,
				hasNextPage: walk.hasMore,
				hasPreviousPage: walk.hasPreceding,
				startCursor: cursor(first),
				endCursor: cursor(last),
				totalCount: walk.listRow?.count ?? null,
			};
}
