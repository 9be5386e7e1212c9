import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type DemoLine, demoGraph } from "../../../pins/demo/graph.ts";
import type { View } from "../../../src/graph/read/view.ts";
import { prefixListId } from "../../../src/graph/store/derivedLists.ts";
import type { Node, PageEdge } from "../../../src/graph/types.ts";
import type { Id } from "../../../src/id/ids.ts";
import {
	globalListId,
	type Mapping,
	type Model,
} from "../../../src/model/types.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import { openEmbedded } from "../../helpers/embedded.ts";
import { importAll } from "../../helpers/importing.ts";

type Fields = Readonly<Record<string, unknown>>;

/** The expected lists, oldest first, by mapping and key of the list's owner. */
function readLists(model: Model, lines: readonly DemoLine[]) {
	const objects = new Map<string, { type: string; fields: Fields }>();
	const lists = new Map<string, string[]>();
	const add = (mapping: string, from: string, to: string) => {
		const name = `${mapping} ${from}`;
		const list = lists.get(name) ?? [];
		lists.set(name, list);
		if (!list.includes(to)) list.push(to);
	};
	for (const line of lines) {
		if ("edge" in line) {
			add(line.edge, line.from, line.to);
			add(`${line.edge}.inverse`, line.to, line.from);
			continue;
		}
		const { type, key } = line;
		const owner = objects.get(String(line.fields.board))?.fields.owner;
		const fields = type === "Pin" ? { owner, ...line.fields } : line.fields;
		objects.set(key, { type, fields });
		if (type === "Interest") add("listInterest", "root", key);
		for (const mapping of model.objects.get(type)?.derivedMappings ?? []) {
			if (mapping.inverse?.kind !== "reference") continue;
			const from = (fields as Fields)[mapping.inverse.field];
			const { groupedBy } = mapping;
			if (groupedBy && !(groupedBy.field in fields)) continue;
			if (typeof from === "string") add(mapping.name, from, key);
		}
	}
	return { objects, lists };
}

/** Reads a whole list, page by page. */
async function readWhole(view: View, mapping: Mapping, from: Id) {
	const edges: PageEdge[] = [];
	const fields = {
		edges: true,
		hasNextPage: true,
		hasPreviousPage: false,
		cursors: true,
		totalCount: true,
	};
	let after: string | null = null;
	for (;;) {
		const [page] = await view.readPages(mapping, [from], {
			first: 100,
			...(after !== null && { after }),
			fields,
		});
		assert.ok(page && !(page instanceof Error));
		edges.push(...page.edges);
		if (!page.hasNextPage) return { edges, totalCount: page.totalCount };
		after = page.endCursor;
	}
}

describe("import", () => {
	it("an imported graph equals its file in every list", async () => {
		await using graph = await openEmbedded();
		const { model } = graph.store;
		const lines = [...demoGraph()];
		const { bad } = await importAll(graph, lines);
		assert.deepEqual(bad, []);
		const { objects, lists } = readLists(model, lines);

		const isVisible = (key: string): boolean => {
			const { type, fields } = objects.get(key) ?? { type: "", fields: {} };
			if (type === "Board") return fields.secret !== true;
			if (type === "Pin") return isVisible(String(fields.board));
			return type !== "Comment" || isVisible(String(fields.pin));
		};
		const ids = new Map<string, Id>();
		const rows = await graph.storage.read(
			"lookups",
			[...objects.keys()].map((key) => ({ name: "import", key })),
		);
		for (const row of rows) {
			assert.ok(row !== null && !(row instanceof Error));
			ids.set(row.key, row.id);
		}
		const keys = new Map([...ids].map(([key, id]) => [id, key]));

		/** The lists of all beginnings of users' names, which are plain words here. */
		function prefixLists(): (readonly [string, Id])[] {
			const type = model.objects.get("User");
			assert.ok(type);
			const prefixes = new Set<string>();
			for (const [key, { type, fields }] of objects) {
				if (type !== "User") continue;
				const words = [fields.username, ...String(fields.name).split(" ")];
				const beginnings = words.flatMap((word) =>
					Array.from({ length: 10 }, (_, at) =>
						String(word)
							.toLowerCase()
							.slice(0, at + 1),
					),
				);
				for (const prefix of new Set(beginnings)) {
					prefixes.add(prefix);
					const list = lists.get(`prefixUser ${prefix}`) ?? [];
					lists.set(`prefixUser ${prefix}`, [...list, key]);
				}
			}
			return [...prefixes].map((prefix) => [
				prefix,
				prefixListId(graph.store, type, prefix),
			]);
		}

		const view = graph.view();
		let compared = 0;
		for (const mapping of model.mappings.values()) {
			// Visible to their user only; the demo graph has no blocks, and feeds begin empty.
			if (/^(blockUser|showPin)/.test(mapping.name)) continue;
			const { groupedBy } = mapping;
			if (groupedBy) {
				for (const [name, said] of lists) {
					if (!name.startsWith(`${mapping.name} `)) continue;
					const owner = ids.get(name.slice(mapping.name.length + 1)) as Id;
					const groups: Map<string, string[]> = Map.groupBy(said, (key) =>
						String(objects.get(key)?.fields[groupedBy.field]),
					);
					const of = [...groups.keys()].map((key) => ids.get(key) as Id);
					const found = await graph
						.view(owner)
						.readGroups(mapping, owner, of, 100);
					assert.deepEqual(
						found.map((nodes) => {
							assert.ok(!(nodes instanceof Error));
							return nodes
								.map((node) => keys.get((node as Node).id))
								.toSorted();
						}),
						[...groups.values()].map((group) => group.toSorted()),
						name,
					);
					compared += said.length;
				}
				continue;
			}
			const froms =
				mapping.prefixKeys !== null
					? prefixLists()
					: mapping.from === null
						? [["root", globalListId(model, mapping)] as const]
						: [...ids].filter(
								([key]) =>
									objects.get(key)?.type === mapping.from && isVisible(key),
							);
			for (const [key, id] of froms) {
				const said = lists.get(`${mapping.name} ${key}`) ?? [];
				const ordered =
					mapping.order === "OLDEST_FIRST" ? said : said.toReversed();
				const { edges, totalCount } = await readWhole(view, mapping, id);
				const got = edges.map(({ node }) => {
					assert.ok(!(node instanceof Error));
					return keys.get(node.id);
				});
				assert.deepEqual(
					got,
					ordered.filter(isVisible),
					`${mapping.name} of ${key}`,
				);
				assert.equal(totalCount, said.length, `${mapping.name} of ${key}`);
				compared += got.length;
			}
		}
		assert.ok(compared > 30_000, `expected many edges but got: ${compared}`);
		assert.deepEqual((await verify(graph.store)).damage, []);
	});
});
