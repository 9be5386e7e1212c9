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
 * How large things may be, as they were when this was written and a little more,
 * with what is aimed at. A limit goes down when a change makes room, and up only
 * with a reason beside it. So it is with the lists below.
 */
const LIMITS = {
	// Some 4,000 lines more than at first: faults were repaired before anything was simplified.
	// Overload, one outbox a host with its upgrade, and caches that are compared came with the issues after "Thin walls".
	// Moving shards and caches in the shard map are rooms of their own; 600 more than was left for both. 700 more: a move has nine commands, each with its limits and what it prints, and a guard that lifts its fences.
	// 300 more: moves are traced, one wave goes back by itself, and a primary that dies meanwhile is replaced. 50 more: verify reads shards that move where they are then, and a move prints what it waits for.
	// 100 more: answers are kept whose data had to be read, and edges below a head.
	// 150 more: a refusal is written before Node makes a response of its request.
	// 230 more: the lists of many shards are locked by one statement and set by another: a quarter to half fewer statements.
	// 50 more: an import applies edges while its next batch creates objects, and claims of several shards share what a worker has room for.
	// 20 more: while others wait, an answer that was kept is sent as its request arrives.
	// 420 more: health and metrics from a thread of their own.
	"lines of src/": { limit: 113_340, goal: 80_000 },
	// 50 more: the upgrade to one outbox a host loses no entry, and status counts what is left. They go with formerOutboxes.ts.
	// 100 for what is said above. Caches in the shard map: several servers for each kind, chosen by key; 300 more for names that a key which comes back does not share.
	// The same 150.
	// 220 for what is said of statements. 10 more: a refused COMMIT did nothing.
	// The same 20.
	// 390 more: health and metrics from a thread of their own.
	"lines of the engine": { limit: 53_320, goal: 39_000 },
	// 400 more: processes agree on the servers of their shared caches, also after the store has lost what they agreed on. 50 more: MySQL's settings are compared with what the tables of a host need.
	// Moving shards, with salvage and balance, is new. 400 more: one command takes a fleet over to other caches. 700 more: the nine commands of moves. 80 more: the guard of a move waits for a store or a host that is away, and its runner goes on after it. 350 for what is said above.
	// The same 50.
	// 40 more: health and metrics from a thread of their own.
	"lines of the systems around it": { limit: 60_025, goal: 41_000 },
	"methods of the widest port": { limit: 12, goal: 12 },
	"lines that are generated and committed": { limit: 520, goal: 1_000 },
	"words of docs/": { limit: 55_000, goal: 55_000 },
} as const;

/** Functions over 120 lines. */
const LONG_FUNCTIONS: Readonly<Record<string, number>> = {
	"bench/pairs.ts run": 130,
	"bench/world.ts createWorld": 140,
	"test/attack/graph/attack.ts attack": 130,
	"test/attack/promote/deadAttack.ts attackDead": 130,
	"test/differential/oracle.ts resolversOf": 140,
	"test/helpers/feedWorld.ts openFeedWorld": 140,
	"test/helpers/keyWorld.ts openWorld": 160,
	"test/helpers/pagingWorld.ts checkCase": 130,
};

/** Files over 400 lines, without tests: those are lists. At the end at most five are left, each with a reason. */
const LONG_FILES: Readonly<Record<string, number>> = {
	// One machine of states, without I/O: cut in two, each half would have to know the states of the other.
	"src/storage/mysql/standby/speculation.ts": 700,
	"test/attack/graph/actors.ts": 580,
	"test/attack/graph/checks.ts": 500,
	"test/attack/graph/writes.ts": 740,
	"test/differential/oracle.ts": 440,
	"test/helpers/pagingWorld.ts": 540,
};

/** Folders with more than 18 files of their own. At the end at most three are left, which are lists by nature. */
const LARGE_FOLDERS: Readonly<Record<string, number>> = {
	// One file for each component.
	"examples/pinboard/src": 71,
	// One file for each command: balance, salvage and those of moves came with moving shards.
	"src/cli/commands": 68,
	// Small functions that know of nothing: a list by nature. The last was copied in three places.
	"src/util": 25,
	"test/attack/graph": 24,
	"test/differential": 21,
	"test/e2e": 33,
	// The world of several caches, and its test.
	"test/fleet": 29,
	"test/helpers": 60,
	"test/services": 21,
	"test/suites": 20,
};

/** Pages with more than 3,000 words. */
const LONG_PAGES: Readonly<Record<string, number>> = {};

const ENGINE =
	/^src\/(?:cache|domain|graph|graphql|id|model|plan|server|storage|util|\w+\.ts$)/;
/** Golden files and lock files are not here: a reviewer reads their differences. */
const GENERATED =
	/\/__generated__\/|^deploy\/grafana\/[^/]+\.json$|^docs\/(?:commands|configuration)\.md$/;

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
