import { randomBytes } from "node:crypto";
import { CorkboardError } from "../../errors.ts";
import { operator } from "../../topology/history.ts";
import type { StoreChange, TopologyStore } from "../../topology/store.ts";
import type { Loss } from "./loss.ts";

/**
 * How far an operation is. Each step is written before what it names is done, so
 * that whoever takes over knows what may have been done:
 *
 * - `locked`: nothing was changed.
 * - `fencing`: the old primary may take no writes, and the replica may be a primary already.
 * - `cloning`: the new replica may have lost what it held, or hold a copy.
 * - `following`: it holds a copy, and may follow the primary.
 * - `published`: the topology names the new hosts. There is no way back from here.
 * - `rolling back`: the topology names the old primary, and will; its fence may be lifted.
 * - `done`, `rolled back`: over.
 */
export type Step =
	| "locked"
	| "fencing"
	| "cloning"
	| "following"
	| "published"
	| "rolling back"
	| "done"
	| "rolled back";

export type OperationKind =
	| "promote"
	| "promote --dead"
	| "replica add"
	| "replica remove";

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
	readonly step: Step;
	/** Who runs it. Somebody who takes it over writes another. */
	readonly holder: string;
	/** The version that was published; null before. */
	readonly version: number | null;
	/** Of a promotion of a dead primary's replica: what it costs; null before that is known. */
	readonly loss: Loss | null;
	/** What happened, oldest first, as sentences. */
	readonly log: readonly string[];
}

/** How old the last heartbeat of a holder may be before somebody else may take the operation over. Milliseconds. */
export const HOLDER_MS = 3_000;
const HEARTBEAT_MS = 1_000;
const LOGGED = 200;

const recordPath = (id: string) => `operations/${id}`;
const heartbeatPath = (id: string) => `heartbeats/${id}`;
const lockPath = (host: string) =>
	`locks/${host.replaceAll(/[^A-Za-z0-9._:-]/g, "_")}`;

/** A record that this process holds. Another one's take-over makes each later save fail. */
export class Operation implements AsyncDisposable {
	readonly #store: TopologyStore;
	#record: OperationRecord;
	#revision: string;
	#heartbeat: NodeJS.Timeout | null = null;
	#beating: Promise<void> = Promise.resolve();

	private constructor(
		store: TopologyStore,
		record: OperationRecord,
		revision: string,
	) {
		this.#store = store;
		this.#record = record;
		this.#revision = revision;
		this.#beat();
		this.#heartbeat = setInterval(() => this.#beat(), HEARTBEAT_MS).unref();
	}

	/** Writes the record and locks both hosts. Throws CONFLICT where another operation has one of them. */
	static async begin(
		store: TopologyStore,
		about: Pick<OperationRecord, "kind" | "from" | "to">,
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
		const locks = [about.from, about.to].map(
			(host): StoreChange => ({
				path: lockPath(host),
				revision: null,
				text: id,
			}),
		);
		try {
			await store.write([
				{ path: recordPath(id), revision: null, text },
				...locks,
			]);
		} catch (thrown) {
			throw await lockedBy(store, [about.from, about.to], thrown);
		}
		const found = await store.get(recordPath(id));
		if (found?.text !== text) throw takenOver(id);
		return new Operation(store, record, found.revision);
	}

	/** Takes over a record whose holder is gone. Throws CONFLICT where it still runs. */
	static async takeOver(store: TopologyStore, id: string): Promise<Operation> {
		const { record, revision } = await requireUnheld(store, id);
		const taken = new Operation(store, record, revision);
		try {
			await taken.save({ holder: holderName() }, `taken over by ${operator()}`);
			return taken;
		} catch (thrown) {
			await taken[Symbol.asyncDispose]();
			throw thrown;
		}
	}

	get record(): OperationRecord {
		return this.#record;
	}

