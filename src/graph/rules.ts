import type { Id } from "../id/ids.ts";
import type { Model, Reference } from "../model/types.ts";
import type { Node } from "./types.ts";

/**
 * What the graph knows of its types beyond where they are stored: whom an
 * object belongs to, near what it is made, and who may see it. Every path to
 * an object leads through here (DESIGN "What must stay true", 2 and 8).
 */
interface Rule {
	/** The reference next to whose object a new one is made. */
	readonly near?: string;
	/** The reference whose object the viewer must be able to see to see this one. */
	readonly within?: string;
	/** The reference whose object is taken from the object it is `within`, where none is given: a pin's owner is its board's. */
	readonly inherits?: string;
	/** Whether the viewer may see a living object whose surroundings it may see. */
	readonly visible?: (node: Node, viewer: Id | null) => boolean;
}

const RULES: Readonly<Record<string, Rule>> = {
	Board: {
		near: "owner",
		visible: ({ data }, viewer) =>
			data.secret !== true || (viewer !== null && data.user_id === viewer),
	},
	Pin: { near: "board", within: "board", inherits: "owner" },
	Comment: { near: "pin", within: "pin" },
};

/** The reference next to whose object one of this type is made; null for one that may be made anywhere. */
export function nearOf(model: Model, type: string): Reference | null {
	return referenceOf(model, type, RULES[type]?.near);
}

export function withinOf(model: Model, type: string): Reference | null {
	return referenceOf(model, type, RULES[type]?.within);
}

export function inheritsOf(model: Model, type: string): Reference | null {
	return referenceOf(model, type, RULES[type]?.inherits);
}

/** The references that lead from an object to all that has to be read to tell whether it may be seen: a comment's pin, the pin's board. */
export function guardsOf(model: Model, type: string): readonly Reference[] {
	const within = withinOf(model, type);
	return within === null ? [] : [within, ...guardsOf(model, within.target)];
}

/** Whether the object is there for anyone: not deleted, not waiting for its name, not the loser of one. */
export function isLiving({ data }: Node): boolean {
	return data.active !== false && data.state === undefined;
}

export function isVisible(node: Node, viewer: Id | null): boolean {
	return isLiving(node) && (RULES[node.type]?.visible?.(node, viewer) ?? true);
}

function referenceOf(
	model: Model,
	type: string,
	field: string | undefined,
): Reference | null {
	if (field === undefined) return null;
	const found = model.objects
		.get(type)
		?.references.find((reference) => reference.field === field);
	if (found === undefined) {
		throw new TypeError(`expected ${type}.${field} to be a @reference`);
	}
	return found;
}
