import { seededRandom } from "../../../src/util/random.ts";

export const WORKERS = 3;
export const SUBJECTS = [
	"worker0",
	"worker1",
	"worker2",
	"mysql0",
	"mysql1",
	"redis",
] as const;
export type Subject = (typeof SUBJECTS)[number];

/** One fault of one process, `at` milliseconds after the beginning, for so long. */
export interface Fault {
	readonly subject: Subject;
	/** `freeze` is SIGSTOP, SIGCONT at its end; after `kill` (SIGKILL) and `stop` (SIGTERM) it is started again. */
	readonly kind: "freeze" | "kill" | "stop";
	readonly at: number;
	readonly ms: number;
}

/** How long a process is well between two faults, on average. */
const WELL_MS = { worker: 5_000, mysql: 12_000, redis: 9_000 };

/** What goes wrong when: the same for the same seed. Faults of one process do not overlap, those of different ones do. */
export function scheduleFaults(
	seed: number,
	totalMs: number,
): readonly Fault[] {
	return SUBJECTS.flatMap((subject, nth) => {
		const random = seededRandom(seed * 101 + nth);
		const faults: Fault[] = [];
		const role = subject.replace(/\d/, "") as keyof typeof WELL_MS;
		const well = WELL_MS[role];
		let at = random.integer(500, well * 2);
		while (at < totalMs - 1_000) {
			const kind = random.chance(0.5)
				? "freeze"
				: random.chance(role === "redis" ? 1 : 0.7)
					? "kill"
					: "stop";
			const longest =
				kind !== "freeze" ? 2_500 : random.chance(0.5) ? 11_000 : 2_000;
			const ms = Math.min(random.integer(200, longest), totalMs - at);
			faults.push({ subject, kind, at, ms });
			at += ms + random.integer(well / 4, well * 2);
		}
		return faults;
	}).toSorted((one, other) => one.at - other.at);
}
