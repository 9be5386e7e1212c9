import { z } from "zod";
import { CorkboardError } from "../../errors.ts";
import type { Loss } from "./loss.ts";
import { facts } from "./moveFacts.ts";
import { MOVE_STEPS } from "./moveTable.ts";

/**
 * Raised by a program that stores what an earlier one would misunderstand. An earlier
 * one leaves such a record alone, with the hosts that it locks.
 */
const FORMAT = 1;

const step = z.enum([
	"locked",
	"fencing",
	"cloning",
	"following",
	"published",
	"rolling back",
	"done",
	"rolled back",
]);
const moveStep = z.enum(MOVE_STEPS);

/**
 * How far an operation is; of a move, see `ABOUT_MOVE_STEPS`. Each step is written
 * before what it names is done, so that the process that takes over knows what may
 * have been done:
 *
 * - `locked`: nothing was changed.
 * - `fencing`: the old primary may take no writes, and the replica may be a primary already.
 * - `cloning`: the new replica may have lost what it held, or hold a copy.
 * - `following`: it holds a copy, and may follow the primary.
 * - `published`: the topology names the new hosts. There is no way back from here.
 * - `rolling back`: the topology names the old primary, and will; its fence may be lifted.
 * - `done`, `rolled back`: over.
 */
export type OperationStep = z.infer<typeof step> | z.infer<typeof moveStep>;

const kind = z.enum([
	"promote",
	"promote --dead",
	"accept loss",
	"replica add",
	"replica remove",
	"move",
]);
export type OperationKind = z.infer<typeof kind>;

/** What is known of one run of a command that changes the fleet, at `operations/ID`. */
export interface OperationRecord {
	readonly format: typeof FORMAT;
	readonly id: string;
	readonly kind: OperationKind;
	/** `anna@ops1` */
	readonly by: string;
	/** ISO 8601, in UTC. */
	readonly began: string;
	/** Names of the hosts, `host:port`: the primary that was, and the one that is to be; or a primary and its replica. */
	readonly from: string;
	readonly to: string;
	readonly step: OperationStep;
	/** Who runs it. Somebody who takes it over writes another. */
	readonly holder: string;
	/** The version that was published; null before. */
	readonly version: number | null;
	/** What was given up with a dead primary, or behind a host's name; null before that is known. */
	readonly loss: Loss | null;
	/** Facts of a move, as `moveFacts.ts` reads them. */
	readonly move?: unknown;
	/** Further hosts that it locks: replicas. */
	readonly alsoLocks?: readonly string[] | undefined;
	/** What happened, oldest first, as sentences. */
	readonly log: readonly string[];
}

const loss = z.object({
	gtids: z.string(),
	transactions: z.number(),
	writes: z.array(
		z.object({
			gtid: z.string(),
			at: z.number(),
			wrote: z.array(z.string()),
			process: z.string(),
		}),
	),
	answered: z.number(),
	silent: z.array(z.string()),
});

const common = {
	format: z.literal(FORMAT),
	id: z.string(),
	by: z.string(),
	began: z.string(),
	from: z.string(),
	to: z.string(),
	holder: z.string(),
	version: z.int().nullable(),
	loss: loss.nullable(),
	alsoLocks: z.array(z.string()).optional(),
	log: z.array(z.string()),
};

const record = z.discriminatedUnion("kind", [
	z.object({ ...common, kind: kind.exclude(["move"]), step }),
	z.object({
		...common,
		kind: z.literal("move"),
		step: moveStep,
		move: facts,
	}),
]);

/** A record that this program does not know, and leaves alone. */
export interface UnknownRecord {
	readonly id: string;
	/** Why it is not known. */
	readonly reason: string;
	/** The rest as far as the text says. */
	readonly kind: string | null;
	readonly step: string | null;
	readonly holder: string | null;
	readonly hosts: readonly string[];
}

export const recordPath = (id: string) => `operations/${id}`;

/** Never throws: what it does not know is an `UnknownRecord`. */
export function parseRecord(
	id: string,
	text: string,
): OperationRecord | UnknownRecord {
	let found: unknown = null;
	try {
		found = JSON.parse(text);
	} catch {
		// Not an object then.
	}
	const parsed = record.safeParse(found);
	if (parsed.success && parsed.data.id === id) return parsed.data;
	const given = described.parse(found);
	const { from = null, to = null, alsoLocks = [], format } = given;
	return {
		id,
		reason:
			typeof format === "number" && format > FORMAT
				? `format ${format}, of a later version of corkboard`
				: reasonOf(parsed.error, given.kind),
		kind: given.kind ?? null,
		step: given.step ?? null,
		holder: given.holder ?? null,
		hosts: [from, to, ...alsoLocks].filter((host) => host !== null),
	};
}

/** What of any record may be what it is in ours. */
const described = z
	.object({
		format: z.unknown(),
		kind: z.string().optional().catch(undefined),
		step: z.string().optional().catch(undefined),
		holder: z.string().optional().catch(undefined),
		from: z.string().optional().catch(undefined),
		to: z.string().optional().catch(undefined),
		alsoLocks: z.array(z.string()).optional().catch(undefined),
	})
	.catch({ format: null });

function reasonOf(
	error: z.ZodError | undefined,
	given: string | undefined,
): string {
	if (given !== undefined && !kind.safeParse(given).success) {
		return `the kind ${JSON.stringify(given)}`;
	}
	const [issue] = error?.issues ?? [];
	if (issue === undefined) return "another id than its own";
	const at = issue.path.join(".");
	return `${at === "" ? "its text" : at}: ${issue.message}`;
}

export function isKnown(
	found: OperationRecord | UnknownRecord,
): found is OperationRecord {
	return !("reason" in found);
}

/** CONFLICT, for a command that would have to change it. */
export function unknownRecordError({
	id,
	reason,
}: UnknownRecord): CorkboardError {
	return new CorkboardError(
		"CONFLICT",
		`${describeUnknown({ id, reason })} Use the version that began it: there, corkboard operations list says what to do.`,
		{ details: { unknownRecord: id } },
	);
}

export function isUnknownRecord(thrown: unknown): boolean {
	return thrown instanceof CorkboardError && "unknownRecord" in thrown.details;
}

export function describeUnknown({
	id,
	reason,
}: Pick<UnknownRecord, "id" | "reason">): string {
	return `${id} has a record that this version of corkboard does not know (${reason}), so it is left alone.`;
}

/** Most lines of a record. */
const LOGGED = 200;

/** The record with one more line of what happened. */
export function logged(
	record: OperationRecord,
	line: string | null,
): OperationRecord {
	if (line === null) return record;
	const log = [...record.log, `${new Date().toISOString()} ${line}`];
	return { ...record, log: log.slice(-LOGGED) };
}

/** What a new record begins with. */
export const NEW_RECORD = {
	format: FORMAT,
	step: "locked",
	version: null,
	loss: null,
	log: [],
} as const satisfies Partial<OperationRecord>;
