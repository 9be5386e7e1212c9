/** docs/reference/alerts.md: what it advises can be typed, is in the right order, and helps. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { parseArguments } from "../../src/cli/arguments.ts";
import { loadCommands } from "../../src/cli/main.ts";
import { bucketOf } from "../../src/queue/bucket.ts";
import { formatJobId, newClaim, newLocalId } from "../../src/queue/jobId.ts";
import { openSqliteJobStore } from "../../src/queue/sqlite/sqliteJobStore.ts";
import { command } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { fileText } from "./composeFile.ts";
import { readAlerts } from "./monitoring.ts";

const COMMANDS = await loadCommands();
const FIRST_WORDS = new Set(
	[...COMMANDS.keys()].map((name) => name.split(" ")[0] as string),
);
/** They change a host that a command which was interrupted may have half changed. */
const CHANGES_HOSTS = [
	...["hosts promote", "hosts salvage", "replicas add", "replicas remove"],
	...["shards move", "map publish", "map rollback"],
	...["read_only", "recovery.md#when-a-primary-dies", "by-hand"],
];

/** What to do about an alert, by its name. */
const ADVICE: ReadonlyMap<string, string> = new Map(
	fileText("docs/reference/alerts.md")
		.split(/^## /m)
		.slice(1)
		.map((section) => [
			section.slice(0, section.indexOf("\n")),
			/^- \*Do:\*(.*?)^- \*Over:/ms.exec(section)?.[1] ?? "",
		]),
);

/** The command lines that a text names, each as its words. */
function commandsIn(text: string): readonly (readonly string[])[] {
	return [...text.matchAll(/`([^`]+)`/g)]
		.map(([, code = ""]) => code.replace(/^corkboard /, "").split(/\s+/))
		.filter(([first = "", second]) =>
			COMMANDS.has(first)
				? true
				: second !== undefined && FIRST_WORDS.has(first),
		);
}

function split(words: readonly string[]) {
	const [first = "", second = ""] = words;
	const name = COMMANDS.has(first) ? first : `${first} ${second}`;
	const found = COMMANDS.get(name);
	assert.ok(found, `no command ${name}`);
	return { name, found, rest: words.slice(name.split(" ").length) };
}

describe("the advice of each alert", () => {
	test("is there, for each alert of the rules and for no other", () => {
		const names = readAlerts().map(({ name }) => name);
		assert.deepEqual([...ADVICE.keys()].sort(), [...new Set(names)].sort());
		for (const [name, text] of ADVICE) assert.notEqual(text.trim(), "", name);
	});

	test("names commands, arguments and options that exist", () => {
		let count = 0;
		for (const [alert, text] of ADVICE) {
			for (const words of commandsIn(text)) {
				const { name, found, rest } = split(words);
				count++;
				const options = rest.filter((word) => word.startsWith("--"));
				for (const option of options) {
					assert.ok(
						Object.hasOwn(found.usage.options, option.slice(2)),
						`${alert}: ${words.join(" ")}`,
					);
				}
				// `moves set ID --rate` names an option, `queues set` a command.
				if (rest.length === options.length || rest.at(-1) === options.at(-1)) {
					continue;
				}
				parseArguments(name, found.usage, rest);
			}
		}
		assert.ok(count >= 15, `${count} commands`);
	});

	test("leads to what was interrupted before it changes a host", () => {
		const changing = [...ADVICE].flatMap(([alert, text]) => {
			const at = CHANGES_HOSTS.map((what) => text.indexOf(what)).filter(
				(found) => found !== -1,
			);
			return at.length === 0 ? [] : [{ alert, text, at: Math.min(...at) }];
		});
		assert.ok(changing.length >= 3);
		for (const { alert, text, at } of changing) {
			const listed = text.indexOf("operations list");
			assert.ok(listed !== -1 && listed < at, alert);
		}
	});

	test("resumes or aborts a promotion that was interrupted, and lifts no fence before", () => {
		const text = ADVICE.get("CorkboardDatabaseReadOnly") ?? "";
		const order = ["operations list", "operations resume", "operations abort"];
		const at = [...order, "Do not lift the fence", "to `OFF`"].map((what) =>
			text.indexOf(what),
		);
		assert.ok(!at.includes(-1));
		assert.deepEqual(
			at,
			at.toSorted((a, b) => a - b),
		);
	});
});

describe("followed on the state that fires it, the advice of", () => {
	const folder = temporaryFolder();
	after(() => folder[Symbol.dispose]());
	const data = join(folder.path, "data");
	let failed = "";

	before(async () => {
		const at = { queue: "madeUp", shard: 0 };
		await using store = openSqliteJobStore({
			queues: [{ range: [0, 0], primary: `sqlite:${data}` }],
		});
		await store.createTables();
		await store.put(0, { name: at.queue, settings: {}, version: 1 });
		const now = await store.now(0);
		const bucket = bucketOf(now, now);
		const jobs = ["kept", "unwanted"].map((body) => ({
			local: newLocalId(),
			bucket,
			key: null,
			priority: 1 as const,
			body: JSON.stringify({ pin: body }),
			due: now,
			allowed: 1,
			createdAt: now,
		}));
		await store.enqueue(at, jobs);
		const { claimed } = await store.ackAndClaim(at, {
			claim: {
				bucket,
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
		const [first] = claimed;
		const job = jobs.find(({ local }) => local === first?.local);
		assert.ok(job);
		failed = formatJobId({ ...at, ...job });
	});

	async function run(...args: readonly string[]): Promise<string> {
		const { code, out, err } = await command(args, {
			env: { CORKBOARD_DATA: data },
			open: openCorkboard,
		});
		assert.equal(code, 0, `${args.join(" ")}: ${err}`);
		return out;
	}

	/** Runs the commands of an alert's advice, in their order; returns what each printed. */
	async function follow(alert: string): Promise<readonly string[]> {
		const printed: string[] = [];
		for (const words of commandsIn(ADVICE.get(alert) ?? "")) {
			const { found } = split(words);
			const asks = Object.hasOwn(found.usage.options, "yes");
			const line = words.map((word) =>
				word
					.replace(/^NAME$/, "madeUp")
					.replace(/^ID$/, failed)
					.replace(/^TEXT$/, "unwanted")
					.replace("…", "7"),
			);
			printed.push(await run(...line, ...(asks ? ["--yes"] : [])));
		}
		return printed;
	}

	test("CorkboardJobsFail shows the failure, and retries it", async () => {
		const printed = await follow("CorkboardJobsFail");
		assert.match(printed[0] ?? "", /no such pin/);
		assert.match(printed[1] ?? "", /no such pin/);
		await run("jobs", "retry", "madeUp");
		assert.doesNotMatch(
			await run("jobs", "list", "madeUp", "--state", "failed"),
			/no such pin/,
		);
	});

	test("CorkboardQueuePaused resumes the queue", async () => {
		assert.match(await run("queues", "list"), /paused/);
		await follow("CorkboardQueuePaused");
		assert.doesNotMatch(await run("queues", "list"), /paused/);
	});

	test("CorkboardQueueFull raises the limit, and deletes what nobody needs", async () => {
		await follow("CorkboardQueueFull");
		assert.match(await run("queues", "list", "--json"), /"maxPending": ?7/);
		const { jobs } = JSON.parse(await run("jobs", "list", "madeUp", "--json"));
		assert.equal(jobs.length, 1);
		assert.match(await run("jobs", "show", jobs[0].id), /kept/);
	});
});
