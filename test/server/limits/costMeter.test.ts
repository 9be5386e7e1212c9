import assert from "node:assert/strict";
import { test } from "node:test";
import { startToy } from "../../helpers/toyServer.ts";

test("corkboard-cost has an effect by POST, and none by GET, whose response caches may share", async () => {
	await using toy = await startToy({
		dependsOnViewer: () => false,
		async execute({ costMeter: meter }) {
			await meter.admit(80);
			meter.recordReads(7);
			return { data: { hello: "you" } };
		},
	});
	const cost = { "corkboard-cost": "1" };
	const posted = await toy.post({ query: "{ hello }" }, cost);
	assert.deepEqual(await posted.json(), {
		data: { hello: "you" },
		extensions: { cost: { requested: 80, actual: 7 } },
	});
	const got = await fetch(`${toy.server.url}/graphql?query={hello}`, {
		headers: { ...cost, "apollo-require-preflight": "1" },
	});
	assert.match(got.headers.get("cache-control") ?? "", /^public/);
	assert.deepEqual(await got.json(), { data: { hello: "you" } });
});
