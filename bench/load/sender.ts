/**
 * Sends requests over raw sockets in a closed loop, as a process of its own.
 * It parses no more of HTTP than it needs to find the end of a response, so
 * that it takes a small part of the time that a server takes.
 */
import { connect, type Socket } from "node:net";
import type { LoadRequest, LoadResult } from "./messages.ts";
import { ResponseReader } from "./responseReader.ts";

/** A request without a response for so long is an error, and the last one. */
const RESPONSE_LIMIT_MS = 20_000;

const sets = new Map<string, readonly Buffer[]>();

export async function sendLoad(load: LoadRequest): Promise<LoadResult> {
	const requests =
		load.requests?.map((text) => Buffer.from(text)) ?? sets.get(load.set) ?? [];
	sets.set(load.set, requests);
	const latencies: number[] = [];
	let errors = 0;
	let firstError: string | null = null;
	let bytes = 0;
	let next = load.from;
	let sent = 0;
	const started = performance.now();
	const end = started + load.ms;
	const fail = (what: string) => {
		errors++;
		firstError ??= what;
	};

	const run = () =>
		new Promise<void>((resolve) => {
			let at = 0;
			const socket = connect({ port: load.port, host: "127.0.0.1" });
			const reader = new ResponseReader(({ status, length, errors: text }) => {
				latencies.push(performance.now() - at);
				bytes += length;
				if (status !== 200 || text !== null) {
					fail(`status ${status}: ${(text ?? "").slice(0, 400)}`);
				}
				send();
			});
			let isFirst = true;
			const send = () => {
				// Also a machine too busy to connect in time sends one.
				const isOver = performance.now() >= end && !isFirst;
				isFirst = false;
				if (sent >= load.most || isOver) {
					socket.destroy();
					return;
				}
				sent++;
				const index = load.order[next++ % load.order.length] as number;
				at = performance.now();
				socket.write(requests[index] as Buffer);
			};
			socket.setNoDelay(true);
			socket.setTimeout(RESPONSE_LIMIT_MS, () => {
				fail(`no response in ${RESPONSE_LIMIT_MS / 1_000} s`);
				socket.destroy();
			});
			socket.on("connect", send);
			socket.on("data", (chunk) => reader.add(chunk as Buffer));
			socket.on("error", (error) => fail(String(error)));
			socket.on("end", () => fail("the server closed the connection"));
			socket.on("close", () => resolve());
			keepOpen(socket);
		});
	await Promise.all(Array.from({ length: load.connections }, run));

	const seconds = (performance.now() - started) / 1_000;
	const sorted = Float64Array.from(latencies).sort();
	const at = (share: number) =>
		sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
	return {
		requests: latencies.length,
		errors,
		firstError,
		bytes,
		seconds,
		p50: at(0.5),
		p99: at(0.99),
		most: at(1),
	};
}

function keepOpen(socket: Socket): void {
	socket.setKeepAlive(true);
}

if (import.meta.main) {
	process.on("message", async (load: LoadRequest) => {
		process.send?.(await sendLoad(load));
	});
	// It does not outlive the benchmark.
	process.on("disconnect", () => process.exit(0));
	process.on("SIGINT", () => {});
}
