import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
	filesByFolder,
	functionsOver,
	interfacesOf,
	linesOf,
	repositoryFiles,
	wordsOf,
} from "./limits.ts";

/** A function, a file and a folder that a reader can keep in mind. */
const FUNCTION_LINES = 120;
const FILE_LINES = 400;
const FOLDER_FILES = 18;
const PAGE_WORDS = 3_000;

/**
 * How large things may be, as they were when this was written, with what is aimed
 * at. A limit goes down when a change makes room, and up only with a reason
 * beside it.
 */
const LIMITS = {
	"lines of src/": { limit: 97_500, goal: 80_000 },
	"lines of the engine": { limit: 50_000, goal: 39_000 },
	"lines of the systems around it": { limit: 47_600, goal: 41_000 },
	"methods of the widest port": { limit: 30, goal: 12 },
	"lines that are generated and committed": { limit: 260, goal: 1_000 },
	"words of docs/": { limit: 73_500, goal: 55_000 },
} as const;

/** Functions over 120 lines. */
const LONG_FUNCTIONS: Readonly<Record<string, number>> = {
	"bench/capacity.ts workOut": 196,
	"bench/pairs.ts run": 122,
	"bench/world.ts createWorld": 136,
	"src/app/logEvents.ts logEvents": 157,
	"src/app/openCorkboard.ts openCorkboard": 217,
	"src/cache/invalidationChannel.ts openInvalidationChannel": 165,
	"src/cache/memcachedCache.ts openMemcachedCache": 264,
	"src/cache/redisCache.ts openRedisCache": 221,
	"src/config/config.ts readConfig": 166,
	"src/graph/outbox/deliver.ts deliverGroup": 157,
	"src/graph/store/createStore.ts createStore": 138,
	"src/graph/store/invalidator.ts createInvalidator": 187,
	"src/metrics/databaseMetrics.ts databaseMetrics": 146,
	"src/metrics/requestMetrics.ts requestMetrics": 170,
	"src/ops/fleet/checkServers.ts checkServers": 202,
	"src/ops/import/planBatch.ts planBatch": 133,
	"src/ops/verify/walkGraph.ts walkGraph": 201,
	"src/plan/compilePlan.ts compilePlan": 289,
	"src/plan/cost.ts costOf": 152,
	"src/plan/explainRuns.ts explainRuns": 180,
	"src/plan/planCache.ts createPlanCache": 138,
	"src/server/graphql/registerGraphql.ts registerGraphql": 174,
	"src/server/http/httpApp.ts createHttpApp": 180,
	"src/server/server.ts startServer": 128,
	"test/attack/graph/attack.ts attack": 121,
	"test/attack/graph/attackFleet.ts startAttackFleet": 126,
	"test/differential/oracle.ts resolversOf": 136,
	"test/helpers/feedWorld.ts openFeedWorld": 131,
	"test/helpers/keyWorld.ts openWorld": 157,
	"test/helpers/pagingWorld.ts checkCase": 123,
	"test/attack/promote/deadAttack.ts attackDead": 123,
};

/** Files over 400 lines, without tests: those are lists. At the end at most five are left, each with a reason. */
const LONG_FILES: Readonly<Record<string, number>> = {
	"bench/capacity.ts": 484,
	"src/cache/localCache.ts": 457,
	"src/cache/memcachedCache.ts": 472,
	"src/cache/redisCache.ts": 444,
	"src/config/config.ts": 406,
	"src/demo/subjects.ts": 407,
	"src/diagnostics.ts": 754,
	"src/feed/mysql/mysqlPools.ts": 623,
	"src/feed/sqlite/sqlitePools.ts": 413,
	"src/graph/write/archive.ts": 419,
	"src/graph/write/pipeline.ts": 438,
	"src/queue/mysql/mysqlJobStore.ts": 436,
	"src/queue/mysql/statements.ts": 439,
	"src/queue/sqlite/sqliteJobStore.ts": 417,
	"src/server/graphql/shortWay.ts": 498,
	"src/storage/mysql/driver/host.ts": 832,
	"src/storage/mysql/mysqlStorage.ts": 755,
	"src/storage/mysql/standby/speculation.ts": 681,
	"src/storage/mysql/transaction.ts": 512,
	"src/storage/reloadableStorage.ts": 644,
	"src/storage/sqlite/sqliteStorage.ts": 595,
	"src/storage/storage.ts": 526,
	"src/topology/check.ts": 615,
	"src/topology/fileStore.ts": 429,
	"src/topology/zookeeper/zookeeperStore.ts": 422,
	"src/worker/worker.ts": 451,
	"test/attack/graph/actors.ts": 563,
	"test/attack/graph/checks.ts": 493,
	"test/attack/graph/writes.ts": 735,
	"test/differential/oracle.ts": 429,
	"test/helpers/pagingWorld.ts": 526,
};

