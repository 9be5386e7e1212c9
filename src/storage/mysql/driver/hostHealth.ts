import {
	type DatabaseHost,
	TOPOLOGY_CHANNELS,
} from "../../../topology/diagnostics.ts";
import { StorageFailure } from "../../storageFailure.ts";
import { HostPace } from "./hostPace.ts";

/** Failures in a row, with no answer between them, after which a host counts as down. */
const FAILURES = 3;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** At once: a host that is slow answers the first of them when others are on their way. */
const MOST_PROBES = 5;

/**
 * Whether a host answers. Once it does not, calls fail at once instead of each
 * waiting for its whole limit, and only this asks the host again, until it
 * answers. A host that is slow, or says no, answers: a call that was given up is no
 * failure where something came from the host meanwhile, on any connection.
 */
export class HostHealth implements Disposable {
	readonly #host: string;
	readonly #probe: () => Promise<void>;
	#failures = 0;
	#isDown = false;
	#pause = FIRST_PAUSE_MS;
	#timer: NodeJS.Timeout | null = null;
	#closed = false;
	#probes = 0;
	/** The pace of all connections to the host. */
	readonly pace: HostPace;

	/** `probe` rejects if the host does not answer. */
	constructor(host: string, probe: () => Promise<void>, now?: () => number) {
		this.pace = new HostPace(() => this.answered(), now);
		this.#host = host;
		this.#probe = probe;
	}

	/** Throws `hostDown` while the host is down. Nothing was sent then. */
	check(): void {
		if (!this.#isDown) return;
		throw new StorageFailure("hostDown", "The host is down.", {
			host: this.#host,
			statement: "none",
		});
	}

	answered(): void {
		if (this.#failures === 0) return;
		this.#failures = 0;
		if (!this.#isDown) return;
		this.#isDown = false;
		if (this.#timer !== null) clearTimeout(this.#timer);
		this.#pause = FIRST_PAUSE_MS;
		this.#report("up");
	}

	/** `hasConnection`: whether a connection to the host is open still. `since`: when the call began, by `performance.now()`. */
	failed(thrown: unknown, hasConnection: boolean, since: number): void {
		if (!isSilence(thrown) && (hasConnection || !isFull(thrown))) return;
		if (isLate(thrown) && this.pace.hasSpokenSince(since)) return;
		this.#failures++;
		if (this.#isDown || this.#failures < FAILURES || this.#closed) return;
		this.#isDown = true;
		this.#report("down", thrown);
		this.#probeLater();
	}

	[Symbol.dispose](): void {
		this.#closed = true;
		if (this.#timer !== null) clearTimeout(this.#timer);
	}

	/** The last call: its connections are closed. */
	left(): void {
		if (this.#isDown) this.#report("left");
	}

	#probeLater(): void {
		this.#timer = setTimeout(() => {
			if (this.#probes < MOST_PROBES) void this.#probeOnce();
			this.#probeLater();
		}, this.#pause).unref();
		this.#pause = Math.min(this.#pause * 2, LONGEST_PAUSE_MS);
	}

	async #probeOnce(): Promise<void> {
		this.#probes++;
		try {
			await this.#probe();
			this.answered();
		} catch {
			// The next one finds out.
		} finally {
			this.#probes--;
		}
	}

	#report(state: DatabaseHost["state"], error?: unknown): void {
		TOPOLOGY_CHANNELS.databaseHost.publish({
			host: this.#host,
			state,
			...(error !== undefined && { error }),
		});
	}
}

/** Whether the host takes no further connection. A process that has none is served as little as by a host that is silent. */
function isFull(thrown: unknown): boolean {
	return (
		thrown instanceof StorageFailure &&
		thrown.kind === "poolExhausted" &&
		thrown.errno !== null
	);
}

/** Whether no answer came in time, as of a host that is slow or silent. */
function isLate(thrown: StorageFailure | unknown): boolean {
	if (!(thrown instanceof StorageFailure)) return false;
	if (thrown.kind === "unknownOutcome") return isLate(thrown.cause);
	return thrown.kind === "timeout";
}

/** Whether the host said nothing: an error of the server is an answer, and a full pool is ours. */
function isSilence(thrown: unknown): thrown is StorageFailure {
	if (!(thrown instanceof StorageFailure)) return false;
	const { kind, errno, cause } = thrown;
	if (kind === "unknownOutcome") return isSilence(cause);
	return (kind === "timeout" || kind === "connectionLost") && errno === null;
}
