import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { startProgram } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const ROOT = join(import.meta.dirname, "../..");
const NODE = dirname(process.execPath);

describe("npm create corkboard", () => {
	const folder = temporaryFolder();
	const app = join(folder.path, "my-songs");
	let create = "";
	after(() => folder[Symbol.dispose]());
	before(() => {
		create = join(unpacked(packed("create-corkboard")), "create.mjs");
	});

	/** What `npm pack` makes of a package of this repository. */
	function packed(name: string): string {
		const out = execFileSync(
			"npm",
			[
				...["pack", "--json", "--ignore-scripts", "--offline"],
				...["--pack-destination", folder.path],
			],
			{
				cwd: join(ROOT, name),
				encoding: "utf8",
				stdio: ["ignore", "pipe", "ignore"],
			},
		);
		const [{ filename }] = JSON.parse(out) as [{ filename: string }];
		return join(folder.path, filename);
	}

	function unpacked(file: string, to = `${file}.unpacked`): string {
		mkdirSync(to, { recursive: true });
		execFileSync("tar", ["-xzf", file, "-C", to, "--strip-components=1"]);
		return to;
	}

	/** As `npm install` leaves them, without a registry: the engine, and links to the packages that it names. */
	function install(engine: string): void {
		const modules = join(app, "node_modules");
		unpacked(engine, join(modules, "corkboard"));
		for (const name of readdirSync(join(ROOT, "node_modules"))) {
			if (name.startsWith(".") || name === "corkboard") continue;
			symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
		}
		mkdirSync(join(modules, ".bin"));
		symlinkSync(
			join(modules, "corkboard/src/cli/corkboard.sh"),
			join(modules, ".bin/corkboard"),
		);
	}

	const inApp = async (...args: readonly [string, ...string[]]) => {
		const [file, ...rest] = args;
		return (
			await promisify(execFile)(file, rest, {
				cwd: app,
				env: { PATH: `${NODE}:${process.env.PATH}`, HOME: folder.path },
			})
		).stdout;
	};

	it("refuses a name that is none, and a folder with something in it", () => {
		mkdirSync(join(folder.path, "full"));
		writeFileSync(join(folder.path, "full/a"), "");
		for (const [args, problem] of [
			[["My Songs"], /A name has lower-case letters/],
			[["full"], /is not empty/],
			[["a", "b"], /Unknown argument b\. Usage/],
			[["a", "--engine", "nowhere"], /--engine takes the file/],
			[[], /Missing name/],
		] as const) {
			assert.throws(
				() =>
					execFileSync(process.execPath, [create, ...args], {
						cwd: folder.path,
						stdio: ["ignore", "ignore", "pipe"],
					}),
				({ stderr }) => problem.test(String(stderr)),
				String(problem),
			);
		}
	});

	it("makes an app that compiles, tests itself and is served, below node_modules", async () => {
		// Half of what `npm pack` does first: GraphiQL is not looked at here.
		execFileSync("npm", ["run", "-s", "build:types"], { cwd: ROOT });
		const engine = packed(".");
		execFileSync(process.execPath, [create, "my-songs", "--engine", engine], {
			cwd: folder.path,
			stdio: "ignore",
		});
		const made = JSON.parse(readFileSync(join(app, "package.json"), "utf8"));
		assert.equal(made.name, "my-songs");
		assert.deepEqual(made.dependencies, { corkboard: `file:${engine}` });
		const { devDependencies } = JSON.parse(
			readFileSync(join(ROOT, "package.json"), "utf8"),
		);
		for (const [name, version] of Object.entries(made.devDependencies)) {
			assert.equal(version, devDependencies[name], name);
		}
		assert.ok(existsSync(join(app, ".gitignore")));
		install(engine);

		await inApp(join(ROOT, "node_modules/.bin/tsc"), "-p", app);
		const tested = await inApp("npm", "test");
		assert.match(tested, /pass 3\b[\s\S]*fail 0\b/);
		assert.match(
			await inApp("npm", "run", "-s", "lock"),
			/model\.lock\.json is up to date/,
		);

		await using served = startProgram(["--prefix", app, "start"], {
			command: ["npm"],
			env: {
				PATH: `${NODE}:${process.env.PATH}`,
				HOME: folder.path,
				CORKBOARD_DATA: join(app, "data"),
				PORT: "0",
				CORKBOARD_GRAPHIQL: "off",
			},
		});
		const [, url = ""] = await served.printed("out", /(http:\/\/[^\s]+)/);
		const answer = await fetch(new URL("/graphql", url), {
			method: "POST",
			headers: { "content-type": "application/json" },
			body: JSON.stringify({
				query: '{ user(by: {username: "ada"}) { notes { nodes { text } } } }',
			}),
		});
		assert.deepEqual(await answer.json(), {
			data: { user: { notes: { nodes: [{ text: "Water plants" }] } } },
		});
		// npm passes the signal on to what it started, which is the server itself.
		served.send("SIGTERM");
		assert.match((await served.ended).out, /stopping/);
	});
});
