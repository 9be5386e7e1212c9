import { randomBytes } from "node:crypto";
import { CorkboardError } from "../../errors.ts";
import { operator } from "../../topology/history.ts";
import type { StoreChange, TopologyStore } from "../../topology/store.ts";
import {
	firstLocks,
	lockedAgain,
	lockedBy,
	locksPastMoves,
	unlocked,
} from "./hostLocks.ts";
import type { Loss } from "./loss.ts";
import { logged, recordPath } from "./recordText.ts";
import {
	firstBeat,
	HOLDER_MS,
	holderName,
	type LookOptions,
	lookAtHolder,
	SignsOfLife,
} from "./signOfLife.ts";

/**
 * How far an operation is. Each step is written before what it names is done, so
 * that whoever takes over knows what may have been done:
 *
 * - `locked`: nothing was changed.
 * - `fencing`: the old primary may take no writes, and the replica may be a primary already.
 * - `cloning`: the new replica may have lost what it held, or hold a copy.
 * - `following`: it holds a copy, and may follow the primary.
 * - `moving`: shards are copied; no database is fenced.
 * - `cutting over`: databases of the running wave may be fenced where they are served.
 * - `lifting`: they are served where they were, and their fences are about to be lifted.
 * - `way open`: all waves of a move are where they are to be, and can go back. Nobody runs it, and it locks nothing.
 * - `published`: the topology names the new hosts. There is no way back from here.
 * - `rolling back`: the topology names the old primary, and will; its fence may be lifted.
 * - `done`, `rolled back`: over.
 */
export type OperationStep =
	| "locked"
	| "fencing"
	| "cloning"
	| "following"
	| "moving"
	| "cutting over"
	| "lifting"
	| "way open"
	| "published"
	| "rolling back"
	| "done"
	| "rolled back";

export type OperationKind =
	| "promote"
	| "promote --dead"
	| "fleet accept"
	| "replica add"
	| "replica remove"
	| "move";

/** What is known of one run of a command that changes the fleet, at `operations/ID`. */
export interface OperationRecord {
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
	/** Of a promotion of a dead primary's replica: what it costs; null before that is known. */
	readonly loss: Loss | null;
	/** Of a move, as `moveFacts.ts` reads it. */
	readonly move?: unknown;
	/** Further hosts that it locks: replicas. */
	readonly alsoLocks?: readonly string[];
	/** What happened, oldest first, as sentences. */
	readonly log: readonly string[];
}

type RecordPatch = Partial<
	Pick<OperationRecord, "step" | "version" | "loss" | "move">
>;
type AboutOperation = Pick<
	OperationRecord,
	"kind" | "from" | "to" | "move" | "alsoLocks"
>;

/** Of a write that somebody else's signs of life come between. */
const TRIES = 10;
/** As `begin` makes them; also those of older versions. */
const ID = /^[a-z]+(?:-[a-z0-9]+)*$/;

/** A record that this process holds. Another one's take-over makes each later save fail. */
export class Operation implements AsyncDisposable {
	readonly #store: TopologyStore;
	#record: OperationRecord;
	#revision: string;
	readonly #signs: SignsOfLife;

	private constructor(
		store: TopologyStore,
		record: OperationRecord,
		revision: string,
	) {
		this.#store = store;
		this.#record = record;
		this.#revision = revision;
		this.#signs = new SignsOfLife(store, record.id, record.holder);
	}

	/** Writes the record, locks both hosts and gives a sign of life, in one write. Throws CONFLICT where another operation has one of them. */
	static async begin(
		store: TopologyStore,
		about: AboutOperation,
		/** What is written with it. */
		beside: (id: string) => readonly StoreChange[] = () => [],
	): Promise<Operation> {
		const now = new Date();
		const day = now.toISOString().slice(0, 19).replaceAll(/[-:T]/g, "");
		const id = `${about.kind.replace(" --dead", "").replace(" ", "-")}-${day}-${randomBytes(2).toString("hex")}`;
		const record: OperationRecord = {
			id,
			...about,
			by: operator(),
			began: now.toISOString(),
			step: "locked",
			holder: holderName(),
			version: null,
			loss: null,
			log: [],
		};
		const text = JSON.stringify(record);
		for (let tries = 1; ; tries++) {
			const taken =
				about.kind === "promote --dead"
					? await locksPastMoves(store, record)
					: null;
			try {
				await store.write([
					{ path: recordPath(id), revision: null, text },
					firstBeat(id, record.holder, null),
					...(taken ?? firstLocks(record)),
					...beside(id),
				]);
				break;
			} catch (thrown) {
				// The runner of a move gives a sign of life each second.
				const isLate = taken?.some(({ path }) => isConflictAt(thrown, path));
				if (isLate && tries < TRIES) continue;
				throw await lockedBy(store, record, thrown);
			}
		}
		const found = await store.get(recordPath(id));
		if (found?.text !== text) throw takenOver(id, found?.text);
		return new Operation(store, record, found.revision);
	}

