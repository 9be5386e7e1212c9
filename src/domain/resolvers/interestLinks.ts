import { CorkboardError } from "../../errors.ts";
import type { NewObject } from "../../graph/types.ts";
import type { MutationContext } from "./mutation.ts";
import { lookupOf, mappingOf, newStoredJson } from "./storedJson.ts";

/**
 * Edges from a new pin to the interests with these slugs. An interest that is
 * new is created by the delivery of the pin's outbox entry, or found there if
 * another request has created it meanwhile.
 */
export async function interestLinks(
	slugs: readonly string[],
	{ graph, call }: MutationContext,
): Promise<NonNullable<NewObject["links"]>> {
	if (slugs.length === 0) return [];
	const { model } = graph;
	const ids = await graph.lookUp(lookupOf(model, "slug"), slugs, call);
	const mapping = mappingOf(model, "filePin");
	return slugs.map((slug, at) => {
		const id = ids[at] ?? null;
		if (id instanceof CorkboardError) throw id;
		if (id !== null) return { mapping, to: id };
		const data = newStoredJson(model, "Interest", { slug, name: nameOf(slug) });
		return { mapping, to: { type: "Interest", data } };
	});
}

/** The display name of a slug: Home decor for `home-decor`. */
function nameOf(slug: string): string {
	const words = slug.replaceAll("-", " ").trim();
	return words === "" ? slug : words[0]?.toUpperCase() + words.slice(1);
}
