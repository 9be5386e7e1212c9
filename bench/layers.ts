/**
 * Measures what each cache layer saves of a warm query Q3 (user → 10 boards →
 * 10 pins → like count and 3 likers), on a fleet with an imported graph:
 *
 *     CORKBOARD_TOPOLOGY=… CORKBOARD_MEMCACHED=… CORKBOARD_REDIS=… CORKBOARD_SECRET=… \
 *       node bench/layers.ts [users] [rounds]
 *
 * All variants run one after another in one process, so run it twice on a noisy
 * machine. Times are of `planner.execute`, without HTTP, one operation at a
 * time, over all users and rounds.
 */
import { parse } from "graphql";
import { openCorkboard } from "../src/app/openCorkboard.ts";
import { type Config, readConfig } from "../src/config/config.ts";
import { CHANNELS, type Statement } from "../src/diagnostics.ts";

const Q3 = parse(`query ($name: String!) {
	user(username: $name) {
		name
		boards(first: 10) {
			nodes {
				name
				pins(first: 10) {
					nodes {
						details
						likedBy(first: 3) { totalCount nodes { username } }
					}
				}
			}
		}
	}
}`);

const users = Number(process.argv[2] ?? 50);
const rounds = Number(process.argv[3] ?? 5);
const config = readConfig(process.env);

const variants: readonly (readonly [string, Config])[] = [
	["MySQL alone", { ...config, memcached: [], redis: null }],
	["+ memcached", { ...config, redis: null }],
	["+ Redis (heads)", config],
	["+ in process", config],
];

let statements = 0;
CHANNELS.statement.subscribe((message) => {
	statements += (message as Statement).name === "lookups" ? 0 : 1;
});

const times = new Map<string, number[]>();
const counts = new Map<string, number>();
for (const [name, variant] of variants) {
	// "readOnly" opens without the cache in process.
	const access = name === "+ in process" ? "readWrite" : "readOnly";
	await using corkboard = await openCorkboard(variant, access);
	const ask = async (user: number) => {
		const response = await corkboard.planner.execute({
			document: Q3,
			variables: { name: `pinner${user}` },
			context: corkboard.createContext(null),
		});
		if (response.errors) throw response.errors[0];
	};
	if (access === "readWrite")
		await new Promise((resolve) => setTimeout(resolve, 800));
	for (let user = 0; user < users; user++) await ask(user * 7);
	const measured: number[] = [];
	statements = 0;
	for (let round = 0; round < rounds; round++) {
		for (let user = 0; user < users; user++) {
			const start = performance.now();
			await ask(user * 7);
			measured.push(performance.now() - start);
		}
	}
	times.set(
		name,
		measured.toSorted((a, b) => a - b),
	);
	counts.set(name, statements / measured.length);
}

for (const [name, sorted] of times) {
	const at = (share: number) =>
		(sorted[Math.floor(sorted.length * share)] as number).toFixed(2);
	console.log(
		`${name.padEnd(18)} p50 ${at(0.5)} ms  p95 ${at(0.95)} ms  ${(counts.get(name) ?? 0).toFixed(1)} statements`,
	);
}
