import assert from "node:assert/strict";
import { parse } from "graphql";
import type { Id } from "../../src/id/ids.ts";
import type { Execute } from "./operation.ts";

interface Connection {
	readonly nodes: readonly { readonly id: Id }[];
	readonly pageInfo: {
		readonly hasNextPage: boolean;
		readonly hasPreviousPage: boolean;
		readonly startCursor: string | null;
		readonly endCursor: string | null;
	};
}

/** All ids of a list, read page by page with the cursors of each page. */
export async function readWholeList(
	execute: Execute,
	viewer: Id | null,
	/** `User.pins 123` */
	list: string,
	size: number,
	backward: boolean,
): Promise<readonly Id[]> {
	const [coordinate = "", owner = ""] = list.split(" ");
	const [type, field] = coordinate.split(".");
	const bounds = backward
		? "last: $size, before: $from"
		: "first: $size, after: $from";
	const connection = `list: ${field}(${bounds}) {
		nodes { id }
		pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
	}`;
	const text =
		type === "Query"
			? `query ($size: Int!, $from: String) { ${connection} }`
			: `query ($size: Int!, $from: String) { node(id: "${owner}") { ... on ${type} { ${connection} } } }`;
	const document = parse(text);
	const found: Id[] = [];
	let from: string | null = null;
	for (let pages = 0; ; pages++) {
		assert.ok(pages < 1_000, `${list}: more than 1,000 pages`);
		const { data, errors } = await execute({
			text,
			document,
			operationName: null,
			variables: { size, from },
			viewer,
		});
		assert.equal(errors, undefined);
		const above = (type === "Query" ? data : data?.node) as {
			readonly list: Connection;
		};
		const { nodes, pageInfo } = above.list;
		const ids = nodes.map(({ id }) => id);
		if (backward) found.unshift(...ids);
		else found.push(...ids);
		const more = backward ? pageInfo.hasPreviousPage : pageInfo.hasNextPage;
		if (!more) return found;
		from = backward ? pageInfo.startCursor : pageInfo.endCursor;
		assert.notEqual(from, null, `${list}: no cursor for the next page`);
	}
}
