import { CorkboardError } from "../../src/errors.ts";
import type { Graph, Node } from "../../src/graph/types.ts";
import type { RequestContext } from "../../src/graphql/context.ts";
import type { InputId } from "../../src/graphql/input/validators.ts";
import type { Id } from "../../src/id/ids.ts";
import type { BatchResolver } from "../../src/plan/batchResolver.ts";
import { requireVisible } from "../../src/resolvers/requireVisible.ts";
import { mappingOf, referenceOf } from "../../src/resolvers/storedJson.ts";
import type { CallOptions } from "../../src/trace.ts";
import { andThen, type MaybePromise } from "../../src/util/maybePromise.ts";

/** Who may do something with an object that they see. */
interface Rule {
	/** References of the object: the users they lead to may. */
	readonly users?: readonly string[];
	/** The board that the object is or that it is on: its owner may, or its owner and its collaborators. */
	readonly board?: {
		readonly at: "itself" | "board";
		readonly who: "owner" | "owner and collaborators";
	};
	/** The message for everyone else. */
	readonly refusal: string;
}

/**
 * Who may change what. Mutations ask it, and so do the fields that say so
 * beforehand (`viewerCanUpdate`). Who may see what is decided before that
 * (pins/visibility.ts).
 */
const RULES = {
	Board: {
		update: {
			users: ["owner"],
			refusal: "Only its owner may change or delete this board.",
		},
		delete: {
			users: ["owner"],
			refusal: "Only its owner may change or delete this board.",
		},
		pin: {
			board: { at: "itself", who: "owner and collaborators" },
			refusal: "Only its owner and its collaborators may pin on this board.",
		},
	},
	Section: {
		update: {
			board: { at: "board", who: "owner and collaborators" },
			refusal: "Only its owner and its collaborators may pin on this board.",
		},
		delete: {
			board: { at: "board", who: "owner and collaborators" },
			refusal: "Only its owner and its collaborators may pin on this board.",
		},
	},
	Pin: {
		update: {
			users: ["owner"],
			refusal: "Only its owner may change this pin.",
		},
		delete: {
			users: ["owner"],
			board: { at: "board", who: "owner" },
			refusal: "Only its owner and the owner of its board may delete this pin.",
		},
		/** To another place on its board. */
		arrange: {
			users: ["owner"],
			board: { at: "board", who: "owner" },
			refusal: "Only its owner and the owner of its board may move this pin.",
		},
		/** To another board. */
		takeAway: {
			users: ["owner"],
			refusal: "Only its owner may move this pin to another board.",
		},
	},
	Comment: {
		update: {
			users: ["author"],
			refusal: "Only its author may change or delete this comment.",
		},
		delete: {
			users: ["author"],
			refusal: "Only its author may change or delete this comment.",
		},
	},
} as const satisfies Readonly<Record<string, Readonly<Record<string, Rule>>>>;

type Ruled = keyof typeof RULES;
type Right<Type extends Ruled> = keyof (typeof RULES)[Type];

interface Asking {
	readonly graph: Graph;
	readonly viewer: Id;
	readonly call: CallOptions;
}

/** An object that the viewer may do this with. NOT_FOUND unless the viewer sees it and it is of that type, FORBIDDEN unless it may. */
export async function requireRight<Type extends Ruled>(
	asking: Asking,
	type: Type,
	right: Right<Type>,
	id: InputId,
): Promise<Node> {
	const node = await requireVisible(asking, type, id);
	await requireRightOn(asking, type, right, node);
	return node;
}

/** The same for an object that the viewer sees. */
export async function requireRightOn<Type extends Ruled>(
	asking: Asking,
	type: Type,
	right: Right<Type>,
	node: Node,
): Promise<void> {
	const rule = RULES[type][right] as Rule;
	const [may] = await viewerMay(asking, rule, [node]);
	if (may instanceof CorkboardError) throw may;
	if (may !== true) throw new CorkboardError("FORBIDDEN", rule.refusal);
}

/** A field that says whether the viewer may do this with each object; null for an anonymous viewer. */
export function viewerCan<Type extends Ruled>(
	type: Type,
	right: Right<Type>,
): BatchResolver<RequestContext> {
	const rule = RULES[type][right] as Rule;
	// An object that is visible has been read with its board.
	const edges = rule.board?.who === "owner and collaborators" ? 1 : 0;
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

/** One answer for each object. Boards are read together, and so is with whom they are shared. */
function viewerMay(
	{ graph, viewer, call }: Asking,
	{ users = [], board }: Rule,
	nodes: readonly Node[],
): MaybePromise<Answers> {
	const { model } = graph;
	const leadsToViewer = (node: Node, reference: string) =>
		referenceOf(model, node, reference) === viewer;
	const answers: (boolean | CorkboardError)[] = nodes.map((node) =>
		users.some((reference) => leadsToViewer(node, reference)),
	);
	const open = [...nodes.keys()].filter((at) => answers[at] !== true);
	if (board === undefined || open.length === 0) return answers;
	const boards = open.map((at): Id | null => {
		const node = nodes[at] as Node;
		return board.at === "itself" ? node.id : referenceOf(model, node, "board");
	});
	const read =
		board.at === "itself"
			? open.map((at) => nodes[at] as Node)
			: graph.readObjects(
					boards.filter((id) => id !== null),
					call,
				);
	return andThen(read, (found) => {
		const mapping = mappingOf(model, "collaborate.inverse");
		const others: number[] = [];
		let next = 0;
		for (const [nth, at] of open.entries()) {
			if (boards[nth] === null) continue;
			const one = found[next++] ?? null;
			if (one instanceof CorkboardError) answers[at] = one;
			else if (one !== null && leadsToViewer(one, "owner")) answers[at] = true;
			else if (one !== null) others.push(nth);
		}
		if (board.who === "owner" || others.length === 0) return answers;
		const ids = others.map((nth) => boards[nth] as Id);
		return andThen(graph.hasEdges(mapping, viewer, ids, call), (shared) => {
			for (const [nth, other] of others.entries()) {
				answers[open[other] as number] = shared[nth] ?? false;
			}
			return answers;
		});
	});
}
