import type { z } from "zod";
import { CorkboardError } from "../errors.ts";
import { parseJsonObject } from "../storage/storedObject.ts";
import { checkQueueName } from "./jobId.ts";

/**
 * A kind of job: its queue, the schema of its body, and the handler that runs
 * it. `job` makes one; docs/how-to/jobs.md "Write a job of your own" is the guide.
 */
export interface Job<Input = never, Context = never> {
	readonly queue: string;
	readonly version: number;
	/** Starts that a job gets, unless its enqueue says otherwise. */
	readonly attempts: number;
	/** How long a claim lasts without renewal. */
	readonly claimMs: number;
	/** How long one start may take before its signal aborts. */
	readonly maxRunMs: number;
	/** What is stored. Throws BAD_USER_INPUT if the schema refuses the body. */
	encode(body: Input): string;
	/** The user whose job it is, by its stored body; null: nobody's, or the body is not valid. */
	subjectOf(body: string): string | null;
	/** Checks a stored body and runs the handler. */
	start(job: StartedJob, context: Context): Promise<void>;
}

/** Any kind of job that a worker with this context can run. */
export type AnyJob<Context> = Job<never, Context>;

/** The part of `Jobs` that jobs use that enqueue others. */
export interface EnqueuesJobs {
	enqueueAll<Input>(
		kind: Job<Input, never>,
		jobs: readonly {
			readonly body: Input;
			readonly key?: string;
			readonly delayMs?: number;
			readonly priority?: 1 | 2 | 3;
		}[],
	): Promise<unknown>;
}

/** One start of a job, with the body as it is stored. */
export interface StartedJob {
	readonly id: string;
	/** JSON. */
	readonly body: string;
	readonly attempt: number;
	readonly allowed: number;
	readonly signal: AbortSignal;
	/** Stores another body, and a note for operators. Throws ClaimLost. */
	checkpoint(change: {
		readonly body?: string;
		readonly note?: string;
	}): Promise<void>;
}

/** What a handler gets. */
export interface RunningJob<Body, Input = Body> {
	readonly id: string;
	/** As the schema returns it. */
	readonly body: Body;
	/** This start's number, from 1. Starts that were given back do not count. */
	readonly attempt: number;
	/** Starts that the job gets. */
	readonly allowed: number;
	/**
	 * Greater in each later attempt. Two starts of one job can overlap: a process
	 * that was paused past its claim continues when it wakes. A handler that writes
	 * elsewhere stores this number there, and refuses a smaller one.
	 */
	readonly fence: number;
	/** Aborts when the claim is lost, the worker stops, or `maxRunMs` is over. Pass it to whatever waits. */
	readonly signal: AbortSignal;
	/**
	 * Stores another body, which the next attempt starts with, and a note for
	 * operators. Throws ClaimLost if the claim is no longer this worker's: let
	 * it through.
	 */
	checkpoint(change: {
		readonly body?: Input;
		readonly note?: string;
	}): Promise<void>;
}

interface JobOptions<Schema extends BodySchema, Context> {
	/** A lower-case letter, then at most 39 letters and digits. */
	readonly queue: string;
	/** Bodies are input: a zod schema of an object checks each when it is enqueued, and again when it is run. */
	readonly body: Schema;
	/**
	 * The version of the body, default 1. Raise it when an older worker must not run a new
	 * body: it then leaves the job to a newer one.
	 */
	readonly version?: number;
	/** Starts that a job gets (default 2). */
	readonly attempts?: number;
	/** How long a claim lasts without renewal (default 60 s): how long the job of a dead worker waits. */
	readonly claimMs?: number;
	/** The id of the user whose job this is: `accounts erase` deletes such jobs with the user. Absent: the jobs are nobody's. */
	readonly subject?: (body: z.output<Schema>) => string;
	/** How long one start may take (default 1 h): then its signal aborts and the attempt has failed. */
	readonly maxRunMs?: number;
	/**
	 * Runs one job, at least once: make it idempotent.
	 *
	 * - It returns: the job succeeded.
	 * - It throws: the job is tried again after a back-off, while attempts are left.
	 * - It throws `new Later(ms)`: it runs again after that time. No attempt is used.
	 * - It throws `new GiveUp(reason)`: the job failed for good.
	 */
	run(
		job: RunningJob<z.output<Schema>, z.input<Schema>>,
		context: Context,
	): Promise<unknown>;
}

type BodySchema = z.ZodType<object, object>;

