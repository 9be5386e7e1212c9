import type { Node, Page, PageEdge, PageFields } from "../graph/types.ts";
import type { FieldSource } from "../model/types.ts";
import type { Selection } from "./plan.ts";

/** Microseconds in the milliseconds that dates are counted in. */
const US_PER_MS = 1000;

/**
 * How a value that is at hand is read from its parent: an object of the graph,
 * a page, an edge, or a record. No step is needed for it; one follows where the
 * value is the id of an object.
 */
export function valueReader(
	source: Exclude<FieldSource, { kind: "mapping" | "resolver" }>,
	name: string,
): (parent: unknown) => unknown {
	switch (source.kind) {
		case "id":
			return (node) => (node as Node).id;
		case "stored": {
			const { key, default: absent } = source;
			return (node) => {
				const value = (node as Node).data[key];
				return value === undefined ? absent : value;
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
			return PAGE_PARTS[source.part];
		case "edge":
			return EDGE_PARTS[source.part];
	}
}

const PAGE_PARTS = {
	edges: (page: unknown) => (page as Page).edges,
	nodes: (page: unknown) => (page as Page).edges.map(({ node }) => node),
	// A page has the properties of its PageInfo itself.
	pageInfo: (page: unknown) => page,
	totalCount: (page: unknown) => (page as Page).totalCount,
};

const EDGE_PARTS = {
	node: (edge: unknown) => (edge as PageEdge).node,
	cursor: (edge: unknown) => (edge as PageEdge).cursor(),
	at: (edge: unknown) =>
		new Date((edge as PageEdge).sequence / US_PER_MS).toISOString(),
};

/** What a scan is asked for: the parts that something selected of its connection looks at. */
export function pageParts(connection: Selection | null): PageFields {
	const parts = {
		edges: false,
		hasNextPage: false,
		hasPreviousPage: false,
		cursors: false,
		totalCount: false,
	};
	for (const { source, shape } of connection?.fields ?? []) {
		if (source?.kind !== "page") continue;
		if (source.part === "edges" || source.part === "nodes") parts.edges = true;
		else if (source.part === "totalCount") parts.totalCount = true;
		else if (shape.kind === "object") {
			for (const { name } of shape.only?.fields ?? []) {
				if (name === "hasNextPage") parts.hasNextPage = true;
				if (name === "hasPreviousPage") parts.hasPreviousPage = true;
				if (name === "startCursor" || name === "endCursor") {
					parts.cursors = true;
				}
			}
		}
	}
	return parts;
}

/** Whether anything of a page is wanted that needs its edges and, to tell which of them the viewer may see, its objects. */
export function needsEdges(want: PageFields): boolean {
	return want.edges || want.hasNextPage || want.hasPreviousPage || want.cursors;
}
