import { CorkboardError } from "../../errors.ts";
import { type Id, packId } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import { sequenceOfGroup } from "../../storage/order.ts";
import type { KeyResult } from "../../storage/rows.ts";
import type { CallOptions } from "../../trace.ts";
import { andThen, type MaybePromise } from "../../util/maybePromise.ts";
import { USUAL_DEPTH } from "../store/head.ts";
import type { Node } from "../types.ts";
import type { ListSources } from "./listReader.ts";
import { scanInOneEpoch } from "./scanInOneEpoch.ts";

/** Edges that are read of a group, at most: those in place of objects that the viewer may not see are among them. */
const SCANNED = 20;

/** Before all others with a sequence that is greater by one, in a list that runs from high to low. */
const LOWEST = packId({ shard: 0, type: 0, local: 0 });

/**
 * The objects of some groups of a grouped list: of each group at most
 * `limit` that the viewer may see, those with the highest ids. Objects behind the
 * first 20 of a group are not looked at. A list that is cached whole answers from
 * memory; of a longer one, one storage call reads all groups.
 */
export function readGroups(
	sources: ListSources,
	mapping: Mapping,
	from: Id,
	groups: readonly Id[],
	limit: number,
	call?: CallOptions,
): MaybePromise<readonly Nodes[]> {
	const key = mapping.groupedBy?.key;
	if (key === undefined) {
		throw new TypeError(`The mapping ${mapping.name} is not grouped.`);
	}
	const distinct = [...new Set(groups)];
	const found = andThen(
		readIds(sources, mapping, from, distinct, call),
		(ids) => readNodes(sources, ids, limit, call),
	);
	return andThen(found, (nodes) => {
		const byGroup = new Map(distinct.map((group, at) => [group, nodes[at]]));
		return groups.map((group) => {
			const of = byGroup.get(group) ?? [];
			// An edge that lags behind its object says nothing of it.
			return of instanceof CorkboardError
				? of
				: of.filter(
						(node) =>
							node instanceof CorkboardError || node.data[key] === group,
					);
		});
	});
}

/** The objects of one group. */
type Nodes = KeyResult<readonly KeyResult<Node>[]>;
type Ids = KeyResult<readonly Id[]>;

function readIds(
	{ store }: ListSources,
	mapping: Mapping,
	from: Id,
	groups: readonly Id[],
	call: CallOptions | undefined,
): MaybePromise<readonly Ids[]> {
	const list = { mapping, from };
	// Most lists are short, and answer from memory from now on.
	return andThen(store.readHeads([list], USUAL_DEPTH, call), ([head]) => {
		if (head === undefined || head instanceof CorkboardError) {
			return groups.map(() => head ?? []);
		}
		const { epoch } = head;
		const scans = groups.map((group) => ({
			...list,
			backward: false,
			after: { sequence: sequenceOfGroup(group) + 1, to: LOWEST, epoch },
			before: { sequence: sequenceOfGroup(group), to: LOWEST, epoch },
			limit: SCANNED,
		}));
		return andThen(scanInOneEpoch(store, scans, call), (scanned) =>
			scanned.map((scan) =>
				scan instanceof CorkboardError ? scan : scan.edges.map(({ to }) => to),
			),
		);
	});
}

/** As many of each group as are wanted; where some of those are hidden, the others too. */
function readNodes(
	{ readVisible, onEdgesRead }: ListSources,
	groups: readonly Ids[],
	limit: number,
	call: CallOptions | undefined,
): MaybePromise<readonly Nodes[]> {
	const wanted = groups.map((ids) => idsOr(ids, []).slice(0, limit));
	onEdgesRead(wanted.reduce((sum, { length }) => sum + length, 0));
	return andThen(readEach(wanted), (first) => {
		const others = groups.map((ids, at) =>
			(first[at] ?? []).length < (wanted[at] ?? []).length
				? idsOr(ids, []).slice(limit)
				: [],
		);
		const rest = others.some(({ length }) => length > 0)
			? readEach(others)
			: [];
		return andThen(rest, (second) =>
			groups.map((ids, at) =>
				ids instanceof CorkboardError
					? ids
					: [...(first[at] ?? []), ...(second[at] ?? [])].slice(0, limit),
			),
		);
	});

	/** Those that the viewer may see. */
	function readEach(
		groups: readonly (readonly Id[])[],
	): MaybePromise<readonly (readonly KeyResult<Node>[])[]> {
		return andThen(readVisible(groups.flat(), call), (nodes) => {
			let at = 0;
			return groups.map((ids) =>
				ids.map(() => nodes[at++] ?? null).filter((node) => node !== null),
			);
		});
	}
}

function idsOr(ids: Ids, fallback: readonly Id[]): readonly Id[] {
	return ids instanceof CorkboardError ? fallback : ids;
}