/** Thrown by a handler: the job is not ready yet. It runs again, and no attempt is used. */
export class Later extends Error {
	override readonly name = "Later";
	readonly ms: number;

	constructor(
		/** From now; at most a year. */
		ms: number,
		/** For operators. */
		note = "",
	) {
		super(note);
		if (!(ms >= 0 && ms <= MAX_LATER_MS)) {
			throw new TypeError(
				`Later needs milliseconds from 0 to ${MAX_LATER_MS}, got ${ms}.`,
			);
		}
		this.ms = ms;
	}
}

/** Thrown by a handler: trying again would not help. */
export class GiveUp extends Error {
	override readonly name = "GiveUp";
}

/** The claim of a job has ended, and another worker may run it: what this one reports of it counts no more. */
export class ClaimLost extends Error {
	override readonly name = "ClaimLost";
}

const MAX_LATER_MS = 365 * 24 * 3_600_000;
/** How long an older worker leaves a job whose body is of a newer version. */
const NEWER_VERSION_MS = 30_000;
/** In the stored body, if it is not 1. */
const VERSION_KEY = "$version";
/** Problems of a body that are named. */
const MAX_ISSUES = 5;

/** Defines a kind of job. Throws TypeError if an option is out of range. */
export function job<Schema extends BodySchema, Context = unknown>(
	options: JobOptions<Schema, Context>,
): Job<z.input<Schema>, Context> {
	const { queue, body: schema, run, subject } = options;
	const {
		version = 1,
		attempts = 2,
		claimMs = 60_000,
		maxRunMs = 3_600_000,
	} = options;
	checkQueueName(queue);
	expectInteger("version", version, 1, 1_000_000);
	expectInteger("attempts", attempts, 1, 65_535);
	expectInteger("claimMs", claimMs, 1_000, 86_400_000);
	expectInteger("maxRunMs", maxRunMs, 1, 7 * 86_400_000);

	const encode = (body: unknown): string => {
		const { error } = schema.safeParse(body);
		if (error !== undefined) {
			throw new CorkboardError(
				"BAD_USER_INPUT",
				`The body of a job of ${queue} is not valid: ${problemsOf(error)}.`,
			);
		}
		return JSON.stringify(
			version === 1 ? body : { ...(body as object), [VERSION_KEY]: version },
		);
	};

	return {
		queue,
		version,
		attempts,
		claimMs,
		maxRunMs,
		encode,
		subjectOf(body) {
			if (subject === undefined) return null;
			const { data } = schema.safeParse(fieldsIn(body)?.fields);
			return data === undefined ? null : subject(data);
		},
		async start(started, context) {
			const stored = fieldsIn(started.body);
			if (stored === null) throw new GiveUp("The body is no JSON object.");
			const { storedVersion, fields } = stored;
			if (typeof storedVersion === "number" && storedVersion > version) {
				throw new Later(
					NEWER_VERSION_MS,
					`The body has version ${storedVersion}, this worker knows ${version}.`,
				);
			}
			const { data, error } = schema.safeParse(fields);
			if (error !== undefined) {
				throw new GiveUp(`The body is not valid: ${problemsOf(error)}.`);
			}
			await run(
				{
					// Made when they are asked for (worker/runJob.ts).
					get id() {
						return started.id;
					},
					get signal() {
						return started.signal;
					},
					attempt: started.attempt,
					allowed: started.allowed,
					fence: started.attempt,
					body: data as z.output<Schema>,
					checkpoint: ({ body, note }) =>
						started.checkpoint({
							...(body !== undefined && { body: encode(body) }),
							...(note !== undefined && { note }),
						}),
				},
				context,
			);
		},
	};
}

/** Null if the body is no JSON object. */
function fieldsIn(text: string): {
	readonly storedVersion: unknown;
	readonly fields: Readonly<Record<string, unknown>>;
} | null {
	const value = parseJsonObject(text);
	if (value === null) return null;
	const { [VERSION_KEY]: storedVersion = 1, ...fields } = value;
	return { storedVersion, fields };
}

/** Where and what, without the values: they may be private. */
function problemsOf({ issues }: z.ZodError): string {
	return issues
		.slice(0, MAX_ISSUES)
		.map(({ path, message }) =>
			path.length === 0 ? message : `${path.join(".")}: ${message}`,
		)
		.join("; ");
}

function expectInteger(
	name: string,
	value: number,
	least: number,
	most: number,
): void {
	if (!Number.isInteger(value) || value < least || value > most) {
		throw new TypeError(
			`${name} must be an integer from ${least} to ${most}, got ${value}.`,
		);
	}
}
