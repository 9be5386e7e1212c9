import {
	CorkboardError,
	type Id,
	MAX_PAGE_SIZE,
	type MutationContext,
	type NewObject,
} from "corkboard";
import { lookupOf, mappingOf, newStoredJson } from "../typed.ts";

/** The most edges and objects that `fileUnder` reads besides lookups. */
export const FILE_UNDER_COST = 2 * MAX_PAGE_SIZE;

/**
 * File a pin under the interests with these slugs and no others. Those it is
 * filed under already keep their place. An import may have filed it under more
 * than a page of interests: then the newest page is replaced.
 */
export async function fileUnder(
	pin: Id,
	slugs: readonly string[],
	context: MutationContext,
): Promise<void> {
	const { graph, writes, call } = context;
	const mapping = mappingOf(graph.model, "filePin");
	const [links, [page]] = await Promise.all([
		interestLinks(slugs, context),
		graph.readPages(
			mapping,
			[pin],
			{ first: MAX_PAGE_SIZE, fields: EDGES },
			call,
		),
	]);
	if (page instanceof CorkboardError) throw page;
	const filed = (page?.nodes ?? []).map((node) => {
		if (node instanceof CorkboardError) throw node;
		return node.id;
	});
	await writes.setEdges(mapping, pin, {
		add: links,
		remove: filed.filter((id) => !links.some(({ to }) => to === id)),
	});
}

const EDGES = {
	edges: true,
	hasNextPage: false,
	hasPreviousPage: false,
	cursors: false,
	totalCount: false,
};

/**
 * Edges from a pin to the interests with these slugs. An interest that is
 * new is created by the delivery of the write's outbox entry, or found there if
 * another request has created it meanwhile.
 */
export async function interestLinks(
	slugs: readonly string[],
	context: MutationContext,
): Promise<NonNullable<NewObject["links"]>> {
	const { graph, call } = context;
	if (slugs.length === 0) return [];
	const { model } = graph;
	const ids = await graph.lookUp(lookupOf(model, "slug"), slugs, call);
	const mapping = mappingOf(model, "filePin");
	return slugs.map((slug, at) => {
		const id = ids[at] ?? null;
		if (id instanceof CorkboardError) throw id;
		if (id !== null) return { mapping, to: id };
		const data = newStoredJson(context, "Interest", {
			slug,
			name: nameOf(slug),
		});
		return { mapping, to: { type: "Interest", data } };
	});
}

/** The display name of a slug: Home decor for `home-decor`. */
function nameOf(slug: string): string {
	const words = slug.replaceAll("-", " ").trim();
	return words === "" ? slug : words[0]?.toUpperCase() + words.slice(1);
}
