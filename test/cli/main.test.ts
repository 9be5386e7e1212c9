import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { CorkboardError } from "../../src/errors.ts";
import { command } from "../helpers/runCommand.ts";

const COMMANDS =
	"serve, init, import, verify, explain, id, token, account, schema print, documents check, topology check";

describe("a command line", () => {
	test("without a command, or with one there is not, is told what is expected (exit 2)", async () => {
		assert.deepEqual(await command([]), {
			code: 2,
			out: "",
			err: `corkboard: expected a command (${COMMANDS}) but got nothing; --help says more\n`,
		});
		assert.deepEqual(await command(["improt", "-"]), {
			code: 2,
			out: "",
			err: `corkboard: expected a command (${COMMANDS}) but got: improt; did you mean import?\n`,
		});
	});

	test("with half of a command is told the whole of it", async () => {
		for (const args of [["schema"], ["schema", "show"]]) {
			const { code, err } = await command(args);
			assert.equal(code, 2);
			assert.match(err, /but got: schema; did you mean schema print\?\n$/);
		}
	});

	test("does not take a property of every object for a command", async () => {
		assert.equal((await command(["constructor"])).code, 2);
		assert.equal((await command(["id", "1", "--constructor"])).code, 2);
	});

	test("with an option there is not is told which was probably meant", async () => {
		assert.deepEqual(await command(["verify", "--repiar"]), {
			code: 2,
			out: "",
			err: "corkboard: expected: verify [--repair] but got: --repiar; did you mean --repair?\n",
		});
		assert.deepEqual(await command(["token", "ada", "--force"]), {
			code: 2,
			out: "",
			err: "corkboard: expected: token USER but got: --force\n",
		});
	});

	test("with too few operands, or too many, is told which belong there", async () => {
		assert.deepEqual(await command(["import"]), {
			code: 2,
			out: "",
			err: "corkboard: expected: import FILE|- [--strict] but got nothing where FILE|- belongs\n",
		});
		assert.deepEqual(await command(["id", "1", "2"]), {
			code: 2,
			out: "",
			err: 'corkboard: expected: id ID but got "1" "2" where ID belongs\n',
		});
	});

	test("with an option that lacks its value, or has one it does not take, is refused", async () => {
		for (const [args, message] of [
			[["serve", "--workers"], "expected --workers N but got no N"],
			[["serve", "--workers", "--check"], "expected --workers N but got no N"],
			[["verify", "--repair=no"], '--repair takes no value but got: "no"'],
			[
				["serve", "--workers", "many"],
				"expected --workers to be a number from 1 to 9999 but got: many",
			],
			[
				["explain", "-", "--variables", "[1]"],
				"expected --variables to be a JSON object, or @FILE with one, but got: [1]",
			],
		] as const) {
			assert.deepEqual(await command(args), {
				code: 2,
				out: "",
				err: `corkboard: ${message}\n`,
			});
		}
	});

	test("--help tells all commands, and each command its own", async () => {
		const all = await command(["--help"]);
		assert.equal(all.code, 0);
		for (const name of COMMANDS.split(", ")) {
			assert.match(all.out, new RegExp(`^ {2}${name} `, "m"));
			const one = await command([...name.split(" "), "--help"]);
			assert.equal(one.code, 0);
			assert.ok(one.out.startsWith(name), one.out);
			assert.equal(one.err, "");
		}
	});
});

describe("an error of a command", () => {
	const failing = (error: unknown) =>
		command(["init"], { open: () => Promise.reject(error) });

	test("that says what to mend is printed without a stack, line by line (exit 1)", async () => {
		assert.deepEqual(
			await failing(new CorkboardError("IN_USE", "taken\nby another")),
			{ code: 1, out: "", err: "corkboard: taken\ncorkboard: by another\n" },
		);
	});

	test("that nobody expected is printed with its stack (exit 1)", async () => {
		for (const error of [
			new TypeError("a slip"),
			new CorkboardError("INTERNAL", "Something went wrong on our side.", {
				cause: new TypeError("a slip"),
			}),
		]) {
			const { code, err } = await failing(error);
			assert.equal(code, 1);
			assert.match(err, /^corkboard: unexpected: TypeError: a slip\n {4}at /);
		}
	});
});

describe("serve", () => {
	test("refuses several processes on one data folder, and says why", async () => {
		assert.deepEqual(await command(["serve", "--workers", "2"]), {
			code: 1,
			out: "",
			err: "corkboard: --workers must be 1 with an embedded data folder but got: 2; one process owns the folder, as its cache would not hear of what another writes\n",
		});
	});

	test("--check looks at settings, schema and shard map and opens nothing", async () => {
		// A folder that is not there, whatever lies in this one.
		const env = { CORKBOARD_DATA: join(tmpdir(), "corkboard-not-there") };
		assert.deepEqual(await command(["serve", "--check"], { env }), {
			code: 0,
			out: "good: settings, schema (5 types, as locked), shard map (version 1), shards (made at the first start)\n",
			err: "",
		});
		assert.deepEqual(
			await command(["serve", "--check"], { env: { PORT: "x" } }),
			{
				code: 1,
				out: "",
				err: 'corkboard: PORT must be a port from 0 to 65535 but got: "x"\n',
			},
		);
	});
});
