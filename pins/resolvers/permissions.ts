import {
	andThen,
	type BatchResolver,
	type CallOptions,
	CorkboardError,
	type Right as DeclaredRight,
	findVisible,
	type Graph,
	type Id,
	type InputId,
	type MaybePromise,
	type Node,
	notFound,
	type PoliciesOf,
	type RequestContext,
	referenceOf,
} from "corkboard";
import type { Schema } from "../typed.ts";

/** Who may do something with an object. */
interface Rule {
	/** Paths of references that lead from the object to users who may: `owner`, `board.owner`. */
	readonly users: readonly string[];
	/** The board whose collaborators may too: the object, or its board. */
	readonly collaboratorsOf?: "itself" | "board";
	/**
	 * Whether it may also be done to an object that the viewer does not see, by those
	 * whom its stored references lead to: what is one's own, and what others left on
	 * it, may be removed whatever came between two people.
	 */
	readonly evenIfHidden?: boolean;
	/** The message for everyone else. */
	readonly refusal: string;
}

/**
 * Who may change what. Mutations ask it, and so do the fields that say so
 * beforehand (`viewerCanUpdate`). Who may see what is decided before that
 * (pins/visibility.ts). docs/guarantees.md has what follows from both for two
 * people, as a table.
 */
const RULES = {
	Board: {
		update: {
			users: ["owner"],
			refusal: "Only its owner may change or delete this board.",
		},
		delete: {
			users: ["owner"],
			evenIfHidden: true,
			refusal: "Only its owner may change or delete this board.",
		},
		pin: {
			users: ["owner"],
			collaboratorsOf: "itself",
			refusal: "Only its owner and its collaborators may pin on this board.",
		},
	},
	Section: {
		update: {
			users: ["board.owner"],
			collaboratorsOf: "board",
			refusal: "Only its owner and its collaborators may pin on this board.",
		},
		delete: {
			users: ["board.owner"],
			collaboratorsOf: "board",
			refusal: "Only its owner and its collaborators may pin on this board.",
		},
	},
	Pin: {
		update: {
			users: ["owner"],
			refusal: "Only its owner may change this pin.",
		},
		delete: {
			users: ["owner", "board.owner"],
			evenIfHidden: true,
			refusal: "Only its owner and the owner of its board may delete this pin.",
		},
		/** To another place on its board. */
		arrange: {
			users: ["owner", "board.owner"],
			refusal: "Only its owner and the owner of its board may move this pin.",
		},
		/** To another board. */
		takeAway: {
			users: ["owner"],
			refusal: "Only its owner may move this pin to another board.",
		},
	},
	Comment: {
		/** Not where it is hidden: a blocked person could write on under the pin. */
		update: {
			users: ["author"],
			refusal: "Only its author may change this comment.",
		},
		delete: {
			users: ["author", "pin.owner", "pin.board.owner"],
			evenIfHidden: true,
			refusal:
				"Only its author and the owners of its pin and board may delete this comment.",
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

/**
 * An object that the viewer may do this with. NOT_FOUND unless the viewer sees it
 * and it is of that type, FORBIDDEN unless it may. Where the rule holds for hidden
 * objects, one that the viewer does not see and may not remove is NOT_FOUND, like
 * an id that names nothing.
 */
export async function requireRight<Type extends Ruled>(
	asking: Asking,
	type: Type,
	right: Right<Type>,
	id: InputId,
): Promise<Node> {
	const rule = RULES[type][right] as Rule;
	const node = await findVisible(asking, type, id);
	if (node !== null) {
		await requireRightOn(asking, type, right, node);
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

/** What the mutations that the SDL declares ask. `cost`: the most objects and edges that are read for it. */
export function right<Type extends Ruled>(
	type: Type,
	name: Right<Type>,
	cost: number,
): DeclaredRight {
	return {
		cost,
		require: (context, id) => requireRight(context, type, name, id),
	};
}

export const rights: NonNullable<PoliciesOf<Schema>["rights"]> = {
	Board: { delete: right("Board", "delete", 1) },
};

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
	const edges = rule.collaboratorsOf === undefined ? 0 : 1;
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

/** One answer for each object. The objects of a path are read together, and so is with whom boards are shared. */
function viewerMay(
	asking: Asking,
	{ users, collaboratorsOf }: Rule,
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
	// Null in an app without collaborators.
	const mapping = graph.model.mappings.get("collaborate.inverse") ?? null;
	if (collaboratorsOf !== undefined && mapping !== null) {
		questions.push((open) => {
			const boards = open.map((node) =>
				collaboratorsOf === "itself"
					? node.id
					: referenceOf(graph.model, node, "board"),
			);
			const known = boards.filter((id) => id !== null);
			return andThen(graph.hasEdges(mapping, viewer, known, call), (shared) => {
				let next = 0;
				return boards.map((id) => id !== null && (shared[next++] ?? false));
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
