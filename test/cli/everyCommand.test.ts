import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { HELP_COLUMNS, synopsis, type Usage } from "../../src/cli/arguments.ts";
import { loadCommands } from "../../src/cli/main.ts";
import { printPosition } from "../../src/fleet/changes/position.ts";
import { bucketOf } from "../../src/queue/bucket.ts";
import { formatJobId, newClaim, newLocalId } from "../../src/queue/jobId.ts";
import { openSqliteJobStore } from "../../src/queue/sqlite/sqliteJobStore.ts";
import { command, type Ran } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Examples of what each command prints with --json, by its name. */
const SHOWN: Readonly<Record<string, unknown>> = JSON.parse(
	readFileSync(join(ROOT, "docs/reference/commands.json"), "utf8"),
);
const COMMANDS = await loadCommands();
const NAMES = [...COMMANDS.keys()];
const folder = temporaryFolder();
after(() => folder[Symbol.dispose]());

const LINES = file(
	"lines.ndjson",
	[
		{
			type: "User",
			key: "a",
			fields: { username: "ada_made_up", name: "Ada" },
		},
		{ type: "Board", key: "o", fields: { owner: "a", name: "Loaves" } },
		{ type: "Pin", key: "p:1", fields: { board: "o", details: "Rye" } },
		{ edge: "likePin", from: "a", to: "p:1" },
	]
		.map((line) => JSON.stringify(line))
		.join("\n"),
);
mkdirSync(join(folder.path, "old"));
file(
	"old/people.csv",
	"id,login,full_name,joined\n1,eve_made_up,Eve,2020-01-02\n",
);
const MAPPING = file(
	"old.ts",
	`import { migration, utc } from "corkboard";
	export default migration({
		source: "file:old",
		types: { User: { table: "people", key: "id", fields: {
			username: "login", name: "full_name", createdAt: utc("joined") } } },
	});`,
);
const SCREENS = file(
	"old.screens.ts",
	`import { screens } from "corkboard";
	export default screens({ profile: {
		of: "User", document: "query ($id: ID!) { user(by: { id: $id }) { name } }",
		rows: "user", there: () => [{ full: "Eva" }], fields: { name: "full" } } });`,
);
const REWRITE = file(
	"rewrite.ts",
	`export default {
		type: "Pin",
		change: (data) => data.title ? null : { ...data, title: data.details },
	};`,
);
const QUERY = file(
	"q.graphql",
	'{ user(by: {username: "ada_made_up"}) { name } }',
);
const DOCUMENTS = file(
	"documents.json",
	'{"home": "query Home { interests(first: 5) { nodes { slug } } }"}',
);
const TOPOLOGY = file(
	"topology.json",
	JSON.stringify({
		version: 1,
		shards: [{ range: [0, 1], primary: "sqlite:a", open: true }],
		lookups: [{ range: [0, 1], primary: "sqlite:a" }],
	}),
);
/** Another one, which commands change. */
const STORED = file("stored.json", readFileSync(TOPOLOGY, "utf8"));

const CHANGES = join(folder.path, "changes");
mkdirSync(CHANGES);
file(
	"changes/position.json",
	JSON.stringify({
		position: printPosition({
			gtids: "3e11fa47-71ca-11e1-9e33-c80aa9429562:1-5",
			owners: {},
		}),
		file: 0,
		bytes: 0,
	}),
);
const SDL = file(
	"old.graphql",
	"type Query { pin: Pin } type Pin { id: ID link: String }",
);
const NEXT_SDL = file(
	"new.graphql",
	"type Query { pin: Pin } type Pin { id: ID }",
);
const TODAY = new Date().toISOString().slice(0, 10);
mkdirSync(join(folder.path, "data/usage"), { recursive: true });
file(
	`data/usage/${TODAY}.json`,
	JSON.stringify({
		day: TODAY,
		since: `${TODAY}T00:00:00.000Z`,
		documents: { [`${"a".repeat(64)} Home`]: ["Pin.link"] },
		requests: { web: { [`${"a".repeat(64)} Home`]: 12 } },
		fields: {},
	}),
);
const FAILED_JOB = await storeFailedJob();

