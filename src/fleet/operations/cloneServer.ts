import { setTimeout as sleep } from "node:timers/promises";
import { CorkboardError } from "../../errors.ts";
import type { Environment } from "../../topology/secret.ts";
import type { ReplicaHosts } from "../map/replicaHosts.ts";
import {
	databasesOn,
	hasClone,
	installClone,
} from "../preflight/clonePreflight.ts";
import { FleetServer } from "../server/fleetServer.ts";

/** How far a copy is. */
export interface CloneProgress {
	/** `FILE COPY`, as MySQL names it. */
	readonly stage: string;
	/** Bytes that are there, and that are to come, of all stages that copy. */
	readonly copied: number;
	readonly of: number;
}

export interface CloneOptions {
	readonly environment: Environment;
	/** At most so many MiB a second; 0: as fast as it goes. */
	readonly rate?: number;
	/** How long to wait until somebody has started the server again. Milliseconds. */
	readonly restartMs?: number;
	/** Called every second while bytes come. */
	readonly onProgress?: (progress: CloneProgress) => void;
	/** Called once the server has ended, and has to be started. */
	readonly onEnded?: () => void;
	readonly signal?: AbortSignal;
}

interface CloneState {
	readonly state: string;
	readonly errno: number;
	readonly error: string;
	/** The session that runs it. */
	readonly session: number;
}

const LOOK_MS = 500;
const RESTART_MS = 600_000;
/** A server that shuts down may answer for so long, and one that is asked to copy show nothing of it. */
const SETTLED_MS = 20_000;
const ANSWER_MS = 10_000;
/** ER_RESTART_SERVER_FAILED: it has shut down, and nobody starts it again. */
const NO_SUPERVISOR = 3707;

/**
 * Copies the primary into the other server, or watches a copy that already
 * runs, until that server is up again and holds it. A call after
 * any interruption continues where the server is. Throws CONFLICT if the copy
 * failed: the server is then empty, or holds a part. Throws UNAVAILABLE if it is
 * not started again in time, or `signal` says so: the server continues by itself.
 */
export async function cloneServer(
	hosts: ReplicaHosts,
	options: CloneOptions,
): Promise<void> {
	const { environment, rate = 0, restartMs = RESTART_MS, signal } = options;
	await using source = new FleetServer(hosts.primaryUrl, environment);
	await using runner = new FleetServer(hosts.replicaUrl, environment);
	let refusal: string | null = null;
	let settled = performance.now();
	let isRunning = false;
	let lastSeen = performance.now();
	const isThere = (await runner.silence(ANSWER_MS)) === null;
	if (isThere && !(await isCopying(runner))) {
		if (await isCopyOf(source, runner)) return;
		await runner.fence();
		for (const server of [source, runner]) await installClone(server);
		await runner.run(
			"donor",
			"SET GLOBAL clone_valid_donor_list = ?, GLOBAL clone_max_data_bandwidth = ?",
			[hosts.primary, rate],
		);
		isRunning = true;
		runner.clone(source).then(
			() => onSettled(null),
			(thrown: Error) => onSettled(thrown.message),
		);
	}
	let hasEnded = false;
	for (;;) {
		if (signal?.aborted) throw interrupted(hosts);
		// Anew each time: the server closes all connections when it shuts down.
		await using target = new FleetServer(hosts.replicaUrl, environment);
		const silence = await target.silence(ANSWER_MS);
		if (silence === null) {
			lastSeen = performance.now();
			if (await look(target)) return;
		} else if (performance.now() - lastSeen > restartMs) {
			throw new CorkboardError(
				"UNAVAILABLE",
				`${hosts.replica} does not answer: ${silence}. It shuts down when it has copied all: start it again, and its copy is complete.`,
			);
		} else if (!hasEnded) {
			hasEnded = true;
			options.onEnded?.();
		}
		await sleep(LOOK_MS, undefined, { ...(signal && { signal }) }).catch(
			() => {},
		);
	}

	function onSettled(message: string | null): void {
		isRunning = false;
		refusal = message;
		settled = performance.now();
	}

	/** Whether the copy is complete. */
	async function look(target: FleetServer): Promise<boolean> {
		try {
			const state = await cloneState(target);
			if (state?.state === "In Progress") {
				options.onProgress?.(await progressOf(target));
				return false;
			}
			if (await isCopyOf(source, target)) return true;
			const isOver = !isRunning && performance.now() - settled > SETTLED_MS;
			if (!isOver || state?.errno === NO_SUPERVISOR) return false;
			throw new CorkboardError(
				"CONFLICT",
				`${hosts.replica} has not copied ${hosts.primary}: ${state?.error || refusal || "nothing says why"}`,
			);
		} catch (thrown) {
			// It shut down between two questions.
			if ((thrown as CorkboardError).code === "UNAVAILABLE") return false;
			throw thrown;
		}
	}
}

/** Ends a copy that runs. What came stays, and is of no use. */
export async function stopClone(target: FleetServer): Promise<void> {
	const state = await cloneState(target);
	if (state?.state !== "In Progress") return;
	await target.run("stop clone", "KILL QUERY ?", [state.session]);
}

/** Whether the target holds a complete copy of the source, of whatever age, and nothing else. */
async function isCopyOf(
	source: FleetServer,
	target: FleetServer,
): Promise<boolean> {
	if ((await cloneState(target))?.state !== "Completed") return false;
	const executed = await target.executed();
	if (executed === "") return false;
	if (!(await source.has(executed, 1_000))) return false;
	const [own, theirs] = await Promise.all([target, source].map(databasesOn));
	return own?.length !== 0 || theirs?.length === 0;
}

async function isCopying(target: FleetServer): Promise<boolean> {
	return (await cloneState(target))?.state === "In Progress";
}

/** The newest copy into it; null: there was none. */
async function cloneState(target: FleetServer): Promise<CloneState | null> {
	if (!(await hasClone(target))) return null;
	const [row] = await target.rows(
		"clone status",
		"SELECT state, error_no, error_message, pid FROM performance_schema.clone_status",
	);
	if (row === undefined) return null;
	const [state, errno, error, session] = row;
	return {
		state: String(state),
		errno: Number(errno),
		error: String(error),
		session: Number(session),
	};
}

async function progressOf(target: FleetServer): Promise<CloneProgress> {
	const rows = await target.rows(
		"clone progress",
		"SELECT stage, state, data, estimate FROM performance_schema.clone_progress ORDER BY id",
	);
	const stage = rows.find(([, state]) => state === "In Progress")?.[0];
	const sum = (at: number) =>
		rows.reduce((total, row) => total + Number(row[at]), 0);
	return { stage: String(stage ?? "begins"), copied: sum(2), of: sum(3) };
}

function interrupted({ replica }: ReplicaHosts): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		`Interrupted. ${replica} keeps copying by itself.`,
	);
}
