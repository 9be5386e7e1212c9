import { isDeepStrictEqual } from "node:util";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping, Model, Reference } from "../../model/types.ts";
import type {
	HidingList,
	Visibility,
	VisibilityDependency,
	VisibilityFacts,
	VisibilityKeys,
} from "../domain.ts";
import type { Node } from "../types.ts";

/** Who may see what, by the names of the SDL. A type without an entry is visible to everyone. */
export interface VisibilityPolicy {
	readonly types: Readonly<Record<string, TypeVisibility>>;
	/** Mappings whose lists only the user who owns them may read. */
	readonly privateLists: readonly string[];
	/**
	 * Lists of a user that hide something from that user, by mapping. Of each user on
	 * the list they hide:
	 *
	 * - `user`: that user, with everything that belongs to it.
	 * - `belongings`: what belongs to it.
	 */
	readonly hides?: Readonly<Record<string, HidingList["hides"]>>;
}

export interface TypeVisibility {
	/** The reference to the object that this one is a part of: without it, or without seeing it, this one is not visible. */
	readonly parent?: string;
	/** The reference to the user who owns this object: visible only to those who may see that user. */
	readonly owner?: string;
	/** Whether an object has its parent's owner, as a rule: an import need not give it. */
	readonly inheritsOwner?: boolean;
	/** References to objects that have the same parent as this one. An import refuses others, and so do mutations. */
	readonly siblings?: readonly string[];
	/** Whether the viewer may see an active object whose parent and owner it may see. */
	readonly isVisible?: (node: Node, viewer: Id | null) => boolean;
	/** The mapping from a user to the objects that are shared with it: it sees them whatever `isVisible` says. */
	readonly sharedBy?: string;
	/**
	 * The field that says since when an active object is closed; null while it is
	 * not. What it leaves behind is archived so many days later, as that of a deleted
	 * object is at once: until then it can be opened again as it was.
	 */
	readonly closed?: { readonly since: string; readonly keptDays: number };
	/** The fields that `isVisible` reads. A change of one of them is not acknowledged before other processes know of it, or two seconds have passed. */
	readonly decidedBy?: readonly string[];
}

/**
 * Binds a policy to a model. Every path to an object goes through the result
 * (view.ts). Throws BAD_MODEL for names that the model does not have.
 */
export function createVisibility(
	model: Model,
	policy: VisibilityPolicy,
): Visibility {
	const types = new Map<string, BoundType>();
	for (const [name, rule] of Object.entries(policy.types)) {
		const parent = referenceOf(model, name, rule.parent);
		const owner = referenceOf(model, name, rule.owner);
		const decidedBy = rule.decidedBy ?? [];
		types.set(name, {
			rule,
			parent,
			owner,
			siblings: (rule.siblings ?? []).flatMap(
				(field) => referenceOf(model, name, field) ?? [],
			),
			keys: keysOf(parent, owner),
			sharedBy: sharedByOf(model, name, rule.sharedBy),
			decidedBy: decidedBy.map((field) => storedKeyOf(model, name, field)),
			closed: rule.closed && {
				key: storedKeyOf(model, name, rule.closed.since),
				keptMs: rule.closed.keptDays * DAY_MS,
			},
		});
	}
	const privateLists = new Set(policy.privateLists);
	for (const name of privateLists) mappingOf(model, name);

	function dependenciesOf(type: string): readonly VisibilityDependency[] {
		const bound = types.get(type);
		if (bound === undefined) return [];
		const { parent, owner } = bound;
		const dependencies: VisibilityDependency[] = [];
		if (parent !== null) {
			const objects = dependenciesOf(parent.target).reduce(
				(sum, dependency) => sum + dependency.objects,
				1,
			);
			dependencies.push({ field: parent.field, objects });
		}
		if (owner !== null) {
			dependencies.push({ field: owner.field, objects: 1 });
		}
		return dependencies;
	}

	const dependencies = new Map(
		[...types.keys()].map((type) => [type, dependenciesOf(type)]),
	);
	const shares = [...types.values()].flatMap(({ sharedBy }) =>
		sharedBy === null ? [] : [sharedBy],
	);
	const hides = hidingLists(model, policy.hides ?? {});
	return {
		isVisible: (node, viewer) =>
			isActive(node) &&
			(types.get(node.type)?.rule.isVisible?.(node, viewer) ?? true),
		isPublic: (type, data) =>
			types.get(type)?.rule.isVisible?.({ id: "0" as Id, type, data }, null) ??
			true,
		factsOf(node) {
			if (!isActive(node)) return null;
			const { keys, rule, sharedBy } = types.get(node.type) ?? UNRESTRICTED;
			const related = relatedIn(node, keys);
			return (
				related && { ...related, isVisible: rule.isVisible ?? null, sharedBy }
			);
		},
		isPrivateList: ({ name }) => privateLists.has(name),
		keysOf: (type) => types.get(type)?.keys ?? NO_KEYS,
		parentOf: (type) => types.get(type)?.parent ?? null,
		siblingsOf: (type) => types.get(type)?.siblings ?? [],
		inheritedOwnerOf(type) {
			const bound = types.get(type);
			return bound?.rule.inheritsOwner ? bound.owner : null;
		},
		mayHide(type, data, next) {
			if (data.active !== false && next.active === false) return true;
			const { keys, decidedBy = [] } = types.get(type) ?? { keys: NO_KEYS };
			return [keys.parent, keys.owner, ...decidedBy].some(
				(key) => key !== null && !isDeepStrictEqual(data[key], next[key]),
			);
		},
		goneFrom(type, data) {
			if (data.active === false) return 0;
			const closed = types.get(type)?.closed;
			const since = closed && data[closed.key];
			if (closed === undefined || typeof since !== "string") return null;
			const at = Date.parse(since);
			// A damaged date: nothing says that it was long ago.
			return Number.isNaN(at) ? null : at + closed.keptMs;
		},
		edgesHide: (mapping, change) =>
			(change === "added" ? hides.map(({ mapping }) => mapping) : shares).some(
				(list) => isSameFact(list, mapping),
			),
		dependenciesOf: (type) => dependencies.get(type) ?? [],
		hides,
	};
}

