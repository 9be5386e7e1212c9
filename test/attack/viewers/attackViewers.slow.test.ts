import assert from "node:assert/strict";
import { it } from "node:test";
import { attackViewers } from "./attackViewers.ts";

const OPTIONS = { seed: 45, answers: 500, servers: 2, seconds: 6, defects: 0 };

async function attacked(options: Partial<typeof OPTIONS>) {
	const lines: string[] = [];
	const { report, broken } = await attackViewers(
		{ ...OPTIONS, ...options },
		{
			say: (line) => void lines.push(line),
			signal: new AbortController().signal,
			keep: async () => {},
		},
	);
	return {
		broken,
		...(report as {
			readonly kept: Readonly<Record<string, number>>;
			readonly counts: Readonly<Record<string, number>>;
		}),
		text: lines.join("\n"),
	};
}

it("viewers of a fleet that caches get what is stored, under writes and faults and after them", async () => {
	const { broken, counts, kept, text } = await attacked({});
	assert.deepEqual(broken, [], text);
	assert.ok(Number(counts.compared) >= OPTIONS.answers, text);
	assert.ok(Number(counts.underFaults) > 0, text);
	assert.ok(Number(counts.acknowledged) > 0, text);
	assert.ok(Number(counts.faults) > 0, text);
	for (const cache of ["objects", "heads", "answers"] as const) {
		assert.ok(Number(kept[cache]) > 0, `${cache}\n${text}`);
	}
});

it("caches that are wrong because rows were changed past the program are found", async () => {
	const { counts, text } = await attacked({ defects: 200 });
	assert.ok(Number(counts.wrong) > 0, text);
});
