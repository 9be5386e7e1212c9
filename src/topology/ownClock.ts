import { sureSeconds } from "../util/sureSeconds.ts";
import { type DatabaseClock, TOPOLOGY_CHANNELS } from "./diagnostics.ts";

/** How far the clock of this process is from those of the database hosts that it has asked, most of which are taken to be right. */
export class OwnClock implements Disposable {
	/** How far each host's clock is surely before this process's. Seconds. */
	readonly #hosts = new Map<string, number>();
	readonly #onChange: (seconds: number) => void;
	#seconds = 0;

	/** `onChange` is called with whole seconds before (negative: behind) those of the hosts. */
	constructor(onChange: (seconds: number) => void) {
		this.#onChange = onChange;
		TOPOLOGY_CHANNELS.databaseClock.subscribe(this.#note);
	}

	readonly #note = (clock: DatabaseClock) => {
		this.#hosts.set(clock.host, sureSeconds(clock));
		const seconds = -Math.round(medianOf([...this.#hosts.values()])) || 0;
		if (seconds === this.#seconds) return;
		this.#seconds = seconds;
		this.#onChange(seconds);
	};

	[Symbol.dispose](): void {
		TOPOLOGY_CHANNELS.databaseClock.unsubscribe(this.#note);
	}
}

/** Of two in the middle, the one that is nearer to 0. */
function medianOf(values: readonly number[]): number {
	const sorted = values.toSorted((a, b) => a - b);
	const low = sorted[Math.floor((sorted.length - 1) / 2)] ?? 0;
	const high = sorted[Math.ceil((sorted.length - 1) / 2)] ?? 0;
	return Math.abs(low) <= Math.abs(high) ? low : high;
}
