import type { FeedDefinition, FollowedSource } from "../feed/feedModel.ts";
import type {
	TypeVisibility,
	VisibilityPolicy,
} from "../graph/read/visibilityPolicy.ts";
import type { Node } from "../graph/types.ts";
import type { RequestContext } from "../graphql/context.ts";
import type { InputId } from "../graphql/input/validators.ts";
import type { Id } from "../id/ids.ts";
import type { Lookup, Mapping, Model } from "../model/types.ts";
import type { FieldPolicy, Validator } from "../model/validation.ts";
import type { BatchResolver, Resolvers } from "../plan/batchResolver.ts";
import type { TypeRights } from "../resolvers/declaredMutations.ts";
import { edgeMutations } from "../resolvers/edgeMutation.ts";
import { listCount } from "../resolvers/listCount.ts";
import { byIdOrKey } from "../resolvers/nodeResolvers.ts";
import { findVisible, requireVisible } from "../resolvers/requireVisible.ts";
import {
	lookupOf,
	mappingOf,
	newStoredJson,
	referenceOf,
	storedFields,
	storedValue,
	updatedStoredJson,
} from "../resolvers/storedJson.ts";
import { viewerMembership } from "../resolvers/viewerMembership.ts";
import type { JsonObject, JsonValue } from "../util/json.ts";
import {
	type App,
	defineApp,
	type Identity,
	type Part,
	policy,
} from "./defineApp.ts";

/** What `corkboard schema types` writes of a schema. */
export interface SchemaTypes {
	readonly objects: object;
	readonly inputs: object;
	readonly mutations: object;
	readonly mappings: object;
	readonly lookups: object;
	readonly resolvers: object;
}

export type Name<T> = keyof T & string;
type Entry<T, K extends string> =
	T extends Readonly<Record<K, infer P>> ? P : never;
type Objects<S extends SchemaTypes> = S["objects"];
export type TypeOf<S extends SchemaTypes> = Name<Objects<S>>;
/** Stored fields of a type, of all types if it is not known which. */
export type Stored<S extends SchemaTypes, T> = T extends keyof Objects<S>
	? Entry<Objects<S>[T], "fields">
	: never;
export type References<S extends SchemaTypes, T> = T extends keyof Objects<S>
	? Entry<Objects<S>[T], "references">
	: never;
type Data<S extends SchemaTypes, T> = T extends keyof Objects<S>
	? Entry<Objects<S>[T], "data">
	: never;
/** The names of each of some records. */
type NamesOf<T> = T extends unknown ? keyof T & string : never;
type AnyField<S extends SchemaTypes, T> = NamesOf<
	Stored<S, T> | References<S, T>
>;
/** Values by field, of an object to store. */
type Values<S extends SchemaTypes, T extends TypeOf<S>> = {
	readonly [F in keyof Stored<S, T>]?: Stored<S, T>[F] | null | undefined;
} & {
	readonly [F in keyof References<S, T>]?: Id | null | undefined;
};
/** An object whose type is known. */
export type NodeOf<S extends SchemaTypes, T extends TypeOf<S>> = Omit<
	Node,
	"type" | "data"
> & {
	readonly type: T;
	/** The values by their stored keys: one that was never given is absent. */
	readonly data: Readonly<Data<S, T>>;
};

/** An object, whether its type is known or not. */
type AnyNode<T extends string> = Pick<Node, "id"> & {
	readonly type: T;
	readonly data: object;
};

type TypePolicy<S extends SchemaTypes, T extends TypeOf<S>> = Omit<
	TypeVisibility,
	| "parent"
	| "owner"
	| "siblings"
	| "isVisible"
	| "sharedBy"
	| "closed"
	| "decidedBy"
> & {
	readonly parent?: Name<References<S, T>>;
	readonly owner?: Name<References<S, T>>;
	readonly siblings?: readonly Name<References<S, T>>[];
	readonly isVisible?: (node: NodeOf<S, T>, viewer: Id | null) => boolean;
	readonly sharedBy?: Name<S["mappings"]>;
	readonly closed?: {
		readonly since: Name<Stored<S, T>>;
		readonly keptDays: number;
	};
	readonly decidedBy?: readonly Name<Stored<S, T>>[];
};

export interface VisibilityOf<S extends SchemaTypes> {
	readonly types: { readonly [T in TypeOf<S>]?: TypePolicy<S, T> };
	readonly privateLists: readonly Name<S["mappings"]>[];
	readonly hides?: {
		readonly [M in Name<S["mappings"]>]?: NonNullable<
			VisibilityPolicy["hides"]
		>[string];
	};
}

export type PlacementOf<S extends SchemaTypes> = {
	readonly [T in TypeOf<S>]?:
		| { readonly colocateWith: Name<References<S, T>> }
		| { readonly modShardOf: Name<Stored<S, T>> };
};

export type FieldsOf<S extends SchemaTypes> = {
	readonly [T in TypeOf<S>]?: {
		readonly [F in Name<Stored<S, T>>]?: Omit<
			FieldPolicy,
			"validate" | "defaultFrom"
		> & {
			readonly validate: Validator<NonNullable<Stored<S, T>[F]> & JsonValue>;
			readonly defaultFrom?: Name<Stored<S, T>>;
		};
	};
};

export type PoliciesOf<S extends SchemaTypes> = {
	readonly visibility?: VisibilityOf<S>;
	readonly placement?: PlacementOf<S>;
	readonly fields?: FieldsOf<S>;
	readonly rights?: { readonly [T in TypeOf<S>]?: TypeRights };
	readonly createdAtField?: AnyField<S, TypeOf<S>>;
};

type IdentityOf<S extends SchemaTypes> = Omit<
	Identity,
	"type" | "nameLookup" | "accountLookup"
