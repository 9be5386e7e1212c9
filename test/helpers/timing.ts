import { parse, specifiedRules, validate } from "graphql";
import { theModel } from "./model.ts";

/**
 * Limits of time that hold on any machine, however slow its cores are and
 * whatever else it runs. Work is measured by the CPU time it takes, against a
 * known piece of work in the same run. A wait is measured by a clock that stands
 * still while this process does.
 */

/** Garbage collection, compilation and neighbors on the same core only add to a measurement, so the least of several rounds counts. */
const LEAST_ROUNDS = 3;
const MOST_ROUNDS = 40;

/**
 * Asserts that `work` takes less CPU time than `limit` times `reference`, a piece
 * of work of the same kind. The two take turns, so that both have the slow
 * moments of the machine and its fast ones.
 */
export async function assertCpuWithin(
	limit: number,
	reference: (round: number) => unknown,
	work: (round: number) => unknown,
): Promise<void> {
	let least = Number.POSITIVE_INFINITY;
	let known = Number.POSITIVE_INFINITY;
	for (let round = 0; round < MOST_ROUNDS; round++) {
		known = Math.min(known, await cpuOf(() => reference(round)));
		least = Math.min(least, await cpuOf(() => work(round)));
		if (round + 1 >= LEAST_ROUNDS && least < limit * known) return;
	}
	throw new Error(
		`expected less than ${limit} times the CPU time of the reference work but got: ${(least / known).toFixed(1)} times (${least.toFixed(1)} ms, reference ${known.toFixed(1)} ms)`,
	);
}

/**
 * What a request takes before any code of ours runs, as a reference: V8 parses
 * the body, and graphql-js parses and validates a document that is within all
 * limits. The document takes about 4 ms of a fast core.
 */
export function referenceRequest(body: string): void {
	JSON.parse(body);
	validate(theModel().schema, parse(VALID), specifiedRules);
}

const VALID = `{ ${Array.from(
	{ length: 100 },
	(_, n) => `a${n}: pin(id: "${n}") { id details createdAt owner { name } }`,
).join(" ")} }`;

/** CPU time (ms) of this process, all of its threads included. */
async function cpuOf(work: () => unknown): Promise<number> {
	const before = process.cpuUsage();
	await work();
	const { user, system } = process.cpuUsage(before);
	return (user + system) / 1_000;
}

/** How long some work took, in milliseconds. */
export interface Timed<T> {
	readonly result: T;
	/** By the clock on the wall: for lower limits. */
	readonly ms: number;
	/**
	 * Without the moments in which this process was not running, or not
	 * answering: for upper limits. A timer that this process sets to the same
	 * time fires after about so long.
	 */
	readonly ownMs: number;
}

const STEP_MS = 10;

/** Measures a wait, such as one that a deadline ends. */
export async function timed<T>(work: () => Promise<T>): Promise<Timed<T>> {
	const began = performance.now();
	let last = began;
	let ownMs = 0;
	const step = () => {
		const now = performance.now();
		ownMs += Math.min(now - last, 2 * STEP_MS);
		last = now;
	};
	const timer = setInterval(step, STEP_MS);
	try {
		const result = await work();
		step();
		return { result, ms: performance.now() - began, ownMs };
	} finally {
		clearInterval(timer);
	}
}

/** Rejects unless `promise` settles within a few turns of the event loop: unless it waits for no timer and no other process. */
export async function assertAtOnce<T>(promise: Promise<T>): Promise<T> {
	let isSettled = false;
	const settled = promise.finally(() => {
		isSettled = true;
	});
	settled.catch(() => {});
	for (let turn = 0; turn < TURNS && !isSettled; turn++) {
		await new Promise((resolve) => setImmediate(resolve));
	}
	if (!isSettled) {
		throw new Error(
			`expected a result at once but got: none in ${TURNS} turns of the event loop`,
		);
	}
	return settled;
}

const TURNS = 5;
