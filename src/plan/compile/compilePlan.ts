import {
	type DocumentNode,
	type FieldNode,
	GraphQLError,
	type GraphQLObjectType,
	type GraphQLOutputType,
	type GraphQLSchema,
	getNamedType,
	isLeafType,
	isObjectType,
	type OperationDefinitionNode,
	OperationTypeNode,
} from "graphql";
import { CorkboardError } from "../../errors.ts";
import type { Visibility } from "../../graph/domain.ts";
import { semanticNonNullLevels } from "../../model/semanticNonNull.ts";
import {
	type FieldSource,
	globalListId,
	type Mapping,
	type Model,
} from "../../model/types.ts";
import { quote } from "../../util/json.ts";
import type { BatchResolver, Resolvers } from "../batchResolver.ts";
import { argumentSources, coerceConstantArguments } from "../boundPlan.ts";
import { inputError } from "../errors.ts";
import {
	introspected,
	introspectionDocument,
	introspectionField,
} from "../introspection.ts";
import {
	type Access,
	namedShape,
	type Plan,
	type PlannedField,
	type PlanStep,
	type Selection,
	type Shape,
} from "../plan.ts";
import { collectFields, type Fragments } from "./collectFields.ts";
import { payloadEdges } from "./payloadEdges.ts";
import {
	type Below,
	EMPTY_SELECTION,
	hasColumn,
	LEAF,
	repeatedTexts,
	shapeOf,
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
	readonly step: PlanStep | null;
	/** Inside a page: the fetch of its objects. */
	readonly pageFetch: PlanStep | null;
}

/**
 * Compiles an operation for the given values of its condition variables.
 * Throws TOO_EXPENSIVE for an operation with too many fields.
 */
export function compilePlan(
	context: CompileContext,
	document: DocumentNode,
	operation: OperationDefinitionNode,
	fragments: Fragments,
	variables: Readonly<Record<string, unknown>>,
): Plan {
	const rootType = context.schema.getRootType(operation.operation);
	if (!rootType || operation.operation === OperationTypeNode.SUBSCRIPTION) {
		throw new GraphQLError(
			`Schema is not configured to execute ${operation.operation} operation.`,
			{ nodes: operation },
		);
	}
	const source = { document, operation, fragments, variables };
	return new PlanCompiler(context, source).compile(rootType);
}

/** What a plan is compiled from. */
interface PlanSource {
	readonly document: DocumentNode;
	readonly operation: OperationDefinitionNode;
	readonly fragments: Fragments;
	readonly variables: Readonly<Record<string, unknown>>;
}

/** Compiles one plan: from the root down, field by field, in document order. */
class PlanCompiler {
	readonly #context: CompileContext;
	readonly #source: PlanSource;
	readonly #steps: PlanStep[] = [];
	readonly #unused = new Set<PlanStep>();
	readonly #variableSteps: PlannedField[] = [];
	#fields = 0;
	#dependsOnViewer = false;

	constructor(context: CompileContext, source: PlanSource) {
		this.#context = context;
		this.#source = source;
	}

