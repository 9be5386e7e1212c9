import {
	type BatchResolver,
	type Right as DeclaredRight,
	type InputId,
	type MutationContext,
	type Node,
	type PoliciesOf,
	type RequestContext,
	type Rule,
	requireByRule,
	requireRuleOn,
	rightByRule,
	viewerMayByRule,
} from "corkboard";
import type { Schema } from "../typed.ts";

/** From collaborators to boards. An app without collaborators does not have it. */
const COLLABORATE = "collaborate.inverse";

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
			sharedBy: { mapping: COLLABORATE, object: "itself" },
			refusal: "Only its owner and its collaborators may pin on this board.",
		},
	},
	Section: {
		update: {
			users: ["board.owner"],
			sharedBy: { mapping: COLLABORATE, object: { reference: "board" } },
			refusal: "Only its owner and its collaborators may pin on this board.",
		},
		delete: {
			users: ["board.owner"],
			sharedBy: { mapping: COLLABORATE, object: { reference: "board" } },
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
} as const satisfies Readonly<Record<string, Readonly<Record<string, Rule>>>>;

type Ruled = keyof typeof RULES;
type Right<Type extends Ruled> = keyof (typeof RULES)[Type];

type Asking = Pick<MutationContext, "graph" | "viewer" | "call">;

function ruleOf<Type extends Ruled>(type: Type, right: Right<Type>): Rule {
	return RULES[type][right] as Rule;
}

/** An object that the viewer may do this with: NOT_FOUND or FORBIDDEN if not. */
export function requireRight<Type extends Ruled>(
	asking: Asking,
	type: Type,
	right: Right<Type>,
	id: InputId,
): Promise<Node> {
	return requireByRule(asking, type, ruleOf(type, right), id);
}

/** The same for an object that the viewer sees. */
export function requireRightOn<Type extends Ruled>(
	asking: Asking,
	type: Type,
	right: Right<Type>,
	node: Node,
): Promise<void> {
	return requireRuleOn(asking, ruleOf(type, right), node);
}

/** What the mutations that the SDL declares ask. `cost`: the most objects and edges that are read for it. */
export function right<Type extends Ruled>(
	type: Type,
	name: Right<Type>,
	cost: number,
): DeclaredRight {
	return rightByRule(type, ruleOf(type, name), cost);
}

export const rights: NonNullable<PoliciesOf<Schema>["rights"]> = {
	Board: { delete: right("Board", "delete", 1) },
};

/** A field that says whether the viewer may do this with each object; null for an anonymous viewer. */
export function viewerCan<Type extends Ruled>(
	type: Type,
	right: Right<Type>,
): BatchResolver<RequestContext> {
	return viewerMayByRule(ruleOf(type, right));
}