/** In a queue `madeUp`, beside the graph. */
async function storeFailedJob(): Promise<string> {
	const at = { queue: "madeUp", shard: 0 };
	await using store = openSqliteJobStore({
		queues: [{ range: [0, 0], primary: `sqlite:${join(folder.path, "data")}` }],
	});
	await store.createTables();
	await store.put(0, { name: at.queue, settings: {}, version: 1 });
	const now = await store.now(0);
	const local = newLocalId();
	const job = { local, bucket: bucketOf(now, now), key: null, body: "{}" };
	await store.enqueue(at, [
		{ ...job, priority: 1, due: now, allowed: 1, createdAt: now },
	]);
	const { claimed } = await store.ackAndClaim(at, {
		claim: {
			bucket: job.bucket,
			priority: 1,
			floor: 0,
			limit: 1,
			claim: newClaim(),
			claimMs: 60_000,
		},
	});
	await store.ackAndClaim(at, {
		acks: claimed.map((one) => ({
			...one,
			kind: "giveUp" as const,
			status: "no such pin",
		})),
	});
	return formatJobId({ ...at, ...job });
}

/** Exit codes of those that do not end with 0. */
const CODES: Readonly<Record<string, number>> = {
	"schema diff": 1,
	"migrate shadow": 1,
	"queues drain": 3,
};

/** Arguments with which each command prints the JSON that docs/reference/commands.json shows, in the order in which they run. */
const WITH_JSON: Readonly<Record<string, readonly string[]>> = {
	import: [LINES],
	dump: [join(folder.path, "dump")],
	init: [],
	status: [],
	verify: [],
	"migrate run": [MAPPING],
	"migrate status": [MAPPING],
	"migrate bad": [MAPPING],
	"migrate check": [MAPPING],
	"migrate show": [MAPPING, "User:1"],
	"migrate compare": [MAPPING, "--all"],
	"migrate shadow": [MAPPING, SCREENS, "--sample", "100"],
	"migrate finish": [MAPPING],
	explain: [QUERY],
	"objects show": ["241294492511762325"],
	"objects rewrite": [REWRITE, "--dry-run"],
	"accounts show": ["ada_made_up"],
	"accounts export": ["ada_made_up", join(folder.path, "export")],
	"accounts erase": ["ada_made_up", "--now", "--dry-run"],
	"accounts audit": [],
	"changes enable": [],
	"changes disable": ["--yes"],
	"changes forget": [CHANGES, "--yes"],
	"schema print": [],
	"schema lock": [],
	"schema types": ["--check"],
	"schema diff": [SDL, NEXT_SDL, "--unused", "1d"],
	"usage fields": [],
	"usage documents": [],
	"documents check": [DOCUMENTS],
	"map check": [TOPOLOGY, TOPOLOGY],
	"shards list": [],
	"hosts list": [],
	"map publish": [TOPOLOGY],
	"shards close": ["1"],
	"shards weigh": ["1", "2"],
	"caches list": [],
	"caches set": [
		...[
			"--lists",
			"redis://127.0.0.1:1",
			"--objects",
			"memcached://127.0.0.1:1",
		],
		...["--unchecked", "--dry-run"],
	],
	"shards open": ["1"],
	"map rollback": ["3"],
	"map history": [],
	"map show": [],
	"map diff": ["2", "3"],
	"map wait": ["6"],
	"feeds explain": ["ada_made_up"],
	"feeds rebuild": ["ada_made_up"],
	"feeds stats": [],
	"queues create": ["sendMail", "--set", "maxJobsPerSecond=50"],
	"queues list": [],
	"queues stats": [],
	"queues pause": ["sendMail"],
	"queues resume": ["sendMail"],
	"queues set": ["sendMail", "maxRunning=8"],
	"jobs show": [FAILED_JOB],
	"jobs list": ["madeUp", "--state", "failed"],
	"jobs retry": ["madeUp"],
	"jobs delete": ["madeUp", "--state", "pending", "--yes"],
	"queues rotate": ["madeUp"],
	"queues drain": ["0", "--check"],
	"queues delete": ["sendMail", "--confirm", "sendMail"],
};

/** They cannot be undone, or stop writes. */
const ASKING: readonly string[] = [
	...[
		"hosts promote",
		"hosts accept-loss",
		"hosts salvage",
		"operations abort",
	],
	...["replicas add", "replicas remove"],
	...["shards move", "moves reverse", "moves complete", "moves cancel"],
	...["jobs delete", "queues delete", "accounts erase", "objects rewrite"],
	...["changes disable", "changes forget"],
];

/** They stop writes, or cannot be undone, and do not ask. */
const NOT_ASKING: Readonly<Record<string, string>> = {
	"moves cut-over":
		"it is the answer that `shards move --cut-over ask` waits for",
	"operations resume":
		"it goes on with what was confirmed, and cannot be begun by mistake",
	controller: "it is the same, without a person",
	"hosts raise-ids":
		"it takes nothing but ids, of which there are 68,719 times as many",
};

