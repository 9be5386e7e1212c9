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
import {
	isKnown,
	logged,
	NEW_RECORD,
	type OperationRecord,
	parseRecord,
	recordPath,
	type UnknownRecord,
	unknownRecordError,
} from "./operationRecord.ts";
import {
	firstBeat,
	HOLDER_MS,
	holderName,
	type LookOptions,
	lookAtHolder,
	SignsOfLife,
} from "./signOfLife.ts";

type RecordPatch = Partial<
	Pick<OperationRecord, "step" | "version" | "loss" | "move">
>;
type AboutOperation = Pick<
	OperationRecord,
	"kind" | "from" | "to" | "move" | "alsoLocks"
> &
	Partial<Pick<OperationRecord, "loss">>;

/** How often a write is tried that somebody else's signs of life come between. */
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

	/** Writes the record, locks both hosts and gives a sign of life, in one write. Throws CONFLICT if another operation has one of them. */
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
			...NEW_RECORD,
			...about,
			by: operator(),
			began: now.toISOString(),
			holder: holderName(),
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
		if (found?.text !== text) throw takenOver(id, holderIn(id, found?.text));
		return new Operation(store, record, found.revision);
	}

	/** Takes over a record whose holder is gone. Throws CONFLICT if it is over, or still runs. */
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

	/** Null if its holder gives signs of life, also between the look and the take-over. Throws CONFLICT if it is over. */
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

	/** Changes the record by compare-and-set, together with other paths. Throws CONFLICT if somebody took it over. */
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

	/** Throws CONFLICT if somebody took it over: this process may have been paused. Asked before each change of a server. */
	async requireHeld(): Promise<void> {
		const { id } = this.#record;
		const found = await this.#store.get(recordPath(id));
		if (found?.revision !== this.#revision)
			throw takenOver(id, holderIn(id, found?.text));
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

	/** Locks the hosts again, with a change of the record. Throws CONFLICT if another operation has one of them. */
	async lockAgain(patch: RecordPatch, line: string): Promise<void> {
		const locks = await lockedAgain(this.#store, this.#record);
		await this.save(patch, line, locks);
	}

	/** The same where `hosts promote --dead` has taken some of them. */
	async keepLocks(): Promise<void> {
		const locks = await lockedAgain(this.#store, this.#record);
		if (locks.length > 0) await this.save({}, "has its hosts again", locks);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		await this.#signs[Symbol.asyncDispose]();
	}
}

/** Begins an operation, and runs it. Throws CONFLICT with all faults if there are any: nothing has changed then. */
export async function beginOperation<Result>(
	{
		store,
		onStep,
	}: {
		readonly store: TopologyStore;
		readonly onStep?: (what: string, id: string) => void | Promise<void>;
	},
	about: AboutOperation,
	faults: readonly string[],
	run: (operation: Operation) => Promise<Result>,
	beside?: (id: string) => readonly StoreChange[],
): Promise<Result> {
	if (faults.length > 0) {
		throw new CorkboardError("CONFLICT", faults.join("\n"));
	}
	await using operation = await Operation.begin(store, about, beside);
	await onStep?.("locked", operation.record.id);
	// Awaited: what is used here is disposed of when this returns, and with it the signs of life.
	return await run(operation);
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
		: takenOver(id, holderIn(id, found?.text));
}

/** Whether an operation at this step is over, or is a move whose way back is open, which may stay so for days. */
export function needsNoRunner(step: string): boolean {
	return step === "done" || step === "rolled back" || step === "way open";
}

/** Also of one that this program does not know. */
export function isOver({
	step,
}: Pick<OperationRecord | UnknownRecord, "step">): boolean {
	return step === "done" || step === "rolled back";
}

export interface Operations {
	/** Oldest first. */
	readonly records: readonly OperationRecord[];
	/** Those that this program does not know. */
	readonly unknown: readonly UnknownRecord[];
}

export async function readOperations(
	store: Pick<TopologyStore, "get" | "list">,
): Promise<Operations> {
	const ids = await store.list("operations");
	const found = await Promise.all(
		ids.map(async (id) => {
			const text = (await store.get(recordPath(id)))?.text;
			return text === undefined ? [] : [parseRecord(id, text)];
		}),
	);
	const all = found.flat();
	return {
		records: all.filter(isKnown).sort((a, b) => (a.began < b.began ? -1 : 1)),
		unknown: all.flatMap((each) => (isKnown(each) ? [] : [each])),
	};
}

/** All that this program knows, oldest first. */
export async function listOperations(
	store: Pick<TopologyStore, "get" | "list">,
): Promise<readonly OperationRecord[]> {
	return (await readOperations(store)).records;
}

/** Throws NOT_FOUND, also for what cannot be an id; and CONFLICT for a record that this program does not know. */
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
	const record = parseRecord(id, found.text);
	if (!isKnown(record)) throw unknownRecordError(record);
	return { record, revision: found.revision };
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

/** `holder`: who has it now; null: the record was removed. */
export function takenOver(id: string, holder: string | null): CorkboardError {
	return new CorkboardError(
		"CONFLICT",
		holder === null
			? `The record of ${id} was removed from the store.`
			: `${holder} has taken ${id} over.`,
		{ details: { takenOver: holder } },
	);
}

/** `text`: the record as it is now; undefined: there is none. */
function holderIn(id: string, text: string | undefined): string | null {
	return text === undefined
		? null
		: (parseRecord(id, text).holder ?? "somebody else");
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
