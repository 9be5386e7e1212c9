import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import { globalListId } from "../../model/types.ts";
import type { MutationContext } from "./mutation.ts";
import { lookupOf, mappingOf, newStoredJson } from "./storedJson.ts";

/**
 * The interests with these slugs, made where they are new. An interest whose
 * maker stopped before listing it among all interests is listed by the next
 * who uses it.
 */
export async function findOrCreateInterests(
	slugs: readonly string[],
	change: MutationContext,
): Promise<readonly Id[]> {
	if (slugs.length === 0) return [];
	const { graph, writes, call } = change;
	const found = unwrap(
		await graph.lookUp(lookupOf(graph.model, "slug"), slugs, call),
	);
	const interests = await all(
		slugs.map(async (slug, at) => found[at] ?? makeInterest(slug, change)),
	);
	const list = mappingOf(graph.model, "listInterest");
	const root = globalListId(graph.model, list);
	const listed = unwrap(await graph.hasEdges(list, root, interests, call));
	await all(
		interests
			.filter((_, at) => !listed[at])
			.map((interest) => writes.setEdge(list, root, interest, true)),
	);
	return interests;
}

/** File a pin under interests. Repeating it changes nothing. */
export async function addToInterests(
	pin: Id,
	interests: readonly Id[],
	{ graph, writes }: MutationContext,
): Promise<void> {
	const mapping = mappingOf(graph.model, "filePin");
	await all(
		interests.map((interest) => writes.setEdge(mapping, pin, interest, true)),
	);
}

/** Somebody else may make it first: then theirs is the one. */
async function makeInterest(
	slug: string,
	{ graph, writes, call }: MutationContext,
): Promise<Id> {
	try {
		return await writes.create({
			type: "Interest",
			data: newStoredJson(graph.model, "Interest", {
				slug,
				name: nameOf(slug),
			}),
		});
	} catch (thrown) {
		if (!(thrown instanceof CorkboardError && thrown.code === "CONFLICT")) {
			throw thrown;
		}
		const [theirs] = unwrap(
			await graph.lookUp(lookupOf(graph.model, "slug"), [slug], call),
		);
		if (theirs) return theirs;
		throw new CorkboardError(
			"UNAVAILABLE",
			`The interest ${slug} is being made at this moment. Try again.`,
			{ cause: thrown },
		);
	}
}

/** `home-decor` as people write it: Home decor. */
function nameOf(slug: string): string {
	const words = slug.replaceAll("-", " ").trim();
	return words === "" ? slug : words[0]?.toUpperCase() + words.slice(1);
}

function unwrap<T>(answers: readonly (T | CorkboardError)[]): readonly T[] {
	return answers.map((answer) => {
		if (answer instanceof CorkboardError) throw answer;
		return answer;
	});
}

/** Like `Promise.all`, but nothing is left running behind an error. */
async function all<T>(work: readonly Promise<T>[]): Promise<readonly T[]> {
	const done = await Promise.allSettled(work);
	return done.map((one) => {
		if (one.status === "rejected") throw one.reason;
		return one.value;
	});
}
