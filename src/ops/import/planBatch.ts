import type { Visibility } from "../../graph/domain.ts";
import type { Store } from "../../graph/store/store.ts";
import { typeNameOf } from "../../graph/store/typeName.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping, ObjectType, Reference } from "../../model/types.ts";
import type { LookupKey } from "../../storage/rows.ts";
import {
	type ExistingData,
	naturalKeys,
	naturalKeyText,
} from "./existingData.ts";
import type { ImportRun } from "./importRun.ts";
import {
	type BadLine,
	type EdgeLine,
	excerpt,
	type Line,
	type Missing,
	type ObjectLine,
} from "./lineReader.ts";
import { DELETED, readToken } from "./revision.ts";

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

/** An object that exists, and whose line may say something else of it. */
export interface KnownObject {
	readonly line: ObjectLine;
	readonly id: Id;
	/** The token of its import key. */
	readonly token: string;
	readonly references: readonly ResolvedReference[];
	/** It was deleted here, and comes back. */
	readonly isRevived?: true;
}

export interface NewEdge {
	readonly number: number;
	readonly mapping: Mapping;
	readonly from: Target;
	readonly to: Target;
	readonly isDeleted: boolean;
	readonly at: number | null;
}

interface BatchPlan {
	readonly objects: readonly NewObject[];
	/** Objects that exist with another revision than that of their line, or that may be deleted. */
	readonly known: readonly KnownObject[];
	readonly edges: readonly NewEdge[];
	readonly bad: readonly BadLine[];
	/** Lines whose object exists. */
	readonly existing: number;
}

/** Why a line is bad. */
interface Refusal {
	readonly reason: string;
	/** What no line has had yet, if that is why. */
	readonly missing?: Missing;
}

