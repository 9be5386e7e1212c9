import { CorkboardError } from "../errors.ts";
import type { FeedDefinition } from "../feed/feedModel.ts";
import type { VisibilityPolicy } from "../graph/read/visibilityPolicy.ts";
import type { PlacementPolicy } from "../graph/write/placement.ts";
import type { RequestContext } from "../graphql/context.ts";
import type { Id } from "../id/ids.ts";
import type { FieldPolicies } from "../model/validation.ts";
import type { Resolvers } from "../plan/batchResolver.ts";
import type { AnyJob } from "../queue/job.ts";
import type { Rights } from "../resolvers/declaredMutations.ts";
import type { JobContext } from "./jobContext.ts";

/** A graph of its own: what it stores, who may see and change what, and what else its program does. */
export interface App {
	/** The absolute path of the folder with the SDL, and with its lock file, `model.lock.json`. */
	readonly schema: string;
	/** By `Type.field`. Every other field follows from the SDL. */
	readonly resolvers: Resolvers<RequestContext>;
	readonly policies: Policies;
	readonly identity: Identity;
	/** Its home feed. Without it there are no tables, jobs, commands and metrics of one. */
	readonly feed?: FeedDefinition;
	/** Its kinds of jobs, one for each queue. */
	readonly jobs?: readonly AnyJob<JobContext>[];
	/** A query that everybody may try first. */
	readonly firstQuery?: string;
	/** What an empty data folder starts with. */
	readonly demo?: AppDemo;
}

/** What the engine cannot read from the SDL. */
export interface Policies {
	/** Who may see what. A type without an entry is visible to everyone. */
	readonly visibility?: VisibilityPolicy;
	/** Where a new object is stored. A type without an entry: on any open shard. */
	readonly placement?: PlacementPolicy;
	/** What a stored field may hold, by type and field. */
	readonly fields?: FieldPolicies;
	/** Who may use the mutations that the SDL declares, by type, where it is not the owner of each object alone. */
	readonly rights?: Rights;
	/** The stored field that holds when an object was created; an import sets it if a line lacks it. */
	readonly createdAtField?: string;
}

/** Which objects may be viewers, and the lookups that find them. */
export interface Identity {
	/** The type that viewers are of. */
	readonly type: string;
	/** The lookup that finds a user by the name it chose. */
	readonly nameLookup: string;
	/** The lookup that finds a user by its subject at another token issuer. Without it no other issuer can sign a user in. */
	readonly accountLookup?: string;
	/** The stored field that says since when an account is closed. Without it none can be. */
	readonly closedField?: string;
}

/** A graph to look around in. */
export interface AppDemo {
	/** Lines of an import. */
	graph(): Iterable<object>;
	/** The user that GraphiQL signs in, by its name. */
	readonly viewer: string;
	/** Further users that one may be in GraphiQL. */
	readonly others?: readonly string[];
	/** What that user may try first in a shell. */
	readonly firstQuery: string;
	/** GraphiQL's first tabs. */
	examples(asking: {
		readonly query: JobContext["query"];
		readonly viewer: Id;
	}): Promise<readonly Example[]>;
}

/** A document to try, with its variables. The name of its operation is the tab's title. */
export interface Example {
	readonly query: string;
	readonly variables?: Readonly<Record<string, unknown>>;
}

/** What an app may have or leave out: what it adds to the rest. Its SDL is in files of its own. */
export interface Part
	extends Partial<Pick<App, "resolvers" | "feed" | "jobs">> {
	readonly policies?: Omit<Policies, "visibility"> & {
		readonly visibility?: Partial<VisibilityPolicy>;
	};
}

/** Policies that are written by themselves. */
export function policy(policies: Policies): Policies {
	return policies;
}

/** An app as its file exports it, with its parts. Throws BAD_MODEL for what two of them say. */
export function defineApp({
	parts = [],
	...app
}: App & { readonly parts?: readonly Part[] }): App {
	let whole: App = app;
	for (const { resolvers = [], policies = {}, jobs = [], feed } of parts) {
		if (feed && whole.feed) throw saidTwice("feed");
		for (const [path] of resolvers) {
			if (whole.resolvers.has(path)) throw saidTwice(`the resolver ${path}`);
		}
		whole = {
			...whole,
			...(feed && { feed }),
			resolvers: new Map([...whole.resolvers, ...resolvers]),
			policies: together(whole.policies, policies),
			jobs: [...(whole.jobs ?? []), ...jobs],
		};
	}
	return whole;
}

function together(
	one: Policies,
	{
		visibility,
		placement,
		fields,
		rights,
		...other
	}: NonNullable<Part["policies"]>,
): Policies {
	if (one.createdAtField && other.createdAtField) {
		throw saidTwice("policies.createdAtField");
	}
	return {
		...one,
		...other,
		visibility: {
			types: byType(
				"visibility.types",
				one.visibility?.types,
				visibility?.types,
			),
			privateLists: [
				...(one.visibility?.privateLists ?? []),
				...(visibility?.privateLists ?? []),
			],
			hides: joined(
				"policies.visibility.hides",
				one.visibility?.hides,
				visibility?.hides,
			),
		},
		placement: joined("policies.placement", one.placement, placement),
		fields: byType("fields", one.fields, fields),
		rights: byType("rights", one.rights, rights),
	};
}

/** What both say of each type. */
function byType<T extends object>(
	of: string,
	one: Readonly<Record<string, T>> = {},
	other: Readonly<Record<string, T>> = {},
): Readonly<Record<string, T>> {
	return Object.fromEntries(
		[...new Set([...Object.keys(one), ...Object.keys(other)])].map((type) => [
			type,
			joined(`policies.${of}.${type}`, one[type], other[type]) as T,
		]),
	);
}

/** What both say; lists are put together. */
function joined<T extends object>(
	path: string,
	one: T | undefined,
	other: T | undefined,
): T {
	const whole: Record<string, unknown> = { ...one };
	for (const [name, value] of Object.entries(other ?? {})) {
		const known = whole[name];
		if (Array.isArray(known) && Array.isArray(value)) {
			whole[name] = [...known, ...value];
		} else if (known === undefined) {
			whole[name] = value;
		} else if (value !== undefined) {
			throw saidTwice(`${path}.${name}`);
		}
	}
	return whole as T;
}

/** The second would silently replace the first: who may see something, say. */
function saidTwice(what: string): CorkboardError {
	return new CorkboardError(
		"BAD_MODEL",
		`The app and a part of it, or two parts, both have ${what}: one would replace the other.`,
	);
}