/** They change nothing that others see. */
const READING: readonly string[] = [
	...["migrate scaffold", "migrate check", "migrate status"],
	...["migrate bad", "migrate show", "migrate compare", "migrate shadow"],
	...["migrate back-feed"],
	...[
		"status",
		"dump",
		"top",
		"explain",
		"objects show",
		"objects list",
		"grants show",
		"tokens create",
		"accounts show",
		"accounts export",
		"accounts list-erased",
		"accounts audit",
	],
	...["schema print", "schema diff", "usage fields", "usage documents"],
	...["documents check", "completion", "hosts check", "shards balance"],
	...["shards list", "hosts list", "moves list"],
	...["map check", "map show", "map diff", "map history"],
	...["map wait", "caches list", "feeds explain", "feeds stats"],
	...["queues list", "queues stats", "jobs show", "jobs list"],
	...["moves show", "operations list", "changes follow"],
];

/** They change something, and cannot be tried. */
const WITHOUT_DRY_RUN: Readonly<Record<string, string>> = {
	worker: "it serves",
	controller: "it serves",
	import: "it creates what is not there, and changes nothing else",
	"migrate finish": "it is migrate run and migrate compare",
	verify: "without --repair it only looks",
	"schema lock": "it only adds to a file that is under version control",
	"accounts link": "accounts unlink undoes it",
	"accounts unlink": "accounts link undoes it",
	"accounts close": "accounts reopen undoes it",
	"accounts reopen": "accounts close undoes it",
	"changes enable": "changes disable undoes it",
	"changes forget": "it deletes only what was erased",
	"changes disable": "it asks, and no row of the graph changes",
	"queues create":
		"queues delete undoes it, and a queue that is there stays as it is",
	"moves pause": "moves resume undoes it",
	"moves resume": "moves pause undoes it",
	"moves set": "it can be set again",
	"moves cut-over": "shards move --cut-over ask is what waits for it",
	"operations resume": "operations list says where it is, and it only goes on",
};

/** Commands that print no table, and what they print. */
const WITHOUT_JSON: Readonly<Record<string, string>> = {
	serve: "a log",
	worker: "a log",
	"grants show": "statements of SQL",
	"tokens create": "a token",
	"accounts link": "an id",
	"accounts unlink": "an id",
	"accounts close": "an id",
	"accounts reopen": "an id",
	"objects list": "lines of JSON",
	"changes follow": "lines of JSON",
	"accounts list-erased": "ids",
	"migrate scaffold": "a module",
	"migrate back-feed": "lines of JSON",
	controller: "a log",
	completion: "a script",
	"moves pause": "a sentence",
	"moves cut-over": "a sentence",
};

function file(name: string, text: string): string {
	const path = join(folder.path, name);
	writeFileSync(path, text);
	return path;
}

function run(args: readonly string[]): Promise<Ran> {
	const [group = ""] = args;
	const changesTopology =
		["map", "shards", "caches"].includes(group) && args[1] !== "check";
	return command(args, {
		env: changesTopology
			? { CORKBOARD_TOPOLOGY: STORED }
			: { CORKBOARD_DATA: join(folder.path, "data") },
		open: openCorkboard,
	});
}

async function usageOf(name: string): Promise<Usage> {
	const found = COMMANDS.get(name);
	assert.ok(found);
	return found.usage;
}