	compile(rootType: GraphQLObjectType): Plan {
		const { operation } = this.#source;
		const root = this.#select(rootType, [operation], {
			path: "",
			step: null,
			pageFetch: null,
		});
		return {
			operation,
			root,
			serial: operation.operation === OperationTypeNode.MUTATION,
			steps: this.#steps.filter((step) => !this.#unused.has(step)),
			variableSteps: this.#variableSteps.filter(({ access }) =>
				["scan", "call"].includes(access.kind),
			),
			dependsOnViewer: this.#dependsOnViewer,
		};
	}

	#select(
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
				{
					schema: this.#context.schema,
					fragments: this.#source.fragments,
					variables: this.#source.variables,
				},
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
				const planned = this.#planField(type, key, merged, enclosing);
				if (planned === null) continue;
				const column = hasColumn(planned) ? columns.length : -1;
				const field = { ...planned, prefix, column };
				selected.push(field);
				if (field.constantArguments === null) this.#variableSteps.push(field);
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
			repeatedTexts: repeatedTexts(selected),
			error: null,
		};
	}

	/** Null for a field that the type does not have; validation reports it. */
	#planField(
		type: GraphQLObjectType,
		key: string,
		nodes: readonly FieldNode[],
		enclosing: Enclosing,
	): Omit<PlannedField, "prefix" | "column"> | null {
		if (this.#fields === MAX_FIELDS) {
			throw new CorkboardError(
				"TOO_EXPENSIVE",
				`The operation has more than ${MAX_FIELDS} fields after its fragments are expanded.`,
			);
		}
		const number = this.#fields++;
		const name = (nodes[0] as FieldNode).name.value;
		const introspection =
			type === this.#context.schema.getQueryType()
				? introspectionField(name)
				: undefined;
		const definition = introspection ?? type.getFields()[name];
		if (definition === undefined) return null;
		const coordinate = `${type.name}.${name}`;
		const field = { number, key, name, coordinate, nodes, definition };
		if (introspection !== undefined) {
			const { document, operation } = this.#source;
			const selected = introspectionDocument(document, operation, nodes);
			return { ...field, ...introspected(definition, selected) };
		}
		const source = this.#context.model.sources.get(type.name)?.get(name);
		if (source === undefined) {
			throw new TypeError(`${coordinate} has no source`);
		}
		const path = enclosing.path === "" ? key : `${enclosing.path}.${key}`;
		const position = { path, field: coordinate };
		const step = this.#addOwnStep(source, position, enclosing.step);
		const below = this.#selectBelow(source, definition.type, nodes, position, {
			...enclosing,
			step: step ?? enclosing.step,
		});
		const shape = shapeOf(
			definition.type,
			below,
			semanticNonNullLevels(definition.astNode),
		);
		const access = this.#accessTo(source, field, shape, step, below.pageFetch);
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
	#selectBelow(
		source: FieldSource,
		type: GraphQLOutputType,
		nodes: readonly FieldNode[],
		position: Pick<PlanStep, "path" | "field">,
		enclosing: Enclosing,
	): Below {
		const named = getNamedType(type);
		if (isLeafType(named)) return LEAF;
		const concretes = isObjectType(named)
			? [named]
			: this.#context.schema.getPossibleTypes(named);
		const isInPage = source.kind === "page" || source.kind === "edge";
		const parent = enclosing.step?.number ?? null;
		let fetch: PlanStep | null = null;
		let pageFetch = isInPage ? enclosing.pageFetch : null;
		if (source.kind === "mapping" || source.kind === "payloadEdge") {
			// Added before its subselections, to keep steps in document order.
			// accessTo drops it if they turn out not to need the objects.
			pageFetch = this.#addStep({
				...position,
				kind: "fetch",
				target: this.#mappingOf(source).to,
				parent,
				withPage: true,
			});
		} else if (
			concretes.every(({ name }) => this.#context.model.objects.has(name))
		) {
			fetch =
				pageFetch ??
				this.#addStep({
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
				this.#select(concrete, nodes, inside),
			]),
		);
		return { selections, fetch, pageFetch };
	}

	#mappingOf({
		mapping,
	}: Extract<FieldSource, { kind: "mapping" | "payloadEdge" }>): Mapping {
		return this.#context.model.mappings.get(mapping) as Mapping;
	}

	#addStep(step: Omit<PlanStep, "number">): PlanStep {
		const added = { number: this.#steps.length, ...step };
		this.#steps.push(added);
		return added;
	}

	/** Null for a field that reads its value from its parent. */
	#addOwnStep(
		source: FieldSource,
		position: Pick<PlanStep, "path" | "field">,
		above: PlanStep | null,
	): PlanStep | null {
		const { kind } = source;
		if (kind !== "mapping" && kind !== "resolver" && kind !== "payloadEdge") {
			return null;
		}
		return this.#addStep({
			...position,
			kind: kind === "mapping" ? "scan" : "call",
			target: kind === "resolver" ? position.field : source.mapping,
			parent: above?.number ?? null,
			withPage: false,
		});
	}

	#accessTo(
		source: FieldSource,
		{ name, coordinate }: Pick<PlannedField, "name" | "coordinate">,
		shape: Shape,
		step: PlanStep | null,
		pageFetch: PlanStep | null,
	): Access {
		if (source.kind === "mapping") {
			const mapping = this.#mappingOf(source);
			this.#dependsOnViewer ||= this.#context.visibility.isPrivateList(mapping);
			const page = namedShape(shape);
			const pageFields = pageFieldsOf(
				page.kind === "object" ? page.only : null,
			);
			const needsFetch = needsEdges(pageFields);
			if (pageFetch !== null && !needsFetch) this.#unused.add(pageFetch);
			return {
				kind: "scan",
				mapping,
				globalListId:
					mapping.from === null
						? globalListId(this.#context.model, mapping)
						: null,
				pageFields,
				step: step as PlanStep,
				fetch: needsFetch ? pageFetch : null,
			};
		}
		if (source.kind === "resolver") {
			const resolver = this.#context.resolvers.get(
				coordinate,
			) as BatchResolver<unknown>;
			this.#dependsOnViewer ||= resolver.dependsOnViewer;
			return { kind: "call", resolver, step: step as PlanStep };
		}
		if (source.kind === "payloadEdge") {
			const mapping = this.#mappingOf(source);
			return {
				kind: "call",
				resolver: payloadEdges(mapping, source),
				step: step as PlanStep,
				edges: { mapping, fetch: pageFetch as PlanStep },
			};
		}
		return { kind: "value", of: valueReader(source, name) };
	}
}