	/** Takes over a record whose holder is gone. Throws CONFLICT where it is over, or still runs. */
	static async takeOver(
		store: TopologyStore,
		id: string,
		options?: LookOptions,
	): Promise<Operation> {
		const operation = await Operation.tryTakeOver(store, id, options);
		if (operation !== null) return operation;
		const { record } = await requireRecord(store, id);
		throw new CorkboardError(
			"CONFLICT",
			`${id} is still run by ${record.holder}. It can be taken over ${HOLDER_MS / 1_000} s after that has ended.`,
		);
	}

	/** Null where its holder gives signs of life, also between the look and the take-over. Throws CONFLICT where it is over. */
	static async tryTakeOver(
		store: TopologyStore,
		id: string,
		options?: LookOptions,
	): Promise<Operation | null> {
		await requireRecord(store, id);
		const { isHeld, revision: beat } = await lookAtHolder(store, id, options);
		// As it is after the look, which takes some seconds.
		const { record, revision } = await requireRecord(store, id);
		if (isOver(record)) {
			throw new CorkboardError("CONFLICT", `${id} is over: ${record.step}.`);
		}
		if (isHeld) return null;
		const holder = holderName();
		const next = logged({ ...record, holder }, `taken over by ${operator()}`);
		const sign = firstBeat(id, holder, beat);
		try {
			const saved = await saveRecord(store, next, revision, [sign]);
			return new Operation(store, next, saved);
		} catch (thrown) {
			if (isConflictAt(thrown, sign.path)) return null;
			throw thrown;
		}
	}

	get record(): OperationRecord {
		return this.#record;
	}