/** Folders with more than 18 files of their own. At the end at most three are left, which are lists by nature. */
const LARGE_FOLDERS: Readonly<Record<string, number>> = {
	bench: 20,
	docs: 28,
	"examples/pinboard/src": 71,
	"src/app": 40,
	"src/cache": 22,
	"src/cli": 22,
	// One file for each command.
	"src/cli/commands": 54,
	"src/domain/resolvers": 24,
	"src/feed": 22,
	"src/graph/outbox": 22,
	"src/graph/store": 20,
	"src/model": 23,
	"src/ops/fleet": 22,
	"src/ops/verify": 28,
	"src/plan": 34,
	"src/queue": 31,
	"src/queue/mysql": 21,
	"src/server/http": 24,
	"src/storage/mysql": 26,
	"src/util": 19,
	"test/attack/graph": 23,
	"test/differential": 21,
	"test/e2e": 28,
	"test/fleet": 27,
	"test/helpers": 58,
	"test/runner": 19,
	"test/services": 33,
	"test/suites": 20,
};

/** Pages with more than 3,000 words. */
const LONG_PAGES: Readonly<Record<string, number>> = {
	"docs/alerts.md": 3_772,
};

const ENGINE =
	/^src\/(?:cache|domain|graph|graphql|id|model|plan|server|storage|util|\w+\.ts$)/;
/** Golden files and lock files are not here: a reviewer reads their differences. */
const GENERATED = /\/__generated__\/|^deploy\/grafana\/[^/]+\.json$/;

const files = repositoryFiles();
const source = files.filter((file) =>
	/^src\/.*\.(?:ts|tsx|mjs|css|sh)$/.test(file),
);
const pages = files.filter((file) => /^docs\/.*\.md$/.test(file));
const code = files.filter(
	(file) =>
		/^(?:src|test|bench|tools|deploy)\/.*\.ts$/.test(file) &&
		!/\.test\.ts$|^test\/suites\/|\/peers\//.test(file),
);

const sum = (numbers: readonly number[]) =>
	numbers.reduce((total, number) => total + number, 0);

describe("what the repository holds", () => {
	const measured: Readonly<Record<keyof typeof LIMITS, number>> = {
		"lines of src/": sum(source.map(linesOf)),
		"lines of the engine": sum(
			source.filter((file) => ENGINE.test(file)).map(linesOf),
		),
		"lines of the systems around it": sum(
			source.filter((file) => !ENGINE.test(file)).map(linesOf),
		),
		"methods of the widest port": Math.max(
			...source
				.filter((file) => file.endsWith(".ts"))
				.flatMap(interfacesOf)
				.map(({ methods }) => methods),
		),
		"lines that are generated and committed": sum(
			files.filter((file) => GENERATED.test(file)).map(linesOf),
		),
		"words of docs/": sum(pages.map(wordsOf)),
	};
	for (const [what, { limit, goal }] of Object.entries(LIMITS)) {
		it(`has at most ${limit} ${what}`, (t) => {
			const found = measured[what as keyof typeof LIMITS];
			assert.ok(
				found <= limit,
				`${found} ${what}, ${found - limit} more than the limit: make room, or raise it with a reason beside it`,
			);
			t.diagnostic(`${found} ${what}; aimed at: ${goal}`);
		});
	}
});

/** Faults of what is over a limit: what the list has not, has as smaller, or has in vain. */
function faultsOf(
	found: Iterable<readonly [name: string, size: number]>,
	listed: Readonly<Record<string, number>>,
): readonly string[] {
	const sizes = new Map(found);
	return [
		...[...sizes].flatMap(([name, size]) =>
			size <= (listed[name] ?? 0)
				? []
				: [`${name} has ${size}, allowed are ${listed[name] ?? "fewer"}`],
		),
		...Object.keys(listed).flatMap((name) =>
			sizes.has(name) ? [] : [`${name} is small now: take it from the list`],
		),
	];
}

describe("what is larger than a reader can keep in mind", () => {
	it(`is no function of more than ${FUNCTION_LINES} lines, but for those that were`, () => {
		const found = code
			.flatMap((file) => functionsOver(FUNCTION_LINES, file))
			.map(({ name, lines }) => [name, lines] as const);
		assert.deepEqual(faultsOf(found, LONG_FUNCTIONS), []);
	});

	it(`is no file of more than ${FILE_LINES} lines, but for those that were`, () => {
		const found = code
			.map((file) => [file, linesOf(file)] as const)
			.filter(([, lines]) => lines > FILE_LINES);
		assert.deepEqual(faultsOf(found, LONG_FILES), []);
	});

	it(`is no folder of more than ${FOLDER_FILES} files, but for those that were`, () => {
		const found = [...filesByFolder(files)].filter(
			([, count]) => count > FOLDER_FILES,
		);
		assert.deepEqual(faultsOf(found, LARGE_FOLDERS), []);
	});

	it(`is no page of more than ${PAGE_WORDS} words, but for those that were`, () => {
		const found = pages
			.map((page) => [page, wordsOf(page)] as const)
			.filter(([, words]) => words > PAGE_WORDS);
		assert.deepEqual(faultsOf(found, LONG_PAGES), []);
	});

	it("is found: a long function, by the name of its declaration", () => {
		const [longest] = functionsOver(100, "test/limits.ts");
		assert.equal(longest, undefined);
		const names = functionsOver(20, "test/limits.ts").map(({ name }) => name);
		assert.ok(names.includes("test/limits.ts functionsOver"), String(names));
	});
});
