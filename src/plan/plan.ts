import type {
	DocumentNode,
	FieldNode,
	GraphQLError,
	GraphQLField,
	OperationDefinitionNode,
} from "graphql";
import type { PageArguments, PageFields } from "../graph/types.ts";
import type { Id } from "../id/ids.ts";
import type { FieldSource, Mapping } from "../model/types.ts";
import type { BatchResolver } from "./batchResolver.ts";

/**
 * One operation, compiled for one set of values of the variables its `@skip`
 * and `@include` name: nothing conditional is left in it. Shared by all
 * requests that run it, so nothing here changes after `compile`.
 */
export interface Plan {
	readonly operation: OperationDefinitionNode;
	readonly root: Selection;
	/** Root fields one after another: a mutation. */
	readonly serial: boolean;
	/** In the order of the document. */
	readonly steps: readonly Step[];
	/** Whether a resolver's answer in it depends on who asks. What may be seen of objects always does. */
	readonly dependsOnViewer: boolean;
}

/** One read of the graph for all parents of a level: what cost and explain show. */
export interface Step {
	/** Tells it from the others of its plan. */
	readonly number: number;
	readonly kind: "scan" | "fetch" | "call";
	/** Response keys from the root: `user.followers`. */
	readonly path: string;
	/** The field in the schema: `User.followers`. */
	readonly field: string;
	/** The mapping's name, the types that may be fetched, or the resolver's field. */
	readonly target: string;
	/** The step whose answer this one needs; null at the root. */
	readonly parent: number | null;
	/** A fetch that comes along with the scan above it: the graph reads a page's objects to decide what the viewer may see of it. */
	readonly withPage: boolean;
}

/** What is selected of one concrete type, merged as CollectFields says (spec §6.3.2). */
export interface Selection {
	readonly type: string;
	/** A data object to copy: all keys in response order, null, but for `__typename`, which is there already. */
	readonly template: Readonly<Record<string, unknown>>;
	/** Of such an object in JSON, but for what its values hold. */
	readonly characters: number;
	/** In response order, `__typename` left out. */
	readonly fields: readonly PlannedField[];
	/** A condition that could not be read, such as `@skip(if: $v)` with $v null: the error of every object selected so. */
	readonly error: GraphQLError | null;
}

export interface PlannedField {
	/** Tells it from the others of its plan, from 0. */
	readonly number: number;
	/** The response key. */
	readonly key: string;
	readonly name: string;
	/** In the schema: `User.followers`. */
	readonly coordinate: string;
	/** Every place of the document that was merged into this field. */
	readonly nodes: readonly FieldNode[];
	readonly definition: GraphQLField<unknown, unknown>;
	/** The arguments, if no variable is among them; null if each request has its own. */
	readonly constantArguments: CoercedArguments | GraphQLError | null;
	readonly source: FieldSource | null;
	readonly access: Access;
	readonly shape: Shape;
}

/** A field's arguments, coerced. */
export interface CoercedArguments {
	readonly args: Readonly<Record<string, unknown>>;
	/** For a scan. */
	readonly page: PageArguments | null;
}

/** How a field's value is had. */
export type Access =
	| { readonly kind: "value"; readonly of: (source: unknown) => unknown }
	| {
			readonly kind: "scan";
			readonly mapping: Mapping;
			/** The list's owner where it is not the parent. */
			readonly rootId: Id | null;
			readonly parts: PageFields;
			readonly step: Step;
			/** The fetch that comes along; null if no edge is looked at. */
			readonly fetch: Step | null;
	  }
	| {
			readonly kind: "call";
			readonly resolver: BatchResolver<unknown>;
			readonly step: Step;
	  }
	/** `__schema` and `__type`: a document of that field alone, for graphql-js. */
	| { readonly kind: "introspection"; readonly document: DocumentNode };

/** How a value becomes part of the answer (spec §6.4.3, CompleteValue). */
export type Shape = LeafShape | ListShape | ObjectShape;

export interface LeafShape {
	readonly kind: "leaf";
	readonly nullable: boolean;
	readonly serialize: (value: unknown) => unknown;
}

export interface ListShape {
	readonly kind: "list";
	readonly nullable: boolean;
	readonly of: Shape;
}

export interface ObjectShape {
	readonly kind: "object";
	readonly nullable: boolean;
	/** By concrete type. */
	readonly selections: ReadonlyMap<string, Selection>;
	/** The one selection of a field whose type is concrete. */
	readonly only: Selection | null;
	/** Set where values are objects of the graph, given as ids or nodes; null for plain records. */
	readonly fetch: Step | null;
}

/** The shape inside all lists. */
export function namedShape(shape: Shape): LeafShape | ObjectShape {
	return shape.kind === "list" ? namedShape(shape.of) : shape;
}
