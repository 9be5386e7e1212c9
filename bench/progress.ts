import type { Cell } from "./cell.ts";

/** Lines on stderr, with the time since the start: stdout is for results. */
export class Progress {
	readonly #started = performance.now();

	get minutes(): number {
		return (performance.now() - this.#started) / 60_000;
	}

	say(text: string): void {
		const seconds = Math.round(this.minutes * 60);
		const clock = `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
		process.stderr.write(`${clock.padStart(6)}  ${text}\n`);
	}

	cell(cell: Cell): void {
		const { section, round, question, variant, requests, seconds } = cell;
		this.say(
			[
				`${section} ${round + 1}`.padEnd(10),
				question.padEnd(10),
				variant.padEnd(13),
				`${(requests / seconds).toFixed(0)}/s`.padStart(8),
				`cpu ${cell.cpuMs.toFixed(3)} ms`,
				`db ${cell.databaseMs.toFixed(2)}`,
				`p50 ${cell.p50.toFixed(1)} p99 ${cell.p99.toFixed(0)}`,
				`${cell.residentMb.toFixed(0)} MB`,
				...(cell.errors > 0
					? [`${cell.errors} errors: ${cell.firstError?.slice(0, 200)}`]
					: []),
			].join("  "),
		);
	}
}
