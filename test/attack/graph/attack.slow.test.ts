import assert from "node:assert/strict";
import { it } from "node:test";
import { APPS } from "../../helpers/apps.ts";
import { attack } from "./attack.ts";
import { attackApp } from "./attackApp.ts";

const SEED = 106;

it("an attack of half a minute, with two servers and a few clients, breaks no promise", async () => {
	const lines: string[] = [];
	const result = await attack(
		{
			seed: SEED,
			minutes: 0.4,
			servers: 2,
			clients: 6,
			violations: 1,
		},
		{
			say: (line) => void lines.push(line),
			signal: new AbortController().signal,
			keep: async () => {},
		},
	);
	assert.deepEqual(
		result.violations.map(({ text }) => text),
		[],
		lines.join("\n"),
	);
	assert.ok(result.isComplete, lines.join("\n"));
	assert.ok(result.faults >= 3, lines.join("\n"));
	assert.ok(result.moves >= 1, lines.join("\n"));
	assert.ok(result.statistics.acknowledged >= 20, lines.join("\n"));
	assert.ok(result.statistics.reads >= 20, lines.join("\n"));
});

for (const app of APPS.filter((path) => !path.endsWith("pins"))) {
	it(`an attack on the app ${app.split("/").at(-1)} breaks no promise`, async () => {
		const lines: string[] = [];
		const { broken, report } = await attackApp(
			{ app, seed: SEED, minutes: 0.3, servers: 2, clients: 4 },
			{
				say: (line) => void lines.push(line),
				signal: new AbortController().signal,
				keep: async () => {},
			},
		);
		assert.deepEqual(broken, [], lines.join("\n"));
		const { faults, acknowledged, compared } = report as Record<string, number>;
		assert.ok(Number(faults) >= 1, lines.join("\n"));
		assert.ok(Number(acknowledged) >= 5, lines.join("\n"));
		assert.ok(Number(compared) >= 50, lines.join("\n"));
	});
}
