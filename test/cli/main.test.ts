import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { loadCommands } from "../../src/cli/main.ts";
import { terminalText } from "../../src/cli/terminalText.ts";
import { CorkboardError } from "../../src/errors.ts";
import { command } from "../helpers/runCommand.ts";

const COMMANDS = [...(await loadCommands()).keys()];
const NAMES = [...new Set(COMMANDS.map((name) => name.split(" ")[0]))].join(
	", ",
);

describe("a command line", () => {
	test("prints the commands when the command is missing or unknown (exit code 2)", async () => {
		assert.deepEqual(await command([]), {
			code: 2,
			out: "",
			err: `corkboard: Missing command. Commands: ${NAMES}. Run --help for details.\n`,
		});
		assert.deepEqual(await command(["improt", "-"]), {
			code: 2,
			out: "",
			err: `corkboard: Unknown command improt. Did you mean import? Commands: ${NAMES}.\n`,
		});
	});

	test("names the commands of a group for half of one, and the nearest", async () => {
		for (const [args, expected] of [
			[["schema"], /Missing command after schema\. Commands: schema print/],
			[
				["schema", "prnt"],
				/Unknown command schema prnt\. Did you mean schema print\?/,
			],
			[["schema", "--all"], /Unknown option --all\. Commands: schema print/],
		] as const) {
			const { code, err } = await command(args);
			assert.equal(code, 2);
			assert.match(err, expected);
		}
	});

	test("writes no control character of others to the terminal", async () => {
		const { code, err } = await command([
			"documents",
			"check",
			"\x1b[2J\r\x9b",
		]);
		assert.equal(code, 1);
		assert.equal(
			err,
			"corkboard: \\u001b[2J\\u000d\\u009b: cannot be read: ENOENT\n",
		);
		assert.equal(terminalText("a\r\n\tb\u202e👩‍👧"), "a\r\n\tb\\u202e👩‍👧");
	});

	test("does not treat a property of Object.prototype as a command or option", async () => {
		assert.equal((await command(["constructor"])).code, 2);
		assert.equal(
			(await command(["objects", "show", "1", "--constructor"])).code,
			2,
		);
	});

	test("suggests the nearest option for an unknown one", async () => {
		assert.deepEqual(await command(["verify", "--repiar"]), {
			code: 2,
			out: "",
			err: "corkboard: Unknown option --repiar. Did you mean --repair? Usage: verify [--repair] [--jobs] [--counts] [--shards RANGES] [--mod-shards RANGES] [--json]\n",
		});
		assert.deepEqual(await command(["tokens", "create", "ada", "--force"]), {
			code: 2,
			out: "",
			err: "corkboard: Unknown option --force. Usage: tokens create USER\n",
		});
	});

	test("prints the usage for missing and unexpected arguments", async () => {
		assert.deepEqual(await command(["import"]), {
			code: 2,
			out: "",
			err: "corkboard: Missing argument FILE|-. Usage: import FILE|- [--strict] [--json]\n",
		});
		assert.deepEqual(await command(["objects", "show", "1", "2"]), {
			code: 2,
			out: "",
			err: 'corkboard: Unexpected argument "2". Usage: objects show ID [--json]\n',
		});
	});

	test("rejects an option without its value, with a value it does not take, or with a bad one", async () => {
		for (const [args, message] of [
			[["serve", "--workers"], "Missing value: --workers N."],
			[["serve", "--workers", "--check"], "Missing value: --workers N."],
			[["verify", "--repair=no"], 'Option --repair takes no value, got "no".'],
			[
				["serve", "--workers", "many"],
				'--workers must be a whole number from 1 to 9999, got "many".',
			],
			[
				["explain", "-", "--variables", "[1]"],
				"--variables must be a JSON object or @FILE, got [1]",
			],
		] as const) {
			assert.deepEqual(await command(args), {
				code: 2,
				out: "",
				err: `corkboard: ${message}\n`,
			});
		}
	});

	test("takes what begins with a dash as an option, and behind -- as an argument", async () => {
		assert.match(
			(await command(["documents", "check", "-missing"])).err,
			/Unknown option -m/,
		);
		assert.deepEqual(await command(["documents", "check", "--", "-missing"]), {
			code: 1,
			out: "",
			err: "corkboard: -missing: cannot be read: ENOENT\n",
		});
	});

	test("prints all commands with --help, and the options of one", async () => {
		const all = await command(["--help"]);
		assert.equal(all.code, 0);
		for (const name of COMMANDS) {
			assert.match(all.out, new RegExp(`^ {2}${name} `, "m"));
			const one = await command([...name.split(" "), "--help"]);
			assert.equal(one.code, 0);
			assert.ok(one.out.startsWith(name), one.out);
			assert.equal(one.err, "");
		}
	});
});

describe("a command that fails", () => {
	const failing = (error: unknown) =>
		command(["init"], { open: () => Promise.reject(error) });

	test("prints an expected error without a stack, line by line (exit code 1)", async () => {
		assert.deepEqual(
			await failing(new CorkboardError("IN_USE", "taken\nby another")),
			{ code: 1, out: "", err: "corkboard: taken\ncorkboard: by another\n" },
		);
	});

	test("prints an unexpected error with its stack (exit code 1)", async () => {
		for (const error of [
			new TypeError("a slip"),
			new CorkboardError("INTERNAL", "Something went wrong on our side.", {
				cause: new TypeError("a slip"),
			}),
		]) {
			const { code, err } = await failing(error);
			assert.equal(code, 1);
			assert.match(
				err,
				/^corkboard: unexpected error: TypeError: a slip\n {4}at /,
			);
		}
	});
});

describe("serve", () => {
	test("rejects several workers on one data folder", async () => {
		assert.deepEqual(await command(["serve", "--workers", "2"]), {
			code: 1,
			out: "",
			err: "corkboard: --workers must be 1 with an embedded data folder, got 2: only one process can own the folder.\n",
		});
	});

	test("--check checks settings, schema and topology, and creates no folder", async () => {
		// A folder that does not exist, whatever is in the current folder.
		const env = { CORKBOARD_DATA: join(tmpdir(), "corkboard-not-there") };
		assert.deepEqual(await command(["serve", "--check"], { env }), {
			code: 0,
			out: "good: settings, schema (7 types, as locked), topology (version 1), shards (created at the first start)\n",
			err: "",
		});
		assert.deepEqual(
			await command(["serve", "--check"], { env: { PORT: "x" } }),
			{
				code: 1,
				out: "",
				err: 'corkboard: PORT must be a port from 0 to 65535, got "x".\n',
			},
		);
	});
});
