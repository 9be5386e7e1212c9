import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parse } from "graphql";
import { applyScalars } from "../../src/graphql/scalars.ts";
import { createPlanner } from "../../src/plan/planner.ts";
import { theModel } from "../helpers/model.ts";
import { resolvers } from "../helpers/resolvers.ts";

const { model, schema, domain } = theModel();
const planner = createPlanner({
	schema: applyScalars(schema),
	model,
	resolvers,
	maxCost: 60_000,
	maxPlans: 10,
	visibility: domain.visibility,
});

function costOf(query: string): number {
	const cost = planner.cost({ document: parse(query) });
	assert.ok("total" in cost);
	return cost.total;
}

describe("the cost of an object", () => {
	it("includes the objects that decide its visibility", () => {
		const one = (type: string) =>
			costOf(
				["user", "interest"].includes(type)
					? `{ ${type}(by: {id: "1"}) { __typename } }`
					: `{ ${type}(id: "1") { __typename } }`,
			);
		assert.equal(one("user"), 1);
		assert.equal(one("interest"), 1);
		assert.equal(one("board"), 1 + 1, "its owner");
		assert.equal(one("pin"), 1 + 3, "its owner, and its board with its own");
		assert.equal(one("comment"), 1 + 5, "its author, and its pin with those");
	});

	it("counts an object that decides visibility once, also if it is on the path or selected", () => {
		const of = (query: string, rest: number) => costOf(query) - rest;
		const page = "(first: 10) { nodes { __typename";
		const board = 'board(id: "1")';
		const pin = 'pin(id: "1")';
		const user = 'user(by: {id: "1"})';
		assert.equal(of(`{ ${board} { pins${page} } } } }`, 2), 30);
		assert.equal(
			of(`{ ${board} { pins${page} owner { name } board { name } } } } }`, 2),
			30,
		);
		assert.equal(of(`{ ${user} { boards${page} owner { name } } } } }`, 1), 20);
		assert.equal(of(`{ ${user} { pins${page} } } } }`, 1), 40);
		assert.equal(of(`{ ${user} { likes${page} } } } }`, 1), 50);
		assert.equal(
			of(`{ ${pin} { comments${page} author { name } } } } }`, 4),
			30,
		);
	});

	it("counts what fields about the viewer read for each object", () => {
		const more = (root: string, selection: string) =>
			costOf(`{ ${root}(id: "1") { id ${selection} } }`) -
			costOf(`{ ${root}(id: "1") { id } }`);
		// An edge and a pin with those who decide whether it is seen.
		assert.equal(more("pin", "viewerHasSaved"), 1 + 4);
		assert.equal(more("pin", "viewerSaves { nodes { id } }"), 10 + 10 * 4);
		assert.equal(
			more("pin", "viewerSaves { nodes { board { name } owner { name } } }"),
			10 + 10 * 4,
		);
		// Whose it is and whose its board is has been read with it.
		assert.equal(more("pin", "viewerCanUpdate viewerCanDelete"), 0);
		assert.equal(more("comment", "viewerCanUpdate viewerCanDelete"), 0);
		assert.equal(more("board", "viewerCanUpdate viewerCanDelete"), 0);
		// With whom the board is shared has not.
		assert.equal(more("board", "viewerCanPin"), 1);
		const sections = "sections(first: 10) { nodes {";
		assert.equal(
			more("board", `${sections} viewerCanUpdate } }`) -
				more("board", `${sections} id } }`),
			10,
		);
	});

	it("allows 100 × 100 edges of any two lists", () => {
		const lists = Object.values(model.objects.get("User")?.mappings ?? [])
			.filter(({ name }) => name !== "blockUser.inverse")
			.map(({ field, to }) => ({ field, to }));
		const hundred = (field: string, inner: string) =>
			`${field}(first: 100) { nodes { __typename ${inner} } }`;
		const inner: string[] = [];
		for (const { field, to } of lists) {
			for (const next of model.objects.get(to)?.mappings ?? []) {
				if (next.name === "blockUser.inverse") continue;
				inner.push(`${field} ${next.field}`);
				const cost = costOf(
					`{ user(by: {id: "1"}) { ${hundred(field, hundred(next.field, ""))} } }`,
				);
				assert.ok(cost <= 60_000, `${field} of ${next.field}: ${cost}`);
			}
		}
		assert.ok(inner.length > 30, String(inner.length));
	});
});
