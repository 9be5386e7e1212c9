import type { Node, Page, PageEdge, PageFields } from "../../graph/types.ts";
import type { FieldSource } from "../../model/types.ts";
import type { Selection } from "../plan.ts";

const US_PER_MS = 1000;

/**
 * Reads the value of a field that needs no step from its parent: an object of
 * the graph, a page, an edge or a record. A value that is an object's id is
 * then fetched by a step.
 */
export function valueReader(
	source: Exclude<
		FieldSource,
		{ kind: "mapping" | "resolver" | "payloadEdge" }
	>,
	name: string,
): (parent: unknown) => unknown {
	switch (source.kind) {
		case "id":
			return (node) => (node as Node).id;
		case "stored": {
			const { key, default: defaultValue } = source;
			return (node) => {
				const value = (node as Node).data[key];
				return value === undefined ? defaultValue : value;
			};
		}
		case "reference": {
			const { key } = source;
			return (node) => (node as Node).data[key];
		}
		case "property":
			return (record) =>
				typeof record === "object" && record !== null
					? (record as Record<string, unknown>)[name]
					: undefined;
		case "page":
			return PAGE_READERS[source.part];
		case "edge":
			return EDGE_READERS[source.part];
	}
}

const PAGE_READERS = {
	edges: (page: unknown) => (page as Page).edges,
	nodes: (page: unknown) => (page as Page).nodes,
	// A page has the fields of its PageInfo itself.
	pageInfo: (page: unknown) => page,
	totalCount: (page: unknown) => (page as Page).totalCount,
};

const EDGE_READERS = {
	node: (edge: unknown) => (edge as PageEdge).node,
	cursor: (edge: unknown) => (edge as PageEdge).cursor(),
	at: (edge: unknown) =>
		new Date((edge as PageEdge).sequence / US_PER_MS).toISOString(),
};

/** The fields of a page that the selection of a connection needs. */
export function pageFieldsOf(connection: Selection | null): PageFields {
	const fields = {
		edges: false,
		hasNextPage: false,
		hasPreviousPage: false,
		cursors: false,
		totalCount: false,
	};
	for (const { source, shape } of connection?.fields ?? []) {
		if (source?.kind !== "page") continue;
		if (source.part === "edges" || source.part === "nodes") fields.edges = true;
		else if (source.part === "totalCount") fields.totalCount = true;
		else if (shape.kind === "object") {
			for (const { name } of shape.only?.fields ?? []) {
				if (name === "hasNextPage") fields.hasNextPage = true;
				if (name === "hasPreviousPage") fields.hasPreviousPage = true;
				if (name === "startCursor" || name === "endCursor") {
					fields.cursors = true;
				}
			}
		}
	}
	return fields;
}

/** Whether a page needs its edges. Edges need their objects, because only those decide which edges the viewer may see. */
export function needsEdges(fields: PageFields): boolean {
	return (
		fields.edges ||
		fields.hasNextPage ||
		fields.hasPreviousPage ||
		fields.cursors
	);
}
