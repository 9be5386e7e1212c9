import { CorkboardError } from "../errors.ts";
import type { Graph, Node } from "../graph/types.ts";
import type { RequestContext } from "../graphql/context.ts";
import type { InputId } from "../graphql/input/validators.ts";
import type { Id } from "../id/ids.ts";
import type { BatchResolver } from "../plan/batchResolver.ts";
import type { CallOptions } from "../trace.ts";
import { andThen, type MaybePromise } from "../util/maybePromise.ts";
import type { Right } from "./declaredMutations.ts";
import { findVisible, notFound } from "./requireVisible.ts";
import { referenceOf } from "./storedJson.ts";

/** Who may do something with an object. */
export interface Rule {
	/** Paths of references that lead from the object to users who may: `owner`, `board.owner`. */
	readonly users: readonly string[];
	/** Those may too whom an object is shared with: the mapping that leads from them to it, and the reference that leads to it, or the object itself. */
	readonly sharedBy?: {
		readonly mapping: string;
		readonly object: "itself" | { readonly reference: string };
	};
	/**
	 * Whether it may also be done to an object that the viewer does not see, by those
	 * whom its stored references lead to: what is one's own, and what others left on
	 * it, may be removed whatever came between two people.
	 */
	readonly evenIfHidden?: boolean;
	/** The message for everyone else. */
	readonly refusal: string;
}

interface Asking {
	readonly graph: Graph;
	readonly viewer: Id;
	readonly call: CallOptions;
}

/**
 * An object that the viewer may do this with. NOT_FOUND unless the viewer sees it
 * and it is of that type, FORBIDDEN unless it may. If the rule holds for hidden
 * objects, one that the viewer does not see and may not remove is NOT_FOUND, like
 * an id that names nothing.
 */
export async function requireByRule(
	asking: Asking,
	type: string,
	rule: Rule,
	id: InputId,
): Promise<Node> {
	const node = await findVisible(asking, type, id);
	if (node !== null) {
		await requireRuleOn(asking, rule, node);
		return node;
	}
	if (rule.evenIfHidden && id !== "reserved") {
		const { graph, call } = asking;
		const stored: Reads = (ids) => graph.readStored(ids, call);
		const [hidden = null] = await stored([id]);
		if (hidden instanceof CorkboardError) throw hidden;
		if (hidden?.type === type) {
			const [may] = await viewerMay(asking, rule, [hidden], stored);
			if (may instanceof CorkboardError) throw may;
			if (may === true) return hidden;
		}
	}
	throw notFound(type);
}

/** The same for an object that the viewer sees. */
export async function requireRuleOn(
	asking: Asking,
	rule: Rule,
	node: Node,
): Promise<void> {
	const [may] = await viewerMay(asking, rule, [node]);
	if (may instanceof CorkboardError) throw may;
	if (may !== true) throw new CorkboardError("FORBIDDEN", rule.refusal);
}

/** What the mutations that the SDL declares ask. `cost`: the most objects and edges that are read for it; without it, the objects of the rule's paths. */
export function rightByRule(
	type: string,
	rule: Rule,
	cost: number = objectsOf(rule),
): Right {
	return {
		cost,
		require: (context, id) => requireByRule(context, type, rule, id),
	};
}

/** The object, and those that its paths lead through. */
function objectsOf({ users }: Rule): number {
	const through = users.flatMap((path) => {
		const steps = path.split(".").slice(0, -1);
		return steps.map((_, at) => steps.slice(0, at + 1).join("."));
	});
	return 1 + new Set(through).size;
}

/** A field that says whether the viewer may do this with each object; null for an anonymous viewer. */
export function viewerMayByRule(rule: Rule): BatchResolver<RequestContext> {
	// An object that is visible has been read with what it is a part of.
	const edges = rule.sharedBy === undefined ? 0 : 1;
	return {
		cost: () => edges,
		maxObjects: () => 0,
		dependsOnViewer: true,
		resolve({ parents, context: { graph, viewer }, call }) {
			if (viewer === null) return parents.map(() => null);
			const nodes = parents as readonly Node[];
			return viewerMay({ graph, viewer, call }, rule, nodes);
		},
	};
}

type Answers = readonly (boolean | CorkboardError)[];
type Reads = Graph["readObjects"];

/** One answer for each object. The objects of a path are read together, and so is with whom they are shared. */
function viewerMay(
	asking: Asking,
	{ users, sharedBy }: Rule,
	nodes: readonly Node[],
	read: Reads = (ids) => asking.graph.readObjects(ids, asking.call),
): MaybePromise<Answers> {
	const { graph, viewer, call } = asking;
	const answers: (boolean | CorkboardError)[] = nodes.map(() => false);
	/** Asks about those whom nothing has allowed it yet. */
	const ask = (
		question: (open: readonly Node[]) => MaybePromise<Answers>,
	): MaybePromise<void> => {
		const open = [...nodes.keys()].filter((at) => answers[at] !== true);
		if (open.length === 0) return;
		return andThen(question(open.map((at) => nodes[at] as Node)), (found) => {
			for (const [nth, at] of open.entries()) {
				if (found[nth] !== false) answers[at] = found[nth] ?? false;
			}
		});
	};
	const questions = users.map(
		(path) => (open: readonly Node[]) =>
			leadsToViewer(asking, path.split("."), open, read),
	);
	// Null if the part of the app that has the mapping was left out.
	const mapping = graph.model.mappings.get(sharedBy?.mapping ?? "") ?? null;
	if (sharedBy !== undefined && mapping !== null) {
		const { object } = sharedBy;
		questions.push((open) => {
			const wholes = open.map((node) =>
				object === "itself"
					? node.id
					: referenceOf(graph.model, node, object.reference),
			);
			const known = wholes.filter((id) => id !== null);
			return andThen(graph.hasEdges(mapping, viewer, known, call), (shared) => {
				let next = 0;
				return wholes.map((id) => id !== null && (shared[next++] ?? false));
			});
		});
	}
	const asked = questions.reduce<MaybePromise<void>>(
		(before, question) => andThen(before, () => ask(question)),
		undefined,
	);
	return andThen(asked, () => answers);
}

/** Whether the references of a path lead from each object to the viewer. */
function leadsToViewer(
	asking: Asking,
	[reference = "", ...rest]: readonly string[],
	nodes: readonly Node[],
	read: Reads,
): MaybePromise<Answers> {
	const { graph, viewer } = asking;
	const ids = nodes.map((node) => referenceOf(graph.model, node, reference));
	if (rest.length === 0) return ids.map((id) => id === viewer);
	const known = ids.filter((id) => id !== null);
	return andThen(read(known), (found) => {
		const there = found.filter((one) => one !== null && "data" in one);
		const led = leadsToViewer(asking, rest, there, read);
		return andThen(led, (answers) => {
			let [next, nextThere] = [0, 0];
			return ids.map((id) => {
				const one = id === null ? null : (found[next++] ?? null);
				if (one === null || one instanceof CorkboardError) return one ?? false;
				return answers[nextThere++] ?? false;
			});
		});
	});
}
