import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { after, before, describe, it } from "node:test";
import { CACHE_CHANNELS, type CacheCall } from "../../src/cache/diagnostics.ts";
import { verify } from "../../src/ops/verify/verify.ts";
import { seededRandom } from "../../src/util/random.ts";
import {
	describeMismatch,
	judge,
	operations,
	reportMismatch,
} from "../differential/judge.ts";
import type { Execute } from "../differential/operation.ts";
import { createOracle } from "../differential/oracle.ts";
import { sideOf, World } from "../differential/world.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { until } from "../helpers/until.ts";
import { type Fleet, openProcess, type Process, startFleet } from "./fleet.ts";

const QUERIES = 250;
const MUTATIONS_AND_QUERIES = 250;

const SEED = Number(
	process.env.CORKBOARD_DIFFERENTIAL_SEED ?? randomInt(2 ** 31),
);
console.log(`seed ${SEED}, repeated by CORKBOARD_DIFFERENTIAL_SEED=${SEED}`);

describe("random valid operations on a fleet with all cache layers", () => {
	let fleet: Fleet;
	let world: World;
	/** With all layers, and with those that processes share. */
	let processes: readonly [Process, Process];
	/** On those two, and on the shards without any cache. */
	let executors: readonly Execute[];
	before(async () => {
		fleet = await startFleet({ mysql: 2 });
		// No response is late on a busy machine.
		const limits = { readMs: 60_000, writeMs: 60_000, rowsMs: 60_000 };
		processes = [
			await openProcess(fleet.addresses, { channel: true, limits }),
			await openProcess(fleet.addresses, { cacheBytes: 0, limits }),
		];
		const [all, shared] = processes;
		await until("the channel", () => all.news.at(-1) === "restored");
		// The reference reads the shards past all caches.
		world = await World.openOn(all);
		executors = [
			world.queries.plan,
			sideOf(shared.storage, { store: shared.store }).plan,
			sideOf(all.storage, { cacheBytes: 0 }).plan,
		];
	});
	after(async () => {
		for (const process of processes) await process[Symbol.asyncDispose]();
		await fleet[Symbol.asyncDispose]();
	});

	it(`are answered by the plan as by graphql-js on the bare shards and by an oracle in memory, ${QUERIES} of them`, async () => {
		const random = seededRandom(SEED);
		const judges = {
			reference: world.queries.reference,
			oracle: {
				answer: createOracle(world.schema, world.memory, world.learned),
				learned: world.learned,
			},
		};
		const around = world.samples();
		let byOracle = 0;
		let nth = 0;
		const calls = await publishedDuring<CacheCall>(
			CACHE_CHANNELS.cacheCall,
			async () => {
				for (const operation of operations(random, around, QUERIES)) {
					const executor = executors[nth++ % executors.length] as Execute;
					const verdict = await judge(operation, executor, judges);
					assert.equal(
						verdict.mismatch,
						null,
						verdict.mismatch === null
							? ""
							: await reportMismatch(SEED, operation, executor, judges, around),
					);
					if (verdict.byOracle) byOracle++;
				}
			},
		);
		assert.ok(byOracle > QUERIES * 0.8, `the oracle knew ${byOracle}`);
		for (const layer of ["memcached", "redis"]) {
			for (const verb of ["get", "set"]) {
				assert.ok(
					calls.some(
						(call) => call.layer === layer && call.verb === verb && call.ok,
					),
					`${verb} in ${layer}`,
				);
			}
		}
	});

	it(`are answered so right after the mutations among them, ${MUTATIONS_AND_QUERIES} of both, and leave nothing damaged`, async () => {
		const random = seededRandom(SEED + 1);
		const judges = { reference: world.queries.reference };
		const around = world.samples();
		let changed = 0;
		let asked = 0;
		for (const operation of operations(
			random,
			around,
			MUTATIONS_AND_QUERIES,
			0.5,
		)) {
			if (operation.text.includes("mutation ")) {
				const { data } = await world.queries.plan(operation);
				const payloads = Object.values(data ?? {});
				changed += payloads.filter((payload) => payload !== null).length;
				continue;
			}
			for (const executor of executors) {
				const { mismatch, response: answer } = await judge(
					operation,
					executor,
					judges,
				);
				assert.equal(
					mismatch,
					null,
					describeMismatch(SEED, operation, mismatch ?? "", [answer]),
				);
			}
			asked++;
		}
		assert.ok(changed > 40, `${changed} mutations were carried out`);
		assert.ok(asked > 40, `${asked} queries were asked`);
		await processes[0].store.outboxDeletions.flush();
		const {
			clean,
			damage: found,
			pendingEntries,
		} = await verify(processes[0].store);
		assert.deepEqual(
			{ clean, found, pendingEntries },
			{ clean: true, found: [], pendingEntries: 0 },
		);
	});
});