describe("every command", () => {
	test("has help that fits in 100 columns and names each option", async () => {
		for (const name of NAMES) {
			const { code, out, err } = await run([...name.split(" "), "--help"]);
			assert.deepEqual({ code, err }, { code: 0, err: "" }, name);
			for (const line of out.split("\n")) {
				assert.ok(line.length <= HELP_COLUMNS, `${name} --help: ${line}`);
			}
			for (const option of Object.keys((await usageOf(name)).options)) {
				assert.match(out, new RegExp(`^  --${option}\\b`, "m"));
			}
		}
	});

	test("refuses an unknown option with its usage (exit code 2)", async () => {
		for (const name of NAMES) {
			const { code, out, err } = await run([...name.split(" "), "--no-such"]);
			assert.deepEqual({ code, out }, { code: 2, out: "" }, name);
			const usage = synopsis(name, await usageOf(name));
			assert.ok(
				err.startsWith("corkboard: Unknown option --no-such."),
				`${name}: ${err}`,
			);
			assert.ok(err.endsWith(`Usage: ${usage}\n`), `${name}: ${err}`);
		}
	});

	test("prints with --json the shape that docs/reference/commands.json shows, or says why it has none", async () => {
		const own = NAMES.filter((name) => !Object.hasOwn(ELSEWHERE, name));
		assert.deepEqual(
			[...Object.keys(WITH_JSON), ...Object.keys(WITHOUT_JSON)].toSorted(),
			own.toSorted(),
			"name each command in WITH_JSON, WITHOUT_JSON or ELSEWHERE",
		);
		for (const name of own) {
			const isJson = Object.hasOwn((await usageOf(name)).options, "json");
			assert.equal(isJson, Object.hasOwn(WITH_JSON, name), name);
		}
		for (const key of Object.keys(SHOWN)) {
			assert.ok(
				NAMES.some((name) => `${key} `.startsWith(`${name} `)),
				`docs/reference/commands.json: ${key} is no command`,
			);
		}
		for (const [name, args] of Object.entries(WITH_JSON)) {
			const given = [...name.split(" "), ...args, "--json"];
			const { code, out, err } = await run(given);
			assert.equal(code, CODES[name] ?? 0, `${name}: ${err}`);
			// On stderr is nothing but progress, where a machine is slow, and audit lines.
			assert.doesNotMatch(err, /^corkboard:/m, name);
			const shown = SHOWN[name];
			assert.ok(shown, `docs/reference/commands.json has no JSON of ${name}`);
			assertSameShape(JSON.parse(out), shown, name);
		}
	});

	test("that cannot be undone or stops writes asks, and what changes a fleet or a queue can be tried dry, or it says why not", async () => {
		const known = [...ASKING, ...Object.keys(NOT_ASKING)];
		for (const name of NAMES) {
			const { options } = await usageOf(name);
			const has = (option: string) => Object.hasOwn(options, option);
			assert.equal(
				has("yes") || has("confirm"),
				ASKING.includes(name),
				`${name}: does it ask? Name it in ASKING if it does`,
			);
			const isTried = has("dry-run") || has("check");
			const isRead = READING.includes(name);
			assert.equal(
				isTried,
				!isRead && !Object.hasOwn(WITHOUT_DRY_RUN, name),
				`${name}: can it be tried? Else name it in READING or WITHOUT_DRY_RUN`,
			);
		}
		for (const name of [
			...known,
			...READING,
			...Object.keys(WITHOUT_DRY_RUN),
		]) {
			assert.ok(NAMES.includes(name), name);
		}
		// Without a terminal only --yes says yes.
		const refused = await run([
			"jobs",
			"delete",
			"madeUp",
			"--state",
			"failed",
		]);
		assert.equal(refused.code, 1);
		assert.match(refused.err, /deletes jobs of madeUp for good.*Pass --yes/);
	});

	test("belongs to a group that has a help of its own, if its name has two words", async () => {
		const groups = new Set(
			NAMES.filter((name) => name.includes(" "))
				.map((name) => String(name.split(" ")[0]))
				// `move` is a command as well, whose help names the others.
				.filter((group) => !NAMES.includes(group)),
		);
		assert.ok(groups.size >= 3);
		for (const group of groups) {
			const own = NAMES.filter((name) => name.startsWith(`${group} `));
			for (const args of [
				[group, "--help"],
				["help", group],
			]) {
				const { code, out } = await run(args);
				assert.equal(code, 0);
				for (const name of NAMES) {
					assert.equal(
						new RegExp(`^  ${name}  `, "m").test(out),
						own.includes(name),
					);
				}
			}
			const missing = await run([group]);
			assert.equal(missing.code, 2);
			assert.equal(
				missing.err,
				`corkboard: Missing command after ${group}. Commands: ${own.join(", ")}.\n`,
			);
		}
	});
});

