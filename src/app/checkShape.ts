import { CorkboardError } from "../errors.ts";
import type {
	TypeVisibility,
	VisibilityPolicy,
} from "../graph/read/visibilityPolicy.ts";
import type { FieldPolicy } from "../model/validation.ts";
import type { TypeRights } from "../resolvers/declaredMutations.ts";
import { didYouMean } from "../util/nearest.ts";
import type { App, Policies } from "./defineApp.ts";

type Keys<T> = Readonly<Record<keyof T, true>>;

const POLICIES: Keys<Policies> = {
	visibility: true,
	placement: true,
	fields: true,
	rights: true,
	createdAtField: true,
};
const VISIBILITY: Keys<VisibilityPolicy> = {
	types: true,
	privateLists: true,
	hides: true,
};
const OF_TYPE: Keys<TypeVisibility> = {
	parent: true,
	owner: true,
	inheritsOwner: true,
	siblings: true,
	isVisible: true,
	sharedBy: true,
	closed: true,
	decidedBy: true,
};
const RIGHTS: Keys<TypeRights> = {
	create: true,
	update: true,
	delete: true,
	move: true,
};
const FIELD: Keys<FieldPolicy> = {
	validate: true,
	defaultFrom: true,
	operatorOnly: true,
};

/**
 * What types say of an app, for one that was not compiled: a name that means nothing
 * would be ignored, and what it should hide would be seen. Throws BAD_MODEL.
 */
export function checkShape({ resolvers, policies }: App): void {
	for (const [path, resolver] of resolvers) {
		const { resolve, cost } = { ...(resolver as Partial<typeof resolver>) };
		if (typeof resolve === "function" && typeof cost === "function") continue;
		throw wrong(
			`The resolver of ${path} must be an object with the functions cost and resolve, got ${kindOf(resolver)}.`,
		);
	}
	requireKeys("policies", policies, POLICIES);
	const { visibility, rights, fields } = policies;
	if (visibility !== undefined) {
		requireKeys("policies.visibility", visibility, VISIBILITY);
		requireEach("policies.visibility.types", visibility.types, OF_TYPE);
	}
	if (rights !== undefined) requireEach("policies.rights", rights, RIGHTS);
	for (const [type, each] of Object.entries(fields ?? {})) {
		const path = `policies.fields.${type}`;
		requireEach(path, each, FIELD);
		for (const [field, { validate }] of Object.entries(each)) {
			if (typeof validate === "function") continue;
			throw wrong(
				`${path}.${field}.validate must be a function, such as text(100), got ${kindOf(validate)}.`,
			);
		}
	}
}

function requireEach(path: string, of: object, known: Keys<object>): void {
	for (const [name, value] of Object.entries(of)) {
		requireKeys(`${path}.${name}`, value, known);
	}
}

function requireKeys(path: string, value: unknown, known: Keys<object>): void {
	const names = Object.keys(known);
	if (typeof value !== "object" || value === null) {
		throw wrong(
			`${path} must be an object with ${names.join(", ")}, got ${kindOf(value)}.`,
		);
	}
	const unknown = Object.keys(value).find((name) => !names.includes(name));
	if (unknown === undefined) return;
	throw wrong(
		`${path} has ${unknown}, which means nothing there.${didYouMean(unknown, names)}`,
	);
}

function kindOf(value: unknown): string {
	if (typeof value === "function") return "a function";
	return typeof value === "object" && value !== null
		? "another object"
		: String(value);
}

function wrong(sentence: string): CorkboardError {
	return new CorkboardError("BAD_MODEL", sentence);
}
