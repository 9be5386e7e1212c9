import type { Id } from "../../id/ids.ts";
import type { Mapping, Model, Reference } from "../../model/types.ts";
import type { Node } from "../types.ts";

/**
 * What the graph knows of its types beyond where they are stored: whom an
 * object belongs to, near what it is made, and who may see it. Every path to
 * an object leads through here (DESIGN "What must stay true", 2 and 8).
 */
interface Rule {
	/** The reference next to whose object a new one is made. */
	readonly near?: string;
	/** The reference whose object this one is a part of: it has to be there, and seen, for this one to be seen. */
	readonly within?: string;
	/** The reference to whose user it belongs: seen only by who may see what is that user's. */
	readonly belongs?: string;
	/** Whether that user is the one of the object it is `within`, unless an import says otherwise: then it is read once for both. */
	readonly inherits?: boolean;
	/** Whether the viewer may see a living object whose surroundings it may see. */
	readonly visible?: (node: Node, viewer: Id | null) => boolean;
}

const RULES: Readonly<Record<string, Rule>> = {
	User: { visible: ({ data }) => typeof data.deactivated_at !== "string" },
	Board: {
		near: "owner",
		belongs: "owner",
		visible: ({ data }, viewer) =>
			data.secret !== true || (viewer !== null && data.user_id === viewer),
	},
	Pin: { near: "board", within: "board", belongs: "owner", inherits: true },
	Comment: { near: "pin", within: "pin", belongs: "author" },
};

/** Lists that only the user whose they are may look at: null for everyone else. */
const PRIVATE_LISTS: ReadonlySet<string> = new Set([
	"blockUser",
	"blockUser.inverse",
]);

/** Who blocks whom, from either side. */
export const BLOCKS = "blockUser";
export const BLOCKED_BY = "blockUser.inverse";

/** Whether it depends on the viewer what such a list holds, beyond what of it may be seen. */
export function isPrivateList({ name }: Mapping): boolean {
	return PRIVATE_LISTS.has(name);
}

export function mayReadList(
	mapping: Mapping,
	from: Id,
	viewer: Id | null,
): boolean {
	return from === viewer || !isPrivateList(mapping);
}

/** The reference next to whose object one of this type is made; null for one that may be made anywhere. */
export function colocationReference(
	model: Model,
	type: string,
): Reference | null {
	return referenceOf(model, type, RULES[type]?.near);
}

export function parentReference(model: Model, type: string): Reference | null {
	return referenceOf(model, type, RULES[type]?.within);
}

function belongsOf(model: Model, type: string): Reference | null {
	return referenceOf(model, type, RULES[type]?.belongs);
}

/** Where an object's own content names what has to be seen for it to be seen: keys of its JSON. */
export interface VisibilityKeys {
	readonly within: string | null;
	readonly belongs: string | null;
}

const NOTHING_AROUND: VisibilityKeys = { within: null, belongs: null };

/** By type, looked up once: it is asked for every object of every page. */
export function visibilityKeysOf(
	model: Model,
): (type: string) => VisibilityKeys {
	let byType = surroundings.get(model);
	if (byType === undefined) {
		byType = new Map(
			[...model.objects.keys()].map((type) => [
				type,
				{
					within: parentReference(model, type)?.key ?? null,
					belongs: belongsOf(model, type)?.key ?? null,
				},
			]),
		);
		surroundings.set(model, byType);
	}
	const found = byType;
	return (type) => found.get(type) ?? NOTHING_AROUND;
}

const surroundings = new WeakMap<Model, ReadonlyMap<string, VisibilityKeys>>();

/** The reference that is taken from the object it is `within`, where none is given: a pin's owner is its board's. */
export function inheritedOwnerReference(
	model: Model,
	type: string,
): Reference | null {
	return RULES[type]?.inherits ? belongsOf(model, type) : null;
}

/** What has to be read to tell whether an object may be seen, by the reference that leads there from it. */
export interface VisibilityDependency {
	readonly field: string;
	/** How many objects: the one it leads to and that one's own guards. */
	readonly objects: number;
	/** The guard that this one comes along with: who has read a pin's board has read its owner. */
	readonly coveredBy?: string;
}

/**
 * A pin's board and owner; a comment's author, pin, and that pin's board and
 * owner. What one object shares with the next is counted once: the board's
 * owner is the pin's.
 */
export function visibilityDependencies(
	model: Model,
	type: string,
): readonly VisibilityDependency[] {
	const within = parentReference(model, type);
	const belongs = belongsOf(model, type);
	const inherits = inheritedOwnerReference(model, type) !== null;
	const guards: VisibilityDependency[] = [];
	if (within !== null) {
		const around = visibilityDependencies(model, within.target);
		const shared = inherits ? 1 : 0;
		const objects = around.reduce((sum, guard) => sum + guard.objects, 1);
		guards.push({ field: within.field, objects: objects - shared });
	}
	if (belongs !== null) {
		guards.push({
			field: belongs.field,
			objects: 1,
			...(inherits && within !== null && { coveredBy: within.field }),
		});
	}
	return guards;
}

/** Whether the object is there for anyone: not deleted, not waiting for its name, not the loser of one. */
export function isActive({ data }: Node): boolean {
	return data.active !== false && data.state === undefined;
}

export function isVisible(node: Node, viewer: Id | null): boolean {
	return isActive(node) && (RULES[node.type]?.visible?.(node, viewer) ?? true);
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