	/** Changes the record by compare-and-set, together with other paths. Throws CONFLICT where somebody took it over. */
	async save(
		patch: Partial<
			Pick<OperationRecord, "step" | "holder" | "version" | "loss">
		>,
		logged: string | null = null,
		others: readonly StoreChange[] = [],
	): Promise<void> {
		const { id } = this.#record;
		const lines =
			logged === null ? [] : [`${new Date().toISOString()} ${logged}`];
		const next: OperationRecord = {
			...this.#record,
			...patch,
			log: [...this.#record.log, ...lines].slice(-LOGGED),
		};
		const text = JSON.stringify(next);
		const path = recordPath(id);
		const before = this.#revision;
		let failure: unknown = null;
		try {
			await this.#store.write([{ path, revision: before, text }, ...others]);
		} catch (thrown) {
			if (!mayBeWritten(thrown)) throw thrown;
			failure = thrown;
		}
		const found = await this.#store.get(path);
		if (found?.text !== text) {
			throw found?.revision === before && failure !== null
				? failure
				: takenOver(id);
		}
		this.#record = next;
		this.#revision = found.revision;
	}

	/** Throws CONFLICT where somebody took it over: this process may have stood still. Asked before each change of a server. */
	async requireHeld(): Promise<void> {
		const { id } = this.#record;
		const found = await this.#store.get(recordPath(id));
		if (found?.revision !== this.#revision) throw takenOver(id);
	}

	/** Writes the end, and gives the hosts free. */
	async end(step: "done" | "rolled back", logged: string): Promise<void> {
		const { id, from, to } = this.#record;
		const locks: StoreChange[] = [];
		for (const host of [from, to]) {
			const lock = await this.#store.get(lockPath(host));
			if (lock?.text !== id) continue;
			locks.push({
				path: lockPath(host),
				revision: lock.revision,
				text: null,
			});
		}
		await this.save({ step }, logged, locks);
	}

	async [Symbol.asyncDispose](): Promise<void> {
		if (this.#heartbeat !== null) clearInterval(this.#heartbeat);
		this.#heartbeat = null;
		await this.#beating;
		// Somebody else may go on at once.
		await this.#setHeartbeat(null).catch(() => {});
	}

	#beat(): void {
		this.#beating = this.#beating
			.then(() => this.#setHeartbeat(String(Date.now())))
			.catch(() => {});
	}

	async #setHeartbeat(text: string | null): Promise<void> {
		const path = heartbeatPath(this.#record.id);
		const revision = (await this.#store.get(path))?.revision ?? null;
		if (text === null && revision === null) return;
		await this.#store.write([{ path, revision, text }]);
	}
}

/** Whether its holder gave a sign of life just now. */
export async function isHeld(
	store: Pick<TopologyStore, "get">,
	id: string,
): Promise<boolean> {
	const beat = await store.get(heartbeatPath(id));
	return beat !== null && Date.now() - Number(beat.text) < HOLDER_MS;
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

export async function requireRecord(
	store: Pick<TopologyStore, "get">,
	id: string,
): Promise<{ readonly record: OperationRecord; readonly revision: string }> {
	const found = await store.get(recordPath(id));
	if (found === null) {
		throw new CorkboardError("NOT_FOUND", `There is no operation ${id}.`);
	}
	return { record: JSON.parse(found.text), revision: found.revision };
}

/** A record that may be taken over. Throws CONFLICT where it is over or somebody still runs it. */
export async function requireUnheld(
	store: Pick<TopologyStore, "get">,
	id: string,
): Promise<{ readonly record: OperationRecord; readonly revision: string }> {
	const found = await requireRecord(store, id);
	const { record } = found;
	if (isOver(record)) {
		throw new CorkboardError("CONFLICT", `${id} is over: ${record.step}.`);
	}
	if (await isHeld(store, id)) {
		throw new CorkboardError(
			"CONFLICT",
			`${id} is still run by ${record.holder}. It can be taken over ${HOLDER_MS / 1_000} s after that has ended.`,
		);
	}
	return found;
}

function holderName(): string {
	return `${operator()}/${process.pid}-${randomBytes(3).toString("hex")}`;
}

function mayBeWritten(thrown: unknown): boolean {
	return (
		thrown instanceof CorkboardError &&
		thrown.code === "UNAVAILABLE" &&
		thrown.details.isUnknown === true
	);
}

function takenOver(id: string): CorkboardError {
	return new CorkboardError(
		"CONFLICT",
		`Somebody else has taken ${id} over, or it was written and removed. Look at it with: corkboard operations list.`,
	);
}

async function lockedBy(
	store: Pick<TopologyStore, "get">,
	hosts: readonly string[],
	thrown: unknown,
): Promise<unknown> {
	if (!(thrown instanceof CorkboardError) || thrown.code !== "CONFLICT") {
		return thrown;
	}
	for (const host of hosts) {
		const lock = await store.get(lockPath(host));
		if (lock === null) continue;
		return new CorkboardError(
			"CONFLICT",
			`${host} is locked by ${lock.text}. Resume or abort that: corkboard operations list.`,
			{ cause: thrown },
		);
	}
	return thrown;
}
