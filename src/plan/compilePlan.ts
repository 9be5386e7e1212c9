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
import { coerceConstantArguments } from "./boundPlan.ts";
import { collectFields, type Fragments } from "./collectFields.ts";
import { inputError } from "./errors.ts";
import { introspectionDocument, introspectionField } from "./introspection.ts";
import {
	type Access,
	namedShape,
	type Plan,
	type PlannedField,
	type Selection,
	type Shape,
	type Step,
} from "./plan.ts";
import { needsEdges, pageParts, valueReader } from "./valueReader.ts";

/**
 * Fragments can spell out more fields than any answer needs: thirty of them,
 * each spreading the next twice, are 2^30. More than this many compiled fields
 * are refused before they are made.
 */
const MAX_FIELDS = 10_000;

export interface CompileContext {
	readonly schema: GraphQLSchema;
	readonly model: Model;
	readonly resolvers: Resolvers<never>;
	readonly visibility: Pick<Visibility, "isPrivateList">;
}

/** Where in the operation a selection stands. */
interface Above {
	readonly path: string;
	readonly step: Step | null;
	/** Within a page: the fetch that brings its nodes. */
	readonly nodes: Step | null;
}

/**
 * Compile an operation for the values of the variables its conditions name.
 * Throws TOO_EXPENSIVE for one that unfolds without end.
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
	let fields = 0;
	let dependsOnViewer = false;

	function select(
		type: GraphQLObjectType,
		nodes: readonly Pick<FieldNode, "selectionSet">[],
		above: Above,
	): Selection {
		// Built as own properties one by one: `__proto__` is a legal alias.
		const template: Record<string, unknown> = {};
		const selected: PlannedField[] = [];
		let characters = 2;
		let collected: ReturnType<typeof collectFields>;
		try {
			collected = collectFields(
				{ schema, fragments, variables },
				type,
				nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
			);
		} catch (thrown) {
			const fault = inputError(thrown);
			return {
				type: type.name,
				template,
				characters,
				fields: [],
				error: fault,
			};
		}
		for (const [key, same] of collected) {
			const name = (same[0] as FieldNode).name.value;
			const isTypename = name === "__typename";
			if (!isTypename) {
				const field = plan(type, key, same, above);
				if (field === null) continue;
				selected.push(field);
			}
			const value = isTypename ? type.name : null;
			characters += `"${key}":${JSON.stringify(value)},`.length;
			Object.defineProperty(template, key, {
				value,
				enumerable: true,
				configurable: true,
				writable: true,
			});
		}
		const fault = null;
		return {
			type: type.name,
			template,
			characters,
			fields: selected,
			error: fault,
		};
	}

	/** One field, or null for one the type does not have, which validation refuses. */
	function plan(
		type: GraphQLObjectType,
		key: string,
		nodes: readonly FieldNode[],
		above: Above,
	): PlannedField | null {
		if (++fields > MAX_FIELDS) {
			throw new CorkboardError(
				"TOO_EXPENSIVE",
				`Expected an operation of at most ${MAX_FIELDS} fields, its fragments spelled out, but got more.`,
			);
		}
		const number = fields - 1;
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
				constantArguments: NO_INPUT,
				access: {
					kind: "introspection",
					document: introspectionDocument(document, operation, nodes),
				},
				// The value comes completed: of its shape only this is looked at.
				shape: {
					kind: "leaf",
					nullable: !isNonNullType(definition.type),
					serialize: (value) => value,
				},
			};
		}
		const source = model.sources.get(type.name)?.get(name);
		if (source === undefined) {
			throw new TypeError(`expected a source for ${coordinate}`);
		}
		const path = above.path === "" ? key : `${above.path}.${key}`;
		const where = { path, field: coordinate };
		const own = ownStep(source, where, above.step);
		const below = descend(source, definition.type, nodes, where, {
			...above,
			step: own ?? above.step,
		});
		const shape = shapeOf(definition.type, below);
		const read = readOf(source, field, shape, own, below.nodes);
		const input = coerceConstantArguments({ definition, nodes, access: read });
		return { ...field, source, constantArguments: input, access: read, shape };
	}

	/** What is selected of a field, by concrete type, and the step that brings the objects. */
	function descend(
		source: FieldSource,
		type: GraphQLOutputType,
		fieldNodes: readonly FieldNode[],
		where: Pick<Step, "path" | "field">,
		above: Above,
	): Below {
		const named = getNamedType(type);
		if (isLeafType(named)) return LEAF;
		const concretes = isObjectType(named)
			? [named]
			: schema.getPossibleTypes(named);
		const isPart = source.kind === "page" || source.kind === "edge";
		const parent = above.step?.number ?? null;
		let fetch: Step | null = null;
		let nodes = isPart ? above.nodes : null;
		if (source.kind === "mapping") {
			// Which parts of the page are wanted shows only in what is selected of
			// it; this fetch is taken back if its nodes are none of them.
			const reads = mappingOf(source).to;
			const kind = "fetch";
			nodes = addStep({
				...where,
				kind,
				target: reads,
				parent,
				withPage: true,
			});
		} else if (concretes.every(({ name }) => model.objects.has(name))) {
			const reads = concretes.map(({ name }) => name).join(" | ");
			const kind = "fetch";
			fetch =
				nodes ??
				addStep({ ...where, kind, target: reads, parent, withPage: false });
		}
		const inside = { path: where.path, step: fetch ?? above.step, nodes };
		const selections = new Map(
			concretes.map((concrete) => [
				concrete.name,
				select(concrete, fieldNodes, inside),
			]),
		);
		return { selections, fetch, nodes };
	}

	function mappingOf({
		mapping,
	}: Extract<FieldSource, { kind: "mapping" }>): Mapping {
		return model.mappings.get(mapping) as Mapping;
	}

	function resolverOf(coordinate: string): BatchResolver<unknown> {
		return resolvers.get(coordinate) as BatchResolver<unknown>;
	}

	function addStep(step: Omit<Step, "number">): Step {
		const added = { number: steps.length, ...step };
		steps.push(added);
		return added;
	}

	function ownStep(
		source: FieldSource,
		where: Pick<Step, "path" | "field">,
		above: Step | null,
	): Step | null {
		if (source.kind !== "mapping" && source.kind !== "resolver") return null;
		return addStep({
			...where,
			kind: source.kind === "mapping" ? "scan" : "call",
			target: source.kind === "mapping" ? source.mapping : where.field,
			parent: above?.number ?? null,
			withPage: false,
		});
	}

	function readOf(
		source: FieldSource,
		field: Pick<PlannedField, "name" | "coordinate">,
		shape: Shape,
		step: Step | null,
		nodes: Step | null,
	): Access {
		if (source.kind === "mapping") {
			const mapping = mappingOf(source);
			dependsOnViewer ||= visibility.isPrivateList(mapping);
			const page = namedShape(shape);
			const want = pageParts(page.kind === "object" ? page.only : null);
			if (nodes !== null && !needsEdges(want)) unused.add(nodes);
			return {
				kind: "scan",
				mapping,
				rootId: mapping.from === null ? globalListId(model, mapping) : null,
				parts: want,
				step: step as Step,
				fetch: needsEdges(want) ? nodes : null,
			};
		}
		if (source.kind === "resolver") {
			const resolver = resolverOf(field.coordinate);
			dependsOnViewer ||= resolver.dependsOnViewer;
			return { kind: "call", resolver, step: step as Step };
		}
		return { kind: "value", of: valueReader(source, field.name) };
	}

	const root = select(rootType, [operation], {
		path: "",
		step: null,
		nodes: null,
	});
	return {
		operation,
		root,
		serial: operation.operation === OperationTypeNode.MUTATION,
		steps: steps.filter((step) => !unused.has(step)),
		dependsOnViewer,
	};
}

const NO_INPUT = { args: {}, page: null };

interface Below {
	readonly selections: ReadonlyMap<string, Selection>;
	readonly fetch: Step | null;
	/** Of a page: the fetch that comes along. */
	readonly nodes: Step | null;
}

const LEAF: Below = { selections: new Map(), fetch: null, nodes: null };

function shapeOf(type: GraphQLOutputType, below: Below): Shape {
	const nullable = !isNonNullType(type);
	const inner = isNonNullType(type) ? type.ofType : type;
	if (isListType(inner)) {
		return {
			kind: "list",
			nullable,
			of: shapeOf(inner.ofType, below),
		};
	}
	if (isLeafType(inner)) {
		return {
			kind: "leaf",
			nullable,
			serialize: (value) => inner.serialize(value),
		};
	}
	const { selections, fetch } = below;
	const only = isObjectType(inner)
		? (selections.get(inner.name) as Selection)
		: null;
	return { kind: "object", nullable, selections, only, fetch };
}