/** Commands whose JSON needs a server: the tests that compare it with docs/reference/commands.json. */
const ELSEWHERE: Readonly<Record<string, string>> = {
	top: "test/cli/top.test.ts",
	restore: "test/dump/embedded.test.ts",
	"hosts promote": "test/fleet/operations/promote.test.ts",
	"hosts salvage": "test/fleet/salvage/salvage.test.ts",
	"replicas add": "test/fleet/operations/replica.test.ts",
	"replicas remove": "test/fleet/operations/replica.test.ts",
	"shards move": "test/fleet/move/move.test.ts",
	"moves list": "test/fleet/move/move.test.ts",
	"moves show": "test/fleet/move/move.test.ts",
	"moves set": "test/fleet/move/move.test.ts",
	"moves resume": "test/fleet/move/move.test.ts",
	"moves reverse": "test/fleet/move/move.test.ts",
	"moves complete": "test/fleet/move/move.test.ts",
	"moves cancel": "test/fleet/move/move.test.ts",
	"operations list": "test/fleet/operations/promote.test.ts",
	"hosts check": "test/fleet/operations/promote.test.ts",
	"shards balance": "test/fleet/balance/fleetBalance.slow.test.ts",
	"hosts accept-loss": "test/fleet/names.test.ts",
	"hosts raise-ids": "test/fleet/operations/promote.test.ts",
	"operations resume": "test/fleet/operations/promote.test.ts",
	"operations abort": "test/fleet/operations/promote.test.ts",
};

/** Names of objects agree at every depth, where both have something. */
function assertSameShape(actual: unknown, shown: unknown, at: string): void {
	if (actual === null || shown === null) return;
	assert.equal(typeof actual, typeof shown, at);
	if (typeof actual !== "object" || typeof shown !== "object") return;
	assert.equal(Array.isArray(actual), Array.isArray(shown), at);
	if (Array.isArray(actual) && Array.isArray(shown)) {
		if (actual.length > 0 && shown.length > 0) {
			assertSameShape(actual[0], shown[0], `${at}[0]`);
		}
		return;
	}
	assert.deepEqual(Object.keys(actual).sort(), Object.keys(shown).sort(), at);
	for (const [name, value] of Object.entries(shown)) {
		assertSameShape(
			(actual as Record<string, unknown>)[name],
			value,
			`${at}.${name}`,
		);
	}
}

describe("the command line as a whole", () => {
	test("has an overview within 100 columns, and a version", async () => {
		const { out } = await run(["--help"]);
		for (const line of out.split("\n")) {
			assert.ok(line.length <= HELP_COLUMNS, line);
		}
		const { version } = JSON.parse(
			readFileSync(join(ROOT, "package.json"), "utf8"),
		);
		assert.deepEqual(await run(["--version"]), {
			code: 0,
			out: `${version}\n`,
			err: "",
		});
		const unknown = await run(["--verbose"]);
		assert.equal(unknown.code, 2);
		assert.match(unknown.err, /^corkboard: Unknown option --verbose\./);
	});
});

