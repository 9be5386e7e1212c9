import {
	type DocumentNode,
	type FieldNode,
	GraphQLError,
	type GraphQLObjectType,
	type GraphQLOutputType,
	type GraphQLSchema,
	getNamedType,
	isLeafType,
	isListType,
	isNonNullType,
	isObjectType,
	type OperationDefinitionNode,
	OperationTypeNode,
} from "graphql";
import { CorkboardError } from "../errors.ts";
import type { Visibility } from "../graph/domain.ts";
import {
	type FieldSource,
	globalListId,
	type Mapping,
	type Model,
} from "../model/types.ts";
import type { BatchResolver, Resolvers } from "./batchResolver.ts";
import { argumentSources, coerceConstantArguments } from "./boundPlan.ts";
import { collectFields, type Fragments } from "./collectFields.ts";
import { inputError } from "./errors.ts";
import { introspectionDocument, introspectionField } from "./introspection.ts";
import { quote } from "./jsonText.ts";
import { payloadEdges } from "./payloadEdges.ts";
import {
	type Access,
	namedShape,
	type Plan,
	type PlannedField,
	type Selection,
	type Shape,
	type Step,
} from "./plan.ts";
import { scalarFormat } from "./scalarFormat.ts";
import {
	EMPTY_SELECTION,
	hasColumn,
	leadingLeaves,
	repeatedTexts,
} from "./selections.ts";
import { needsEdges, pageFieldsOf, valueReader } from "./valueReader.ts";

/**
 * Fields of a plan. Thirty fragments that each spread the next one twice would
 * expand to 2^30 fields; compilation stops at this number.
 */
const MAX_FIELDS = 10_000;

export interface CompileContext {
	readonly schema: GraphQLSchema;
	readonly model: Model;
	readonly resolvers: Resolvers<never>;
	readonly visibility: Pick<Visibility, "isPrivateList">;
}

/** What encloses a selection. */
interface Enclosing {
	readonly path: string;
	/** The step that yields the objects with the selection; null at the root. */
	readonly step: Step | null;
	/** Inside a page: the fetch of its objects. */
	readonly pageFetch: Step | null;
}

/**
 * Compiles an operation for the given values of its condition variables.
 * Throws TOO_EXPENSIVE for an operation with too many fields.
 */
