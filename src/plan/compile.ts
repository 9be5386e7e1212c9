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
	SchemaMetaFieldDef,
	TypeMetaFieldDef,
} from "graphql";
import { CorkboardError } from "../errors.ts";
import { rootOf } from "../model/rootOf.ts";
import type { FieldSource, Mapping, Model } from "../model/types.ts";
import { collectFields, type Fragments } from "./collect.ts";
import { inputError } from "./errors.ts";
import { constantInput } from "./inputs.ts";
import { introspectionOf } from "./introspect.ts";
import {
	innermost,
	type Plan,
	type PlannedField,
	type Read,
	type Selection,
	type Shape,
	type Step,
} from "./plan.ts";
import { needsEdges, partsOf, valueReader } from "./read.ts";
import type { BatchResolver, Resolvers } from "./types.ts";

/**
 * Fragments can spell out more fields than any answer needs: thirty of them,
 * each spreading the next twice, are 2^30. More than this many compiled fields
 * are refused before they are made.
 */
const MAX_FIELDS = 10_000;

export interface Compiling {
	readonly schema: GraphQLSchema;
	readonly model: Model;
	readonly resolvers: Resolvers<never>;
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
export function compile(
	{ schema, model, resolvers }: Compiling,
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

	function select(
		type: GraphQLObjectType,
		nodes: readonly Pick<FieldNode, "selectionSet">[],
		above: Above,
	): Selection {
		// Built as own properties one by one: `__proto__` is a legal alias.
		const template: Record<string, unknown> = {};
		const selected: PlannedField[] = [];
		let collected: ReturnType<typeof collectFields>;
		try {
			collected = collectFields(
				{ schema, fragments, variables },
				type,
				nodes.flatMap(({ selectionSet }) => selectionSet ?? []),
			);
		} catch (thrown) {
			const fault = inputError(thrown);
			return { type: type.name, template, fields: [], fault };
		}
		for (const [key, same] of collected) {
			const name = (same[0] as FieldNode).name.value;
			const isTypename = name === "__typename";
			if (!isTypename) {
				const field = plan(type, key, same, above);
				if (field === null) continue;
				selected.push(field);
			}
			Object.defineProperty(template, key, {
				value: isTypename ? type.name : null,
				enumerable: true,
				configurable: true,
				writable: true,
			});
		}
		return { type: type.name, template, fields: selected, fault: null };
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
		const isRoot = type === schema.getQueryType();
		const introspected =
			isRoot && name === SchemaMetaFieldDef.name
				? SchemaMetaFieldDef
				: isRoot && name === TypeMetaFieldDef.name
					? TypeMetaFieldDef
					: null;
		const definition = introspected ?? type.getFields()[name];
		if (definition === undefined) return null;
		const field = {
			number,
			key,
			name,
			coordinate: `${type.name}.${name}`,
			nodes,
			definition,
		};
		if (introspected !== null) {
			const read: Read = {
				kind: "introspection",
				document: introspectionOf(document, operation, nodes),
			};
			// The value comes completed: its shape is never looked at.
			const shape: Shape = {
				kind: "leaf",
				nullable: !isNonNullType(definition.type),
				serialize: (value) => value,
			};
			return { ...field, source: null, input: NO_INPUT, read, shape };
		}
		const source = model.sources.get(type.name)?.get(name);
		if (source === undefined) {
			throw new TypeError(`expected a source for ${field.coordinate}`);
		}
		const path = above.path === "" ? key : `${above.path}.${key}`;
		const where = { path, field: field.coordinate };
		const own = ownStep(source, where, above.step);
		const below = { path, step: own ?? above.step };
		const named = getNamedType(definition.type);
		let nodesStep: Step | null = null;
		let selections: ReadonlyMap<string, Selection> = new Map();
		let fetch: Step | null = null;
		if (!isLeafType(named)) {
			const concretes = isObjectType(named)
				? [named]
				: schema.getPossibleTypes(named);
			const stored = concretes.every(({ name }) => model.objects.has(name));
			if (source.kind === "mapping") {
				// Which parts of the page are wanted shows only in what is selected of
				// it; the fetch that brings its nodes is taken back if none are.
				nodesStep = addStep({
					...where,
					kind: "fetch",
					reads: mappingOf(source).to,
					parent: own?.number ?? null,
					withPage: true,
				});
			} else if (stored) {
				fetch =
					above.nodes !== null && isPagePart(source)
						? above.nodes
						: addStep({
								...where,
								kind: "fetch",
								reads: concretes.map(({ name }) => name).join(" | "),
								parent: below.step?.number ?? null,
								withPage: false,
							});
			}
			const inside: Above = {
				path,
				step: fetch ?? below.step,
				nodes: nodesStep ?? (isPagePart(source) ? above.nodes : null),
			};
			selections = new Map(
				concretes.map((concrete) => [
					concrete.name,
					select(concrete, nodes, inside),
				]),
			);
		}
		const shape = shapeOf(definition.type, selections, fetch);
		const read = readOf(source, field, shape, own, nodesStep);
		const input = constantInput({ definition, nodes, read });
		return { ...field, source, input, read, shape };
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
			reads: source.kind === "mapping" ? source.mapping : where.field,
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
	): Read {
		if (source.kind === "mapping") {
			const mapping = mappingOf(source);
			const page = innermost(shape);
			const want = partsOf(page.kind === "object" ? page.only : null);
			if (nodes !== null && !needsEdges(want)) unused.add(nodes);
			return {
				kind: "scan",
				mapping,
				root: mapping.from === null ? rootOf(model, mapping) : null,
				want,
				step: step as Step,
				nodes: needsEdges(want) ? nodes : null,
			};
		}
		return source.kind === "resolver"
			? {
					kind: "call",
					resolver: resolverOf(field.coordinate),
					step: step as Step,
				}
			: { kind: "value", of: valueReader(source, field.name) };
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
	};
}

const NO_INPUT = { args: {}, page: null };

function isPagePart(source: FieldSource): boolean {
	return source.kind === "page" || source.kind === "edge";
}

function shapeOf(
	type: GraphQLOutputType,
	selections: ReadonlyMap<string, Selection>,
	fetch: Step | null,
): Shape {
	const nullable = !isNonNullType(type);
	const inner = isNonNullType(type) ? type.ofType : type;
	if (isListType(inner)) {
		return {
			kind: "list",
			nullable,
			of: shapeOf(inner.ofType, selections, fetch),
		};
	}
	if (isLeafType(inner)) {
		return {
			kind: "leaf",
			nullable,
			serialize: (value) => inner.serialize(value),
		};
	}
	const only = isObjectType(inner)
		? (selections.get(inner.name) as Selection)
		: null;
	return { kind: "object", nullable, selections, only, fetch };
}
