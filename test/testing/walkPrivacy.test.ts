import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type App, defineApp } from "../../src/app/defineApp.ts";
import type { VisibilityPolicy } from "../../src/graph/read/visibilityPolicy.ts";
import { required } from "../../src/graphql/input/readInput.ts";
import { id } from "../../src/graphql/input/validators.ts";
import { dateTime } from "../../src/model/validation.ts";
import { mutation } from "../../src/resolvers/mutation.ts";
import { requireVisible } from "../../src/resolvers/requireVisible.ts";
import { openTest } from "../../src/testing/openTest.ts";
import { walkPrivacy } from "../../src/testing/walkPrivacy.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const SDL = `
type Query { viewer: Climber }
type Climber implements Node @object(type: 1, table: "climbers") {
	id: ID!
	name: String! @stored(default: "") @lookup(name: "name")
	routes: [Route] @mapping(name: "ownRoute", table: "climber_has_routes", inverse: "finder")
}
type Route implements Node @object(type: 2, table: "routes") {
	id: ID!
	secret: Boolean! @stored(default: false)
	finder: Climber @reference(key: "finder_id")
}
type Mutation { logAscent(input: LogAscentInput!): LogAscentPayload }
input LogAscentInput { routeId: ID!, at: DateTime!, rope: RopeInput!, place: PlaceInput! }
input RopeInput { length: Int!, color: String }
input PlaceInput @oneOf { name: String, number: Int }
type LogAscentPayload { route: Route }
`;

const LINES = [
	{ type: "Climber", key: "ada", fields: { name: "ada" } },
	{ type: "Climber", key: "bo", fields: { name: "bo" } },
	{ type: "Route", key: "r", fields: { finder: "ada", secret: true } },
];

const anything = () => ({ value: null });

/** An app with a mutation by hand, which finds its route as `find` does. */
function appOf(schema: string, find: "visible" | "stored"): App {
	const logAscent = mutation(
		{
			name: "logAscent",
			input: () => ({
				routeId: required(id),
				at: required(dateTime),
				rope: anything,
				place: anything,
			}),
			cost: () => 1,
		},
		async ({ routeId }, context) => {
			if (find === "stored" && routeId !== "reserved") {
				const [route] = await context.graph.readStored([routeId]);
				if (route) return { route: null };
			}
			const { id: route } = await requireVisible(context, "Route", routeId);
			return { route };
		},
	);
	return defineApp({
		schema,
		resolvers: new Map([["Mutation.logAscent", logAscent]]),
		policies: {
			visibility: {
				types: {
					Route: {
						owner: "finder",
						decidedBy: ["secret"],
						isVisible: ({ data }, viewer) =>
							data.secret !== true || data.finder_id === viewer,
					},
				},
				privateLists: [],
			},
		},
		identity: { type: "Climber", nameLookup: "name" },
	});
}

describe("walkPrivacy", () => {
	const folder = temporaryFolder();
	const schema = join(folder.path, "schema");
	after(() => folder[Symbol.dispose]());
	before(() => {
		mkdirSync(schema);
		writeFileSync(join(schema, "routes.graphql"), SDL);
	});

	it("asks a mutation that takes a time, an object of an input and one of several fields", async () => {
		await using graph = await openTest(appOf(schema, "visible"), LINES);
		assert.deepEqual(await walkPrivacy(graph), {
			viewers: 3,
			objects: 3,
			hidden: 2,
			mutations: ["logAscent.routeId"],
			problems: [],
		});
	});

	it("finds a field that decides who sees an object and that the policy does not name", async () => {
		const app = appOf(schema, "visible");
		const { types } = app.policies.visibility as VisibilityPolicy;
		const { decidedBy: _, ...route } = types.Route ?? {};
		await using graph = await openTest(
			{
				...app,
				policies: {
					visibility: { types: { Route: route }, privateLists: [] },
				},
			},
			LINES,
		);
		assert.deepEqual((await walkPrivacy(graph)).problems, [
			"isVisible of Route reads secret, which decidedBy does not name",
		]);
	});

	it("finds one that answers otherwise for what is hidden", async () => {
		await using graph = await openTest(appOf(schema, "stored"), LINES);
		const { problems } = await walkPrivacy(graph);
		assert.equal(problems.length, 1);
		assert.match(problems[0] ?? "", /logAscent\.routeId does not answer/);
	});
});