export function compilePlan(
	{ schema, model, resolvers, visibility }: CompileContext,
	document: DocumentNode,
	operation: OperationDefinitionNode,
	fragments: Fragments,
	variables: Readonly<Record<string, unknown>>,
): Plan {
	const rootType = schema.getRootType(operation.operation);
	if (!rootType || operation.operation === OperationTypeNode.SUBSCRIPTION) {
		throw new GraphQLError(
			`Schema is not configured to execute ${operation.operation} operation.`,
			{ nodes: operation },
		);
	}
	const steps: Step[] = [];
	const unused = new Set<Step>();
	const variableSteps: PlannedField[] = [];
	let fields = 0;
	let dependsOnViewer = false;

	function select(
		type: GraphQLObjectType,
		nodes: readonly Pick<FieldNode, "selectionSet">[],
		enclosing: Enclosing,
	): Selection {
		const selected: PlannedField[] = [];
		const columns: PlannedField[] = [];
		let characters = 2;
		let collected: ReturnType<typeof collectFields>;
		try {
			collected = collectFields(
				{ schema, fragments, variables },
				type,
				nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
			);
		} catch (thrown) {
			const error = inputError(thrown);
			return { ...EMPTY_SELECTION, type: type.name, error };
		}
		/** JSON since the value before. */
		let text = "{";
		let separator = "";
		for (const [key, merged] of collected) {
			const name = (merged[0] as FieldNode).name.value;
			const prefix = `${text}${separator}${quote(key)}:`;
			if (name === "__typename") {
				text = `${prefix}${quote(type.name)}`;
				characters += text.length;
			} else {
				const planned = planField(type, key, merged, enclosing);
				if (planned === null) continue;
				const column = hasColumn(planned) ? columns.length : -1;
				const field = { ...planned, prefix, column };
				selected.push(field);
				if (field.constantArguments === null) variableSteps.push(field);
				if (column >= 0) columns.push(field);
				characters += prefix.length + "null".length;
				text = "";
			}
			separator = ",";
		}
		return {
			type: type.name,
			fields: selected,
			columns,
			tail: `${text}}`,
			characters,
			leaves: model.objects.has(type.name) ? leadingLeaves(selected) : null,
			repeatedTexts: repeatedTexts(selected),
			error: null,
		};
	}

	/** Null for a field that the type does not have; validation reports it. */
	function planField(
		type: GraphQLObjectType,
		key: string,
		nodes: readonly FieldNode[],
		enclosing: Enclosing,
	): Omit<PlannedField, "prefix" | "column"> | null {
		if (fields === MAX_FIELDS) {
			throw new CorkboardError(
				"TOO_EXPENSIVE",
				`The operation has more than ${MAX_FIELDS} fields after its fragments are expanded.`,
			);
		}
		const number = fields++;
		const name = (nodes[0] as FieldNode).name.value;
		const introspection =
			type === schema.getQueryType() ? introspectionField(name) : undefined;
		const definition = introspection ?? type.getFields()[name];
		if (definition === undefined) return null;
		const coordinate = `${type.name}.${name}`;
		const field = { number, key, name, coordinate, nodes, definition };
		if (introspection !== undefined) {
			return {
				...field,
				source: null,
				constantArguments: { args: {}, page: null },
				argumentSources: null,
				access: {
					kind: "introspection",
					document: introspectionDocument(document, operation, nodes),
				},
				// graphql-js completes the value, so only `nullable` is used.
				shape: {
					kind: "leaf",
					nullable: !isNonNullType(definition.type),
					format: "other",
					serialize: (value) => value,
				},
				objectShape: null,
			};
		}
		const source = model.sources.get(type.name)?.get(name);
		if (source === undefined) {
			throw new TypeError(`${coordinate} has no source`);
		}
		const path = enclosing.path === "" ? key : `${enclosing.path}.${key}`;
		const position = { path, field: coordinate };
		const step = addOwnStep(source, position, enclosing.step);
		const below = selectBelow(source, definition.type, nodes, position, {
			...enclosing,
			step: step ?? enclosing.step,
		});
		const shape = shapeOf(definition.type, below);
		const access = accessTo(source, field, shape, step, below.pageFetch);
		const constantArguments = coerceConstantArguments({
			definition,
			nodes,
			access,
		});
		const named = namedShape(shape);
		return {
			...field,
			source,
			constantArguments,
			argumentSources:
				constantArguments === null
					? argumentSources(definition, nodes[0] as FieldNode)
					: null,
			access,
			shape,
			objectShape: named.kind === "object" ? named : null,
		};
	}

	/** The selections of a field's value, and the step that fetches the objects with them. */
	function selectBelow(
		source: FieldSource,
		type: GraphQLOutputType,
		nodes: readonly FieldNode[],
		position: Pick<Step, "path" | "field">,
		enclosing: Enclosing,
	): Below {
		const named = getNamedType(type);
		if (isLeafType(named)) return LEAF;
		const concretes = isObjectType(named)
			? [named]
			: schema.getPossibleTypes(named);
		const isInPage = source.kind === "page" || source.kind === "edge";
		const parent = enclosing.step?.number ?? null;
		let fetch: Step | null = null;
		let pageFetch = isInPage ? enclosing.pageFetch : null;
		if (source.kind === "mapping" || source.kind === "payloadEdge") {
			// Added before its subselections, to keep steps in document order.
			// accessTo drops it if they turn out not to need the objects.
			pageFetch = addStep({
				...position,
				kind: "fetch",
				target: mappingOf(source).to,
				parent,
				withPage: true,
			});
		} else if (concretes.every(({ name }) => model.objects.has(name))) {
			fetch =
				pageFetch ??
				addStep({
					...position,
					kind: "fetch",
					target: concretes.map(({ name }) => name).join(" | "),
					parent,
					withPage: false,
				});
		}
		const inside: Enclosing = {
			path: position.path,
			step: fetch ?? enclosing.step,
			pageFetch,
		};
		const selections = new Map(
			concretes.map((concrete) => [
				concrete.name,
				select(concrete, nodes, inside),
			]),
		);
		return { selections, fetch, pageFetch };
	}

	function mappingOf({
		mapping,
	}: Extract<FieldSource, { kind: "mapping" | "payloadEdge" }>): Mapping {
		return model.mappings.get(mapping) as Mapping;
	}

	function addStep(step: Omit<Step, "number">): Step {
		const added = { number: steps.length, ...step };
		steps.push(added);
		return added;
	}

	/** Null for a field that reads its value from its parent. */
	function addOwnStep(
		source: FieldSource,
		position: Pick<Step, "path" | "field">,
		above: Step | null,
	): Step | null {
		const { kind } = source;
		if (kind !== "mapping" && kind !== "resolver" && kind !== "payloadEdge") {
			return null;
		}
		return addStep({
			...position,
			kind: kind === "mapping" ? "scan" : "call",
			target: kind === "resolver" ? position.field : source.mapping,
			parent: above?.number ?? null,
			withPage: false,
		});
	}

	function accessTo(
		source: FieldSource,
		{ name, coordinate }: Pick<PlannedField, "name" | "coordinate">,
		shape: Shape,
		step: Step | null,
		pageFetch: Step | null,
	): Access {
		if (source.kind === "mapping") {
			const mapping = mappingOf(source);
			dependsOnViewer ||= visibility.isPrivateList(mapping);
			const page = namedShape(shape);
			const pageFields = pageFieldsOf(
				page.kind === "object" ? page.only : null,
			);
			const needsFetch = needsEdges(pageFields);
			if (pageFetch !== null && !needsFetch) unused.add(pageFetch);
			return {
				kind: "scan",
				mapping,
				globalListId:
					mapping.from === null ? globalListId(model, mapping) : null,
				pageFields,
				step: step as Step,
				fetch: needsFetch ? pageFetch : null,
			};
		}
		if (source.kind === "resolver") {
			const resolver = resolvers.get(coordinate) as BatchResolver<unknown>;
			dependsOnViewer ||= resolver.dependsOnViewer;
			return { kind: "call", resolver, step: step as Step };
		}
		if (source.kind === "payloadEdge") {
			const mapping = mappingOf(source);
			return {
				kind: "call",
				resolver: payloadEdges(mapping, source),
				step: step as Step,
				edges: { mapping, fetch: pageFetch as Step },
			};
		}
		return { kind: "value", of: valueReader(source, name) };
	}

	const root = select(rootType, [operation], {
		path: "",
		step: null,
		pageFetch: null,
	});
	return {
		operation,
		root,
		serial: operation.operation === OperationTypeNode.MUTATION,
		steps: steps.filter((step) => !unused.has(step)),
		variableSteps: variableSteps.filter(({ access }) =>
			["scan", "call"].includes(access.kind),
		),
		dependsOnViewer,
	};
}

/** What is selected below a field. */
interface Below {
	readonly selections: ReadonlyMap<string, Selection>;
	readonly fetch: Step | null;
	/** For a field inside a page: the fetch of its objects. */
	readonly pageFetch: Step | null;
}

const LEAF: Below = { selections: new Map(), fetch: null, pageFetch: null };

function shapeOf(type: GraphQLOutputType, below: Below): Shape {
	const nullable = !isNonNullType(type);
	const inner = isNonNullType(type) ? type.ofType : type;
	if (isListType(inner)) {
		return { kind: "list", nullable, of: shapeOf(inner.ofType, below) };
	}
	if (isLeafType(inner)) {
		return {
			kind: "leaf",
			nullable,
			format: scalarFormat(inner),
			serialize: (value) => inner.serialize(value),
		};
	}
	const { selections, fetch } = below;
	const only = isObjectType(inner)
		? (selections.get(inner.name) as Selection)
		: null;
	return { kind: "object", nullable, selections, only, fetch };
}