	/** Changes the record by compare-and-set, together with other paths. Throws CONFLICT where somebody took it over. */
	async save(
		patch: RecordPatch,
		line: string | null = null,
		others: readonly StoreChange[] = [],
	): Promise<void> {
		const next = logged({ ...this.#record, ...patch }, line);
		this.#revision = await saveRecord(
			this.#store,
			next,
			this.#revision,
			others,
		);
		this.#record = next;
	}

	/** Throws CONFLICT where somebody took it over: this process may have stood still. Asked before each change of a server. */
	async requireHeld(): Promise<void> {
		const { id } = this.#record;
		const found = await this.#store.get(recordPath(id));
		if (found?.revision !== this.#revision) throw takenOver(id, found?.text);
	}

	/** What the next signs of life say of how far it is; for people. */
	report(text: string): void {
		this.#signs.report(text);
	}

	/** Writes the end, or that nobody has to run it for now, and gives the hosts free. */
	async end(
		step: "done" | "rolled back" | "way open",
		logged: string,
		others: readonly StoreChange[] = [],
	): Promise<void> {
		const locks = await unlocked(this.#store, this.#record);
		await this.save({ step }, logged, [...locks, ...others]);
	}

	/** Locks the hosts again, with a change of the record. Throws CONFLICT where another operation has one of them. */
	async lockAgain(patch: RecordPatch, line: string): Promise<void> {
		const locks = await lockedAgain(this.#store, this.#record);
		await this.save(patch, line, locks);
	}

	/** The same where `promote --dead` has taken some of them. */
	async keepLocks(): Promise<void> {
		const locks = await lockedAgain(this.#store, this.#record);
		if (locks.length > 0) await this.save({}, "has its hosts again", locks);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#signs[Symbol.asyncDispose]();
	}
}

/** Runs an operation from its beginning. Throws CONFLICT with all faults where there are any: nothing has changed then. */
export async function runOperation<Result>(
	{
		store,
		onStep,
	}: {
		readonly store: TopologyStore;
		readonly onStep?: (what: string, id: string) => void | Promise<void>;
	},
	about: AboutOperation,
	faults: readonly string[],
	proceed: (operation: Operation) => Promise<Result>,
	beside?: (id: string) => readonly StoreChange[],
): Promise<Result> {
	if (faults.length > 0) {
		throw new CorkboardError("CONFLICT", faults.join("\n"));
	}
	await using operation = await Operation.begin(store, about, beside);
	await onStep?.("locked", operation.record.id);
	// Awaited: what is used here is disposed of when this returns, and with it the signs of life.
	return await proceed(operation);
}

/** Returns the revision of the record as it is now. */
async function saveRecord(
	store: TopologyStore,
	next: OperationRecord,
	before: string,
	others: readonly StoreChange[],
): Promise<string> {
	const { id } = next;
	const text = JSON.stringify(next);
	const path = recordPath(id);
	let failure: unknown = null;
	try {
		await store.write([{ path, revision: before, text }, ...others]);
	} catch (thrown) {
		if (!mayBeWritten(thrown) && !isConflictAt(thrown, path)) throw thrown;
		failure = thrown;
	}
	const found = await store.get(path);
	if (found?.text === text) return found.revision;
	throw found?.revision === before && failure !== null
		? failure
		: takenOver(id, found?.text);
}

/** Whether nobody has to run it: it is over, or stands where it may stand for days. */
export function isSettledStep(step: OperationStep): boolean {
	return step === "done" || step === "rolled back" || step === "way open";
}

export function isOver({ step }: OperationRecord): boolean {
	return step === "done" || step === "rolled back";
}

/** All that are known, oldest first. */
export async function listOperations(
	store: Pick<TopologyStore, "get" | "list">,
): Promise<readonly OperationRecord[]> {
	const ids = await store.list("operations");
	const records = await Promise.all(
		ids.map(async (id) => (await store.get(recordPath(id)))?.text),
	);
	return records
		.flatMap((text) =>
			text === undefined ? [] : [JSON.parse(text) as OperationRecord],
		)
		.sort((a, b) => (a.began < b.began ? -1 : 1));
}

/** Throws NOT_FOUND, also for what cannot be an id. */
export async function requireRecord(
	store: Pick<TopologyStore, "get">,
	id: string,
): Promise<{ readonly record: OperationRecord; readonly revision: string }> {
	// It is part of a path of the store.
	if (!ID.test(id)) {
		throw new CorkboardError(
			"NOT_FOUND",
			`${JSON.stringify(id)} is no id of an operation, which is such as promote-20261123023500-2a3b. List them with: corkboard operations list --all.`,
		);
	}
	const found = await store.get(recordPath(id));
	if (found === null) {
		throw new CorkboardError("NOT_FOUND", `There is no operation ${id}.`);
	}
	return { record: JSON.parse(found.text), revision: found.revision };
}

function mayBeWritten(thrown: unknown): boolean {
	return (
		thrown instanceof CorkboardError &&
		thrown.code === "UNAVAILABLE" &&
		thrown.details.isUnknown === true
	);
}

function isConflictAt(thrown: unknown, path: string): boolean {
	return (
		thrown instanceof CorkboardError &&
		thrown.code === "CONFLICT" &&
		thrown.details.path === path
	);
}

/** `text`: the record as it is now; undefined: there is none. */
export function takenOver(
	id: string,
	text: string | undefined,
): CorkboardError {
	const record =
		text === undefined ? null : (JSON.parse(text) as OperationRecord);
	return new CorkboardError(
		"CONFLICT",
		record === null
			? `The record of ${id} was removed from the store.`
			: `${record.holder} has taken ${id} over.`,
		{ details: { takenOver: record?.holder ?? null } },
	);
}

/** To whom an operation was lost; null: to nobody, or nobody knows. */
export function takenOverBy(thrown: unknown): string | null {
	if (!isTakenOver(thrown)) return null;
	const { takenOver } = (thrown as CorkboardError).details;
	return typeof takenOver === "string" ? takenOver : null;
}

/** Whether an operation was lost to somebody else. */
export function isTakenOver(thrown: unknown): boolean {
	return thrown instanceof CorkboardError && "takenOver" in thrown.details;
}