describe("every command line", () => {
	test("takes -o json and -o wide, and --topology before or after the command", async () => {
		const json = await run(["queues", "list", "-o", "json"]);
		assert.deepEqual(json, await run(["queues", "list", "--json"]));
		const wide = await run(["queues", "list", "-o", "wide"]);
		assert.equal(wide.code, 0);
		for (const line of (await run(["queues", "list"])).out.split("\n")) {
			assert.ok(line.length <= HELP_COLUMNS, line);
		}
		const wrong = await run(["queues", "list", "-o", "yaml"]);
		assert.equal(wrong.code, 2);
		assert.match(wrong.err, /-o must be json or wide, got "?yaml/);
		const shown = await run(["--topology", STORED, "shards", "list"]);
		assert.deepEqual(shown.code, 0, shown.err);
		assert.deepEqual(
			shown,
			await run(["shards", "list", `--topology=${STORED}`]),
		);
		assert.match(shown.out, /^shards +of +primary/);
	});

	test("repeats a list with --watch until it is interrupted", async () => {
		const interrupted = new AbortController();
		let times = 0;
		const { code } = await command(
			["hosts", "list", "--topology", STORED, "--watch", "--json"],
			{
				stdout(text) {
					assert.ok(JSON.parse(text).length > 0);
					if (++times === 2) interrupted.abort();
				},
				interruptSignal: () => interrupted.signal,
			},
		);
		assert.deepEqual([code, times], [0, 2]);
		const alone = await run(["hosts", "list", "--every", "2s"]);
		assert.equal(alone.code, 2);
	});
});

describe("completion", () => {
	let script = "";
	before(async () => {
		script = (await run(["completion", "bash"])).out;
	});

	/** What bash offers after these words; the last one is being typed. */
	function completed(...words: readonly string[]): readonly string[] {
		const code = `${script}
			COMP_WORDS=(${["corkboard", ...words].map((word) => `'${word}'`).join(" ")})
			COMP_CWORD=$(( \${#COMP_WORDS[@]} - 1 ))
			_corkboard
			printf '%s\\n' "\${COMPREPLY[@]}"`;
		const out = execFileSync("bash", ["--norc", "-c", code], {
			cwd: ROOT,
			encoding: "utf8",
		});
		return out.split("\n").filter((line) => line !== "");
	}

	test("in bash offers every command, group and option", async () => {
		const first = NAMES.map((name) => String(name.split(" ")[0]));
		assert.deepEqual(
			completed("").toSorted(),
			[...new Set(first), "--help", "--version"].toSorted(),
		);
		assert.deepEqual(completed("doc"), ["documents"]);
		assert.deepEqual(completed("map", ""), [
			...NAMES.filter((name) => name.startsWith("map ")).map((name) =>
				name.slice("map ".length),
			),
			"--help",
		]);
		for (const name of ["serve", "verify", "schema print"]) {
			assert.deepEqual(
				completed(...name.split(" "), "--"),
				[...Object.keys((await usageOf(name)).options), "help"].map(
					(option) => `--${option}`,
				),
			);
		}
		assert.deepEqual(completed("verify", "--repair", "--js"), ["--json"]);
		assert.deepEqual(completed("completion", "z"), ["zsh"]);
		assert.deepEqual(completed("status", "-o", ""), ["json", "wide"]);
		assert.deepEqual(completed("moves", "set", "--cut-over", "a"), [
			"auto",
			"ask",
		]);
	});

	test("in bash offers files where a file is expected, and nothing for another value", () => {
		assert.deepEqual(completed("documents", "check", "tsconf"), [
			"tsconfig.json",
		]);
		assert.deepEqual(completed("explain", "--variables", "tsconf"), [
			"tsconfig.json",
		]);
		assert.deepEqual(completed("serve", "--workers", ""), []);
		assert.deepEqual(completed("tokens", "create", "tsconf"), []);
	});

	test("in zsh and fish names every command and option", async () => {
		for (const shell of ["zsh", "fish"]) {
			const { out } = await run(["completion", shell]);
			for (const name of NAMES) {
				for (const word of name.split(" ")) assert.ok(out.includes(word));
				for (const option of Object.keys((await usageOf(name)).options)) {
					assert.ok(
						out.includes(shell === "fish" ? `-l ${option}` : `--${option}`),
					);
				}
			}
		}
		assert.equal((await run(["completion", "ksh"])).code, 2);
		const values = await run(["completion", "values", "--kind", "queues"]);
		assert.deepEqual([values.code, values.err], [0, ""]);
		assert.match(values.out, /^madeUp$/m);
	});
});

describe("the package", () => {
	const { bin } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));

	test("has a bin that runs through a link, as npm makes it, and below node_modules", () => {
		// As after `npm link` and after `npm install` of the packed files.
		const packed = join(folder.path, "node_modules/corkboard");
		mkdirSync(packed, { recursive: true });
		for (const entry of ["src", "pins", "schema", "package.json"]) {
			execFileSync("cp", ["-r", join(ROOT, entry), packed]);
		}
		symlinkSync(join(ROOT, "node_modules"), join(packed, "node_modules"));
		for (const from of [ROOT, packed]) {
			const link = join(folder.path, `corkboard-${from.length}`);
			symlinkSync(join(from, bin.corkboard), link);
			const out = execFileSync(
				link,
				["objects", "show", "241294492511762325"],
				{
					cwd: folder.path,
					encoding: "utf8",
					env: { PATH: process.env.PATH },
				},
			);
			assert.match(out, /^table {5}db03429\.pins$/m);
		}
	});

	test("packs what it runs with, and no tests or data", () => {
		const out = execFileSync(
			"npm",
			["pack", "--dry-run", "--json", "--ignore-scripts", "--offline"],
			{ cwd: ROOT, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] },
		);
		const [{ files }] = JSON.parse(out) as [{ files: { path: string }[] }];
		const paths = files.map(({ path }) => path);
		for (const needed of [
			bin.corkboard,
			"package.json",
			"src/cli/launch.mjs",
			"src/cli/node.sh",
			"pins/app.ts",
			"schema/query.graphql",
			"schema/model.lock.json",
			"docs/reference/commands.md",
			"README.md",
		]) {
			assert.ok(paths.includes(needed), needed);
		}
		const folders = new Set(paths.map((path) => String(path.split("/")[0])));
		assert.deepEqual(
			[...folders].filter((name) => name !== "build").toSorted(),
			[
				"CHANGELOG.md",
				"README.md",
				"docs",
				"package.json",
				"pins",
				"schema",
				"src",
			],
		);
	});
});
