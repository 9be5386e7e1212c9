import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Options } from "./attack.ts";
import { SERVICES } from "./attackFleet.ts";
import type { Fault } from "./schedule.ts";

const FOLDER = join(import.meta.dirname, "recorded");

/**
 * A run that broke a promise, with its faults as data: it stays the same
 * whatever becomes of the generator of schedules. The clients' random choices
 * follow from the seed, the timing from the machine. So a repetition does
 * the same to the fleet, and not the same requests at the same moments.
 */
export interface RecordedRun
	extends Pick<Options, "seed" | "minutes" | "servers" | "clients"> {
	/** The version that broke the promise. */
	readonly version: string;
	/** What readers saw. */
	readonly found: string;
	readonly faults: readonly Fault[];
}

/** All that are kept, by name. */
export function recordedRuns(): ReadonlyMap<string, RecordedRun> {
	const names = readdirSync(FOLDER).toSorted();
	return new Map(
		names.map((name) => [
			name.replace(/\.json$/, ""),
			readRecordedRun(join(FOLDER, name)),
		]),
	);
}

/** Throws a sentence if the file is not a run. */
export function readRecordedRun(file: string): RecordedRun {
	const run = JSON.parse(readFileSync(file, "utf8")) as RecordedRun;
	const problem = problemOf(run);
	if (problem !== null) throw new Error(`${file}: ${problem}.`);
	return run;
}

function problemOf(run: RecordedRun): string | null {
	const { seed, minutes, servers, clients, version, found, faults } = run;
	if (![seed, servers, clients].every(Number.isInteger) || !(minutes > 0)) {
		return "expected numbers seed, minutes, servers and clients";
	}
	if (typeof version !== "string" || typeof found !== "string") {
		return "expected texts version and found";
	}
	if (!Array.isArray(faults)) return "expected a list faults";
	for (const [at, fault] of faults.entries()) {
		const problem = problemOfFault(fault, servers);
		if (problem !== null) return `faults[${at}]: ${problem}`;
		if (fault.at < (faults[at - 1]?.at ?? 0)) {
			return `faults[${at}]: expected faults in the order of their times`;
		}
	}
	return null;
}

/** Else the driver would carry out another fault, or none. */
function problemOfFault(fault: Fault, servers: number): string | null {
	if (!(fault.at >= 0 && fault.ms >= 0)) return "expected numbers at and ms";
	const isServer = (server: unknown) =>
		Number.isInteger(server) && (server as number) < servers;
	const isService = (name: unknown) => SERVICES.some((one) => one === name);
	switch (fault.kind) {
		case "links":
			return fault.services.every(isService) &&
				fault.sides.every((side) => side === "all" || isServer(side)) &&
				DISTURBANCES.has(fault.disturbance.kind)
				? null
				: "expected services, sides and a disturbance";
		case "freeze":
		case "kill":
			return isServer(fault.server)
				? null
				: `expected a server below ${servers}`;
		case "pause":
		case "restart":
			return isService(fault.service) ? null : "expected a service";
		case "caches":
			return [fault.objects, fault.lists].every((n) => n === 1 || n === 2)
				? null
				: "expected objects and lists of 1 or 2";
		case "move":
			return LISTS.has(fault.list) &&
				ENDS.has(fault.end) &&
				Array.isArray(fault.kills)
				? null
				: "expected a list, an end and kills";
		case "topology":
		case "verify":
		case "import":
			return null;
		default:
			return `unknown kind ${JSON.stringify((fault as Fault).kind)}`;
	}
}

const LISTS: ReadonlySet<string> = new Set(["shards", "lookups"]);
const ENDS: ReadonlySet<string> = new Set(["complete", "reverse", "cancel"]);
const DISTURBANCES: ReadonlySet<string> = new Set(["cut", "hold", "slow"]);
