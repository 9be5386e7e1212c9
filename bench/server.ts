/**
 * Measures the CPU time of one warm request in the server process, from HTTP to
 * JSON, with the demo graph:
 *
 *     node bench/server.ts [requests]
 *
 * Each request has the same three-level query, on eight kept-alive connections.
 * The last row is the lower bound: node:http sends the same bytes. Each server
 * is a process; its CPU time comes from the kernel (Linux only), because a busy
 * machine affects it less than wall time. Rounds of all rows alternate; the
 * output is the median, with the least and the most.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { Agent, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";

const ROUNDS = 5;
const CONNECTIONS = 8;
/** Clock ticks per second in /proc: 100 on all Linux kernels (proc(5)). */
const TICKS = 100;

const QUERY = `query ($name: String!) {
	user(username: $name) {
		name
		boards(first: 10) {
			nodes {
				name
				pins(first: 10) {
					nodes { details link owner { username name } likedBy(first: 3) { totalCount } }
				}
			}
		}
	}
}`;

interface Subject {
	readonly name: string;
	readonly url: string;
	readonly body: string;
	readonly process: ChildProcess;
}

const requests = Number(process.argv[2] ?? 2_000);
const folder = mkdtempSync(join(tmpdir(), "corkboard-bench-"));
const started: ChildProcess[] = [];
const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
try {
	const corkboard = await startCorkboard();
	const response = await ask(corkboard);
	const bareHttp = await startBareHttp(response);
	const subjects = [
		corkboard,
		{
			...corkboard,
			name: "Corkboard, automatic persisted query",
			body: await apqBody(corkboard),
		},
		bareHttp,
	];
	const perRequest = new Map<string, number[]>();
	for (const subject of subjects) await load(subject, requests);
	for (let round = 0; round < ROUNDS; round++) {
		for (const subject of subjects) {
			const before = cpuMs(subject.process);
			await load(subject, requests);
			const ms = (cpuMs(subject.process) - before) / requests;
			const row = perRequest.get(subject.name) ?? [];
			perRequest.set(subject.name, [...row, ms]);
		}
	}
	console.log(
		`${response.length} bytes per response, ${requests} requests per round`,
	);
	for (const [name, row] of perRequest) {
		const [least, , median, , most] = row.toSorted((a, b) => a - b);
		console.log(
			`${name.padEnd(44)} ${median?.toFixed(3)} ms (${least?.toFixed(3)} to ${most?.toFixed(3)})`,
		);
	}
} finally {
	agent.destroy();
	for (const child of started) child.kill("SIGKILL");
	rmSync(folder, { recursive: true, force: true });
}

async function startCorkboard(): Promise<Subject> {
	const child = spawn(process.execPath, ["src/cli/launch.mjs", "serve"], {
		cwd: join(import.meta.dirname, ".."),
		env: {
			PATH: process.env.PATH,
			CORKBOARD_DATA: join(folder, "data"),
			CORKBOARD_LOG: "warn",
			CORKBOARD_GRAPHIQL: "off",
			PORT: "0",
		},
		stdio: ["ignore", "pipe", "inherit"],
	});
	started.push(child);
	let url = "";
	let name = "";
	for await (const line of createInterface(
		child.stdout as NodeJS.ReadableStream,
	)) {
		url ||= /serves (\S+)/.exec(line)?.[1] ?? "";
		name ||= /^Demo user +(\S+)/.exec(line)?.[1] ?? "";
		if (url !== "" && name !== "") break;
	}
	(child.stdout as NonNullable<ChildProcess["stdout"]>).resume();
	const body = JSON.stringify({ query: QUERY, variables: { name } });
	return { name: "Corkboard", url, body, process: child };
}

async function apqBody(subject: Subject): Promise<string> {
	const { createHash } = await import("node:crypto");
	const { query, variables } = JSON.parse(subject.body);
	const sha256Hash = createHash("sha256").update(query).digest("hex");
	const extensions = { persistedQuery: { version: 1, sha256Hash } };
	await ask({
		...subject,
		body: JSON.stringify({ query, variables, extensions }),
	});
	return JSON.stringify({ variables, extensions });
}

async function startBareHttp(body: string): Promise<Subject> {
	const code = `require("node:http").createServer((q, r) => { q.resume(); q.on("end", () => r.end(process.env.BODY)); })
		.listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;
	const child = spawn(process.execPath, ["-e", code], {
		env: { PATH: process.env.PATH, BODY: body },
		stdio: ["ignore", "pipe", "inherit"],
	});
	started.push(child);
	const [port] = await once(child.stdout as NodeJS.ReadableStream, "data");
	return {
		name: "node:http, same bytes",
		url: `http://127.0.0.1:${String(port).trim()}/`,
		body: "{}",
		process: child,
	};
}

async function load(subject: Subject, count: number): Promise<void> {
	let left = count;
	await Promise.all(
		Array.from({ length: CONNECTIONS }, async () => {
			while (left-- > 0) await ask(subject);
		}),
	);
}

function ask({ url, body }: Subject): Promise<string> {
	return new Promise((resolve, reject) => {
		const outgoing = request(
			url,
			{
				agent,
				method: "POST",
				headers: {
					"content-type": "application/json",
					"content-length": Buffer.byteLength(body),
				},
			},
			(response) => {
				const parts: Buffer[] = [];
				response.on("data", (part) => parts.push(part));
				response.on("end", () => {
					const text = Buffer.concat(parts).toString();
					if (response.statusCode === 200 && !text.includes('"errors"'))
						resolve(text);
					else reject(new Error(text));
				});
			},
		);
		outgoing.on("error", reject);
		outgoing.end(body);
	});
}

/** User and system time (proc_pid_stat(5), fields 14 and 15). */
function cpuMs({ pid }: ChildProcess): number {
	const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
	const [, ...fields] = stat.slice(stat.lastIndexOf(")")).split(" ");
	return ((Number(fields[11]) + Number(fields[12])) * 1_000) / TICKS;
}