function isRefusal(found: Target | Refusal): found is Refusal {
	return typeof found === "object" && "reason" in found;
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
function inheritedFrom(
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
	store: Pick<Store, "model" | "domain">,
	lines: readonly Line[],
	known: ExistingData,
	{ strict, revives }: Pick<ImportRun, "strict" | "revives">,
): BatchPlan {
	const planner = new BatchPlanner(store, known, revives);
	const bad: BadLine[] = [];
	for (const line of lines) {
		if (line.kind === "bad") bad.push(line);
		else {
			const refusal = planner.plan(line);
			if (refusal !== null) {
				bad.push({ kind: "bad", number: line.number, ...refusal });
			}
		}
		if (strict && bad.length > 0) break;
	}
	const { edges, existing, changed } = planner;
	return {
		objects: [...planner.made.values()],
		known: [...changed.values()],
		edges,
		bad,
		existing,
	};
}

class BatchPlanner {
	readonly #model: Store["model"];
	readonly #visibility: Visibility;
	readonly #known: ExistingData;
	readonly #revives: boolean;
	readonly #taken = new Set<string>();
	readonly made = new Map<string, NewObject>();
	readonly changed = new Map<string, KnownObject>();
	readonly edges: NewEdge[] = [];
	existing = 0;

	constructor(
		{ model, domain: { visibility } }: Pick<Store, "model" | "domain">,
		known: ExistingData,
		revives: boolean,
	) {
		this.#model = model;
		this.#visibility = visibility;
		this.#known = known;
		this.#revives = revives;
	}

	/** Returns what is wrong with the line, or null. */
	plan(line: EdgeLine | ObjectLine): Refusal | null {
		return line.kind === "edge" ? this.#planEdge(line) : this.#planObject(line);
	}

	#planEdge({
		number,
		mapping,
		isDeleted,
		at,
		...line
	}: EdgeLine): Refusal | null {
		const from = this.#target(
			{ field: "from", key: line.from, isWhole: true },
			mapping.from as string,
		);
		const to = this.#target(
			{ field: "to", key: line.to, isWhole: true },
			mapping.to,
		);
		if (!isRefusal(from) && !isRefusal(to)) {
			this.edges.push({ number, mapping, isDeleted, at, from, to });
			return null;
		}
		// An edge of an object that was never created.
		if (isDeleted) return this.#leave();
		return isRefusal(from) ? from : (to as Refusal);
	}

	#planObject(line: ObjectLine): Refusal | null {
		const { key, type } = line;
		const there = this.#find(key);
		if (there !== undefined) {
			const got = this.#typeName(there);
			if (got !== type.name) {
				return { reason: `The key ${excerpt(key)} is that of a ${got}.` };
			}
			return typeof there === "string"
				? this.#planKnown(line, there)
				: this.#leave();
		}
		if (line.isDeleted) return this.#leave();
		const references = this.#references(line);
		if (!Array.isArray(references)) return references;
		// Objects of this batch have no ids yet: among these, import keys stand for them.
		const names = naturalKeys(line, (one) => `key ${one}`);
		const taken = [
			...names.filter((name) => this.#taken.has(naturalKeyText(name))),
			...naturalKeys(line, (one) => this.#known.ids.get(one) ?? null).filter(
				(name) => this.#known.taken.has(naturalKeyText(name)),
			),
		];
		if (taken.length > 0) return { reason: nameTakenReason(type, taken) };
		for (const name of names) this.#taken.add(naturalKeyText(name));
		const levels = references.map(({ target }) =>
			typeof target === "string" ? 0 : target.level + 1,
		);
		const level = Math.max(0, ...levels);
		this.made.set(key, { line, references, level, id: null });
		return null;
	}

	#leave(): null {
		this.existing++;
		return null;
	}

	#planKnown(line: ObjectLine, id: Id): Refusal | null {
		const token = this.#known.tokens.get(line.key) ?? "";
		const isSame = line.isDeleted
			? readToken(token).rev === DELETED
			: line.rev === null || readToken(token).rev === line.rev;
		// It may be deleted here.
		const mayRevive = this.#revives && line.rev !== null && !line.isDeleted;
		if (isSame && !mayRevive) return this.#leave();
		const references = line.isDeleted ? [] : this.#references(line);
		if (!Array.isArray(references)) return references;
		// If two lines are about one object, the later one counts.
		if (this.changed.has(line.key)) this.existing++;
		this.changed.set(line.key, { line, id, token, references });
		return null;
	}

	/** Or what is wrong with one of them. */
	#references(line: ObjectLine): ResolvedReference[] | Refusal {
		const references: ResolvedReference[] = [];
		const { parent, owner } = this.#visibility.keysOf(line.type.name);
		for (const { reference, key } of line.references) {
			const isWhole = [parent, owner].includes(reference.key);
			const found = this.#target(
				{ field: reference.field, key, isWhole },
				reference.target,
			);
			if (isRefusal(found)) return found;
			references.push({ reference, target: found });
		}
		const stray = this.#strayProblem(line, references);
		if (stray !== null) return { reason: stray };
		this.#inherit(line, references);
		return references;
	}

	#find(key: string): Target | undefined {
		return this.#known.ids.get(key) ?? this.made.get(key);
	}

	#target(missing: Missing, type: string): Target | Refusal {
		const { field, key } = missing;
		const found = this.#find(key);
		if (found === undefined) {
			return {
				reason: `${field}: no line before this one has the key ${excerpt(key)}.`,
				missing,
			};
		}
		const got = this.#typeName(found);
		if (got === type) return found;
		return {
			reason: `${field} must be the key of a ${type}, got ${excerpt(key)}, a ${got}.`,
		};
	}

	#typeName(found: Target): string {
		return typeof found === "string"
			? (typeNameOf(this.#model, found) ?? "type that the schema does not have")
			: found.line.type.name;
	}

	/** What is wrong with a reference to an object that must have the same parent; null for nothing. */
	#strayProblem(
		{ type }: ObjectLine,
		references: readonly ResolvedReference[],
	): string | null {
		const visibility = this.#visibility;
		const parent = visibility.parentOf(type.name);
		const own = targetOf(references, parent);
		for (const reference of visibility.siblingsOf(type.name)) {
			const sibling = targetOf(references, reference);
			if (sibling === undefined || parent === null) continue;
			const its = visibility.parentOf(reference.target);
			const whole =
				typeof sibling === "string"
					? this.#known.contents.get(sibling)?.[its?.key ?? ""]
					: targetOf(sibling.references, its);
			if (own !== undefined && whole === own) continue;
			return `${reference.field} must be a ${reference.target} of the same ${parent.field}.`;
		}
		return null;
	}

	/** An object without an owner gets the owner of its parent. */
	#inherit(line: ObjectLine, references: ResolvedReference[]): void {
		const from = inheritedFrom(this.#visibility, line);
		const inherits = this.#visibility.inheritedOwnerOf(line.type.name);
		if (from === null || inherits === null) return;
		const id = this.#known.ids.get(from);
		const owner =
			id === undefined
				? targetOf(this.made.get(from)?.references ?? [], inherits)
				: this.#known.contents.get(id)?.[inherits.key];
		if (owner !== undefined && owner !== null) {
			references.push({ reference: inherits, target: owner as Target });
		}
	}
}

/** Why a line is bad when other objects have some of its natural keys. None: they gave them up meanwhile. */
export function nameTakenReason(
	type: ObjectType,
	taken: readonly LookupKey[],
): string {
	const names = new Set(taken.map(({ name }) => name));
	const fields = type.lookups
		.filter(({ name }) => names.size === 0 || names.has(name))
		.map(({ parts }) => parts.map(({ field }) => field).join(" with "));
	return names.size > 1
		? `The ${type.name}'s ${fields.join(" and ")} are taken.`
		: `The ${type.name}'s ${fields.join(" or ")} is taken.`;
}