> & {
	readonly type: TypeOf<S>;
	readonly nameLookup: Name<S["lookups"]>;
	readonly accountLookup?: Name<S["lookups"]>;
};

export type MappingName<S extends SchemaTypes> = Name<S["mappings"]>;

export type FeedOf<S extends SchemaTypes> = Omit<
	FeedDefinition,
	"list" | "from" | "related"
> & {
	readonly list: MappingName<S>;
	readonly from: readonly (Omit<FollowedSource, "follow" | "items"> & {
		readonly follow: MappingName<S>;
		readonly items: MappingName<S>;
	})[];
	readonly related?: {
		readonly liked?: MappingName<S>;
		readonly copies?: MappingName<S>;
		readonly together: MappingName<S>;
	};
};

type AppOf<S extends SchemaTypes> = Omit<
	App,
	"resolvers" | "policies" | "identity" | "feed"
> & {
	readonly resolvers: ResolversOf<S>;
	readonly policies: PoliciesOf<S>;
	readonly identity: IdentityOf<S>;
	readonly feed?: FeedOf<S>;
	readonly parts?: readonly PartOf<S>[];
};

export type PartOf<S extends SchemaTypes> = Omit<
	Part,
	"resolvers" | "policies" | "feed"
> & {
	readonly resolvers?: Resolvers<RequestContext>;
	readonly policies?: Omit<PoliciesOf<S>, "visibility"> & {
		readonly visibility?: Partial<VisibilityOf<S>>;
	};
	readonly feed?: FeedOf<S>;
};

/** Made by `resolvers`, or a map. */
type ResolversOf<S extends SchemaTypes> =
	| Resolvers<RequestContext>
	| { readonly [F in Name<S["resolvers"]>]?: BatchResolver<RequestContext> };

/** What an app writes with the names of its schema, so that a wrong one does not compile. */
export interface ForSchema<S extends SchemaTypes> {
	defineApp(app: AppOf<S>): App;
	policy(policies: PoliciesOf<S>): PoliciesOf<S>;
	/** Batch resolvers by `Type.field`, as a map. */
	resolvers(
		fields: {
			readonly [F in Name<S["resolvers"]>]?: BatchResolver<RequestContext>;
		},
	): Resolvers<RequestContext>;
	newStoredJson<T extends TypeOf<S>>(
		context: Parameters<typeof newStoredJson>[0],
		type: T,
		fields: Values<S, T>,
	): JsonObject;
	updatedStoredJson<T extends TypeOf<S>>(
		model: Model,
		type: T,
		data: JsonObject,
		fields: Values<S, T>,
	): JsonObject | null;
	/** Fields of the node's type, or those of any type if it is not known. */
	storedValue<T extends string>(
		model: Model,
		node: AnyNode<T>,
		field: AnyField<S, T extends TypeOf<S> ? T : TypeOf<S>>,
	): JsonValue | undefined;
	storedFields<T extends TypeOf<S>>(
		model: Model,
		node: NodeOf<S, T>,
	): Partial<Stored<S, T>>;
	referenceOf<T extends string>(
		model: Model,
		node: AnyNode<T>,
		field: NamesOf<References<S, T extends TypeOf<S> ? T : TypeOf<S>>>,
	): Id | null;
	mappingOf(model: Model, name: MappingName<S>): Mapping;
	lookupOf(model: Model, name: Name<S["lookups"]>): Lookup;
	requireVisible<T extends TypeOf<S>>(
		context: Parameters<typeof requireVisible>[0],
		type: T,
		id: InputId,
	): Promise<NodeOf<S, T>>;
	findVisible<T extends TypeOf<S>>(
		context: Parameters<typeof findVisible>[0],
		type: T,
		id: InputId,
	): Promise<NodeOf<S, T> | null>;
	viewerMembership(mapping: MappingName<S>): BatchResolver<RequestContext>;
	listCount(
		mapping: MappingName<S>,
		isShown?: Parameters<typeof listCount>[1],
	): BatchResolver<RequestContext>;
	byIdOrKey(
		field: string,
		lookup: Name<S["lookups"]>,
		isPossible?: (key: string) => boolean,
	): BatchResolver<RequestContext>;
	edgeMutations<T extends TypeOf<S>>(
		mapping: MappingName<S> & Name<S["mutations"]>,
		remove: Name<S["mutations"]>,
		to: T,
		options?: Parameters<typeof edgeMutations>[3],
	): ReturnType<typeof edgeMutations>;
}

type Entries = Readonly<Record<string, BatchResolver<RequestContext>>>;

const ALL = {
	defineApp: (
		app: Omit<App, "resolvers"> & {
			readonly resolvers: App["resolvers"] | Entries;
		},
	) => defineApp({ ...app, resolvers: mapOf(app.resolvers) }),
	policy,
	resolvers: mapOf,
	newStoredJson,
	updatedStoredJson,
	storedValue,
	storedFields,
	referenceOf,
	mappingOf,
	lookupOf,
	requireVisible,
	findVisible,
	listCount,
	viewerMembership,
	byIdOrKey,
	edgeMutations,
};

function mapOf(given: App["resolvers"] | Entries): App["resolvers"] {
	return given instanceof Map ? given : new Map(Object.entries(given));
}

/**
 * What has names of the schema in it, typed by what `corkboard schema types` wrote:
 *
 *     import type { Schema } from "./schema/types.d.ts";
 *     const { defineApp, storedValue } = forSchema<Schema>();
 */
export function forSchema<S extends SchemaTypes>(): ForSchema<S> {
	// Only the types differ: they name what the SDL has.
	return ALL as unknown as ForSchema<S>;
}
