import pinsApp from "../../pins/app.ts";
/**
 * The server under guard, as a process of its own that counts what its requests
 * take. It runs without V8's optimizing compilers: they leave allocations out,
 * some runs earlier than others, and a count has to be the same every time.
 *
 *     node --expose-gc --no-opt --no-maglev server.ts
 */

import { createHook } from "node:async_hooks";
import { connect } from "node:net";
import { PerformanceObserver } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { CACHE_CHANNELS, type CacheCall } from "../../src/cache/diagnostics.ts";
import { STORAGE_CHANNELS } from "../../src/storage/diagnostics.ts";
import type { Statement } from "../../src/trace.ts";
import type { QueryName } from "../queries.ts";
import type { Counts, GuardMessage, GuardRequest } from "./messages.ts";
import type { Writers as WritersType } from "./writes.ts";

let cursors = 0;
/** Bytes that nothing else has that is written so. */
const CURSOR_BYTES = 33;
const { toString: print } = Buffer.prototype;
Buffer.prototype.toString = function (...given: Parameters<typeof print>) {
	if (this.length === CURSOR_BYTES && given[0] === "base64url") cursors++;
	return print.apply(this, given);
};

const { openCorkboard } = await import("../../src/app/openCorkboard.ts");
const { startCorkboardServer } = await import(
	"../../src/app/startCorkboardServer.ts"
);
const { readConfig } = await import("../../src/config/config.ts");
const { createFieldReaders } = await import("../../src/model/fieldReaders.ts");
const { importLines } = await import("../../src/ops/import/importLines.ts");
const { guardGraph, SUBJECT, writersGraph } = await import("./graph.ts");
const { Writers } = await import("./writes.ts");

const FORGET_MS = 50;
/** With so many users each shard has one, almost surely. */
const USERS = 120;

let statements = 0;
let commits = 0;
let cacheCommands = 0;
let promises = 0;
let collections = 0;
const COUNTED: ReadonlySet<CacheCall["verb"]> = new Set([
	...(["get", "set"] as const),
	...(["delete", "publish"] as const),
]);
STORAGE_CHANNELS.statement.subscribe((message: Statement) => {
	// The outbox worker looks for entries from time to time, whatever is asked.
	const { name } = message;
	if (!/outbox/i.test(name) || name === "insert outbox") statements++;
	if (name === "commit") commits++;
});
CACHE_CHANNELS.cacheCall.subscribe(({ verb }: CacheCall) => {
	if (COUNTED.has(verb)) cacheCommands++;
});
new PerformanceObserver((list) => {
	collections += list.getEntries().length;
}).observe({ entryTypes: ["gc"] });
const promiseHook = createHook({
	init(_, type) {
		if (type === "PROMISE") promises++;
	},
});

const config = readConfig(process.env);
const corkboard = await openCorkboard(pinsApp, config);
await corkboard.admin.createTables();
const imported = await importLines(corkboard.store, lines(), {
	fields: createFieldReaders(corkboard.schema, corkboard.store.domain.fields),
});
if (imported.bad > 0)
	throw new Error("The graph of the guard was not imported.");
const server = await startCorkboardServer(corkboard);

async function* lines(): AsyncGenerator<string> {
	yield* guardGraph();
	yield* writersGraph(USERS);
}

async function idsOf(): Promise<Record<QueryName, string>> {
	const { data } = await corkboard.query(
		`{ user(by: {username: "${SUBJECT}"}) { id boards(first: 1) { nodes { id pins(first: 1) { nodes { id } } } } } }`,
	);
	const { user } = data as unknown as {
		user: {
			id: string;
			boards: { nodes: { id: string; pins: { nodes: { id: string }[] } }[] };
		};
	};
	const [board] = user.boards.nodes;
	const [pin] = board?.pins.nodes ?? [];
	if (board === undefined || pin === undefined) {
		throw new Error("The graph of the guard has no board with a pin.");
	}
	return { q1: pin.id, q2: board.id, q3: user.id, q4: user.id };
}

let heldBytes = 0;
let heldCollections = 0;

function usedBytes(): number {
	const { heapUsed, external } = process.memoryUsage();
	return heapUsed + external;
}

async function start(countPromises: boolean): Promise<void> {
	globalThis.gc?.();
	// Reported after the fact.
	await sleep(FORGET_MS);
	if (countPromises) promiseHook.enable();
	statements = commits = cacheCommands = cursors = promises = 0;
	heldCollections = collections;
	heldBytes = usedBytes();
}

async function stop(): Promise<Counts> {
	const bytes = usedBytes() - heldBytes;
	const counted = { statements, commits, cacheCommands, cursors, promises };
	promiseHook.disable();
	await sleep(FORGET_MS);
	return { ...counted, bytes: collections === heldCollections ? bytes : null };
}

/** The caches that processes share are emptied first: the process would fill itself from them. */
async function forget(shared: boolean): Promise<void> {
	for (const host of shared ? config.memcached : []) {
		await send(host, "flush_all\r\n");
	}
	if (shared && config.redis !== null) {
		await send(new URL(config.redis).host, "FLUSHALL\r\n");
	}
	corkboard.store.caches.invalidateAll();
	await sleep(FORGET_MS);
}

function send(address: string, command: string): Promise<void> {
	const [host = "", port] = address.split(":");
	return new Promise((resolve, reject) => {
		const socket = connect({ host, port: Number(port) }, () =>
			socket.write(command),
		);
		socket.once("data", () => {
			socket.destroy();
			resolve();
		});
		socket.once("error", reject);
	});
}

let writers: WritersType | undefined;

function report(message: GuardMessage): void {
	process.send?.(message);
}

process.on("message", async (request: GuardRequest) => {
	if (request.kind === "start") {
		await start(request.promises);
		report({ kind: "started" });
	} else if (request.kind === "write") {
		writers ??= await Writers.among(corkboard.query, USERS);
		await writers.write(request);
		report({ kind: "written" });
	} else if (request.kind === "stop") {
		report({ kind: "counts", counts: await stop() });
	} else {
		await forget(request.shared);
		report({ kind: "forgotten" });
	}
});
process.on("disconnect", () => process.exit(0));
report({
	kind: "ready",
	port: Number(new URL(server.url).port),
	ids: await idsOf(),
});