/**
 * Whether the object exists for anyone: not deleted, not waiting for its natural
 * keys, not rejected for want of them. A value that is neither hides it: if what
 * was stored is damaged, nobody knows that it may be seen.
 */
export function isActive({ data }: Pick<Node, "data">): boolean {
	return (data.active ?? true) === true && data.state === undefined;
}

interface BoundType {
	readonly rule: TypeVisibility;
	readonly parent: Reference | null;
	readonly owner: Reference | null;
	readonly siblings: readonly Reference[];
	readonly keys: VisibilityKeys;
	readonly sharedBy: Mapping | null;
	/** Stored keys. */
	readonly decidedBy: readonly string[];
	/** The stored key. */
	readonly closed:
		| { readonly key: string; readonly keptMs: number }
		| undefined;
}

const DAY_MS = 24 * 3_600_000;
const NO_KEYS: VisibilityKeys = { parent: null, owner: null };
const UNRESTRICTED: Pick<BoundType, "keys" | "rule" | "sharedBy"> = {
	keys: NO_KEYS,
	rule: {},
	sharedBy: null,
};

/** What the object is visible with; null if it is visible to nobody. */
function relatedIn(
	node: Node,
	keys: VisibilityKeys,
): Pick<VisibilityFacts, "parent" | "owner"> | null {
	const parent = idIn(node, keys.parent);
	const owner = idIn(node, keys.owner);
	// A part without its whole is not visible.
	if (parent === undefined || (keys.parent !== null && parent === null)) {
		return null;
	}
	// An object without an owner has no user who could hide it. One whose owner is damaged has.
	return owner === undefined ? null : { parent, owner };
}

/** The id that is stored under the key; null for none, undefined for what is no id. */
function idIn({ data }: Node, key: string | null): Id | null | undefined {
	const value = key === null ? null : (data[key] ?? null);
	if (value === null) return null;
	return typeof value === "string" ? (value as Id) : undefined;
}

function keysOf(
	parent: Reference | null,
	owner: Reference | null,
): VisibilityKeys {
	return { parent: parent?.key ?? null, owner: owner?.key ?? null };
}

/** Whether both are the same mapping, or one the inverse of the other. */
function isSameFact(one: Mapping, { name, inverse }: Mapping): boolean {
	return (
		name === one.name ||
		(inverse !== null &&
			inverse.kind !== "reference" &&
			inverse.mapping === one.name)
	);
}

function sharedByOf(
	model: Model,
	type: string,
	name: string | undefined,
): Mapping | null {
	if (name === undefined) return null;
	const mapping = mappingOf(model, name);
	if (mapping.to !== type) {
		throw badPolicy(`the mapping ${name}, which does not lead to a ${type}`);
	}
	return mapping;
}

function hidingLists(
	model: Model,
	lists: NonNullable<VisibilityPolicy["hides"]>,
): readonly HidingList[] {
	const bound = Object.entries(lists).map(([name, hides]) => ({
		mapping: mappingOf(model, name),
		hides,
	}));
	for (const { mapping } of bound) {
		// The viewer of each list and those on it are users, of one type.
		const { name, from, to } = mapping;
		if (from !== to || to !== bound[0]?.mapping.to) {
			throw badPolicy(
				`the mapping ${name}, which does not lead from a user to users`,
			);
		}
	}
	return bound;
}

function mappingOf(model: Model, name: string): Mapping {
	const mapping = model.mappings.get(name);
	if (mapping === undefined) {
		throw badPolicy(`the mapping ${name}, which the schema does not have`);
	}
	return mapping;
}

function referenceOf(
	model: Model,
	type: string,
	field: string | undefined,
): Reference | null {
	const object = model.objects.get(type);
	if (object === undefined) {
		throw badPolicy(`the type ${type}, which the schema does not have`);
	}
	if (field === undefined) return null;
	const reference = object.references.find((each) => each.field === field);
	if (reference === undefined) {
		throw badPolicy(`${type}.${field}, which is not a @reference`);
	}
	return reference;
}

function storedKeyOf(model: Model, type: string, field: string): string {
	const stored = model.objects
		.get(type)
		?.stored.find((each) => each.field === field);
	if (stored === undefined) {
		throw badPolicy(`${type}.${field}, which is not a stored field`);
	}
	return stored.key;
}

function badPolicy(what: string): CorkboardError {
	return new CorkboardError(
		"BAD_MODEL",
		`The visibility policy names ${what}.`,
	);
}
