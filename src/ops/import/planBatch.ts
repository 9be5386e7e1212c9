import type { Visibility } from "../../graph/domain.ts";
import { type Store, typeNameOf } from "../../graph/store/store.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping, Reference } from "../../model/types.ts";
import {
	type ExistingData,
	naturalKeys,
	naturalKeyText,
} from "./existingData.ts";
import {
	type BadLine,
	type EdgeLine,
	excerpt,
	type Line,
	type ObjectLine,
} from "./lineReader.ts";

/** An object to create. The objects it references exist, or are created before it. */
export interface NewObject {
	readonly line: ObjectLine;
	readonly references: readonly ResolvedReference[];
	/** How many objects of the batch must be created before it, one after another. */
	readonly level: number;
	/** Null before it is created, and if another object has its natural key. */
	id: Id | null;
}

export interface ResolvedReference {
	readonly reference: Reference;
	readonly target: Target;
}

/** An existing object's id, or an object of this batch. */
export type Target = Id | NewObject;

export interface NewEdge {
	readonly number: number;
	readonly mapping: Mapping;
	readonly from: Target;
	readonly to: Target;
}

export interface BatchPlan {
	readonly objects: readonly NewObject[];
	readonly edges: readonly NewEdge[];
	readonly bad: readonly BadLine[];
	/** Lines whose object exists. */
	readonly existing: number;
}

function targetOf(
	references: readonly ResolvedReference[],
	wanted: Reference | null,
): Target | undefined {
	return references.find(({ reference }) => reference.key === wanted?.key)
		?.target;
}

export function idOf(target: Target): Id | null {
	return typeof target === "string" ? target : target.id;
}

/** The import key of the object that a line's object inherits its owner from; null if the line gives the owner. */
export function inheritedFrom(
	visibility: Visibility,
	line: ObjectLine,
): string | null {
	const inherits = visibility.inheritedOwnerOf(line.type.name);
	const parent = visibility.parentOf(line.type.name);
	if (inherits === null || parent === null) return null;
	const named = (field: string) =>
		line.references.find(({ reference }) => reference.field === field);
	return named(inherits.field) === undefined
		? (named(parent.field)?.key ?? null)
		: null;
}

/** The import keys of the objects whose content decides about a line: whose owner it inherits, and which must have the same parent. */
export function neededContents(
	visibility: Visibility,
	line: ObjectLine,
): readonly string[] {
	const siblings = visibility.siblingsOf(line.type.name);
	const from = inheritedFrom(visibility, line);
	return [
		...(from === null ? [] : [from]),
		...line.references.flatMap(({ reference, key }) =>
			siblings.includes(reference) ? [key] : [],
		),
	];
}

/**
 * Plans the writes of a batch. A line may reference any line before it, in this
 * batch or an earlier one, so the size of batches makes no difference. With
 * `strict`, nothing after the first bad line is planned.
 */
export function planBatch(
	{ model, domain: { visibility } }: Pick<Store, "model" | "domain">,
	lines: readonly Line[],
	known: ExistingData,
	strict: boolean,
): BatchPlan {
	const made = new Map<string, NewObject>();
	const taken = new Set<string>();
	const edges: NewEdge[] = [];
	const bad: BadLine[] = [];
	let existing = 0;

	function target(field: string, key: string, type: string): Target | string[] {
		const found = known.ids.get(key) ?? made.get(key);
		if (found === undefined) {
			return [`${field}: no line before this one has the key ${excerpt(key)}.`];
		}
		const got = typeName(found);
		return got === type
			? found
			: [
					`${field} must be the key of a ${type}, got ${excerpt(key)}, a ${got}.`,
				];
	}

	function typeName(found: Target): string {
		return typeof found === "string"
			? (typeNameOf(model, found) ?? "type that the schema does not have")
			: found.line.type.name;
	}

	/** Returns what is wrong with the line, or null. */
	function planObject(line: ObjectLine): string | null {
		const { key, type } = line;
		const there = known.ids.get(key) ?? made.get(key);
		if (there !== undefined) {
			const got = typeName(there);
			if (got !== type.name) {
				return `The key ${excerpt(key)} is that of a ${got}.`;
			}
			existing++;
			return null;
		}
		const references: ResolvedReference[] = [];
		for (const { reference, key } of line.references) {
			const found = target(reference.field, key, reference.target);
			if (Array.isArray(found)) return found[0] as string;
			references.push({ reference, target: found });
		}
		const stray = strayProblem(line, references);
		if (stray !== null) return stray;
		inherit(line, references);
		const names = naturalKeys(line);
		for (const name of names) {
			const spelled = naturalKeyText(name);
			if (known.taken.has(spelled) || taken.has(spelled)) {
				return nameTakenReason(line);
			}
		}
		for (const name of names) taken.add(naturalKeyText(name));
		const levels = references.map(({ target }) =>
			typeof target === "string" ? 0 : target.level + 1,
		);
		made.set(key, {
			line,
			references,
			level: Math.max(0, ...levels),
			id: null,
		});
		return null;
	}

	/** What is wrong with a reference to an object that must have the same parent; null for nothing. */
	function strayProblem(
		{ type }: ObjectLine,
		references: readonly ResolvedReference[],
	): string | null {
		const parent = visibility.parentOf(type.name);
		const own = targetOf(references, parent);
		for (const reference of visibility.siblingsOf(type.name)) {
			const sibling = targetOf(references, reference);
			if (sibling === undefined || parent === null) continue;
			const its = visibility.parentOf(reference.target);
			const whole =
				typeof sibling === "string"
					? known.contents.get(sibling)?.[its?.key ?? ""]
					: targetOf(sibling.references, its);
			if (own !== undefined && whole === own) continue;
			return `${reference.field} must be a ${reference.target} of the same ${parent.field}.`;
		}
		return null;
	}

	/** An object without an owner gets the owner of its parent. */
	function inherit(line: ObjectLine, references: ResolvedReference[]): void {
		const from = inheritedFrom(visibility, line);
		const inherits = visibility.inheritedOwnerOf(line.type.name);
		if (from === null || inherits === null) return;
		const id = known.ids.get(from);
		const owner =
			id === undefined
				? made
						.get(from)
						?.references.find(({ reference }) => reference.key === inherits.key)
						?.target
				: known.contents.get(id)?.[inherits.key];
		if (owner !== undefined && owner !== null) {
			references.push({ reference: inherits, target: owner as Target });
		}
	}

	function planEdge(line: EdgeLine): string | null {
		const { number, mapping } = line;
		const from = target("from", line.from, mapping.from as string);
		if (Array.isArray(from)) return from[0] as string;
		const to = target("to", line.to, mapping.to);
		if (Array.isArray(to)) return to[0] as string;
		edges.push({ number, mapping, from, to });
		return null;
	}

	for (const line of lines) {
		if (line.kind === "bad") bad.push(line);
		else {
			const reason = line.kind === "edge" ? planEdge(line) : planObject(line);
			if (reason !== null) {
				bad.push({ kind: "bad", number: line.number, reason });
			}
		}
		if (strict && bad.length > 0) break;
	}
	return { objects: [...made.values()], edges, bad, existing };
}

/** Why a line is bad when another object has its natural key. */
export function nameTakenReason({ type }: ObjectLine): string {
	const fields = type.lookups.map(({ field }) => field);
	return `The ${type.name}'s ${fields.join(" or ")} is taken.`;
}
