import type {
	DocumentNode,
	FieldNode,
	GraphQLError,
	GraphQLField,
	OperationDefinitionNode,
} from "graphql";
import type { Node, PageArguments, PageFields } from "../graph/types.ts";
import type { Id } from "../id/ids.ts";
import type { FieldSource, Mapping } from "../model/types.ts";
import type { BatchResolver } from "./batchResolver.ts";
import type { ScalarFormat } from "./scalarFormat.ts";

/**
 * One operation, compiled for one set of values of the variables that its
 * `@skip` and `@include` name, so a plan has no conditions. Requests share
 * plans, so a plan never changes after `compilePlan`.
 */
export interface Plan {
	readonly operation: OperationDefinitionNode;
	readonly root: Selection;
	/** Whether root fields execute one after another, as in a mutation. */
	readonly serial: boolean;
	/** In document order. */
	readonly steps: readonly PlanStep[];
	/** Scans and calls whose arguments contain a variable: the cost of the plan depends on these. */
	readonly variableSteps: readonly PlannedField[];
	/** Whether a resolver's result or a private list depends on the viewer. The visibility of objects always does, and does not count here. */
	readonly dependsOnViewer: boolean;
}

/** One batch read for all parents of a level: the unit of cost and of explain. */
export interface PlanStep {
	/** Unique in its plan. */
	readonly number: number;
	readonly kind: "scan" | "fetch" | "call";
	/** The response path, without list indexes. */
	readonly path: string;
	/** The schema coordinate: `Type.field`. */
	readonly field: string;
	/** The mapping, the types that may be fetched, or the resolver's field. */
	readonly target: string;
	/** The step whose result this one needs; null at the root. */
	readonly parent: number | null;
	/** True for a fetch that the scan above it does: the graph reads the objects of a page to decide which the viewer may see. */
	readonly withPage: boolean;
}

/** The fields selected of one concrete type, merged by CollectFields (spec §6.3.2). */
export interface Selection {
	readonly type: string;
	/** In response order, without `__typename`: that is in the text around the fields. */
	readonly fields: readonly PlannedField[];
	/** Those of `fields` that have a column, in order. */
	readonly columns: readonly PlannedField[];
	/** JSON after the value of the last field. */
	readonly tail: string;
	/** Characters of an object with this selection in JSON, if all values are null. */
	readonly characters: number;
	/** Fields that read the same value as others of the selection, by aliases. A small object with a long text can be a long response only by these. */
	readonly repeatedTexts: readonly PlannedField[];
	/** An invalid condition, such as `@skip(if: $v)` with `$v` null. It becomes the error of every object with this selection. */
	readonly error: GraphQLError | null;
}

export interface PlannedField {
	/** Unique in its plan, from 0. */
	readonly number: number;
	/** The response key. */
	readonly key: string;
	/** JSON between the value of the field before and the value of this one: `{"key":` or `,"key":`. */
	readonly prefix: string;
	/** Index in `Selection.columns`; -1 for a leaf that the writer reads from the parent. */
	readonly column: number;
	readonly name: string;
	/** The schema coordinate: `Type.field`. */
	readonly coordinate: string;
	/** All fields of the document that were merged into this one. */
	readonly nodes: readonly FieldNode[];
	readonly definition: GraphQLField<unknown, unknown>;
	/** Null if the arguments contain a variable, so that each request coerces its own. */
	readonly constantArguments: CoercedArguments | GraphQLError | null;
	/** Where each argument comes from, if every one is a constant or a variable. */
	readonly argumentSources: readonly ArgumentSource[] | null;
	readonly source: FieldSource | null;
	readonly access: Access;
	readonly shape: Shape;
	/** The shape inside all lists, if it is an object's. */
	readonly objectShape: ObjectShape | null;
}

export type ArgumentSource =
	| { readonly name: string; readonly value: unknown }
	| {
			readonly name: string;
			readonly variable: string;
			readonly nullable: boolean;
	  };

export interface CoercedArguments {
	readonly args: Readonly<Record<string, unknown>>;
	/** Null unless the field is a scan. */
	readonly page: PageArguments | null;
}

/** How a field gets its value. */
export type Access =
	| { readonly kind: "value"; readonly of: (source: unknown) => unknown }
	| ScanAccess
	| {
			readonly kind: "call";
			readonly resolver: BatchResolver<unknown>;
			readonly step: PlanStep;
			/** The mapping whose edges are the results, and the fetch of their objects; absent for other results. */
			readonly edges?: { readonly mapping: Mapping; readonly fetch: PlanStep };
	  }
	/** `__schema` and `__type`: graphql-js executes a document of that field alone. */
	| { readonly kind: "introspection"; readonly document: DocumentNode };

export interface ScanAccess {
	readonly kind: "scan";
	readonly mapping: Mapping;
	/** Null for a list that belongs to the parent. */
	readonly globalListId: Id | null;
	/** The fields of the page that the operation selects. */
	readonly pageFields: PageFields;
	readonly step: PlanStep;
	/** The fetch of the page's objects; null if no edge is needed. */
	readonly fetch: PlanStep | null;
}

/** How CompleteValue turns a value into a result (spec §6.4.3). */
export type Shape = LeafShape | ListShape | ObjectShape;

export interface LeafShape {
	readonly kind: "leaf";
	readonly nullable: boolean;
	readonly format: ScalarFormat;
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
	/** Whether null has an error at its path: the SDL says `@semanticNonNull`. */
	readonly isNullOnlyOnError: boolean;
	/** By concrete type. */
	readonly selections: ReadonlyMap<string, Selection>;
	/** The only selection, if the field's type is concrete. */
	readonly only: Selection | null;
	/** For objects of the graph, whose values are ids or nodes; null for records. */
	readonly fetch: PlanStep | null;
}

/** The shape inside all lists. */
export function namedShape(shape: Shape): LeafShape | ObjectShape {
	return shape.kind === "list" ? namedShape(shape.of) : shape;
}

/** The selection of an object's type: undefined if the shape has none. */
export function selectionOf(
	{ only, selections, fetch }: ObjectShape,
	object: unknown,
): Selection | undefined {
	if (fetch === null) return only ?? selections.get(typenameOf(object));
	const { type } = object as Node;
	if (only === null) return selections.get(type);
	return only.type === type ? only : undefined;
}

export function isNode(value: unknown): value is Node {
	return typeof value === "object" && value !== null && "type" in value;
}

/** A record of an abstract type names its concrete type. */
function typenameOf(record: unknown): string {
	return typeof record === "object" && record !== null && "__typename" in record
		? String(record.__typename)
		: "";
}
