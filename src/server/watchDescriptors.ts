import { readFileSync } from "node:fs";
import { readdir } from "node:fs/promises";
import type { createLog } from "./log.ts";

/** Between two looks. Milliseconds. */
const EVERY_MS = 10_000;
/** From this share of the limit on there is a warning. */
const WARN_FROM = 0.9;
/** Looks between two warnings. */
const WARN_EVERY = 6;

interface DescriptorOptions {
	/** Has an entry for each open descriptor. */
	readonly folder: string;
	readonly limit: number;
	readonly everyMs?: number;
}

/** Warns while nearly all descriptors are open. At the limit new connections are closed without a word of Node's. */
export function watchDescriptors(
	log: Pick<ReturnType<typeof createLog>, "warn">,
	options: DescriptorOptions | null = descriptorsOfProcess(),
): Disposable {
	if (options === null) return { [Symbol.dispose]() {} };
	const { folder, limit, everyMs = EVERY_MS } = options;
	let looks = 0;
	const timer = setInterval(async () => {
		const open = await countIn(folder, limit);
		if (open < limit * WARN_FROM) looks = 0;
		else if (looks++ % WARN_EVERY === 0) {
			log.warn({ open, limit }, "descriptors nearly used up");
		}
	}, everyMs).unref();
	return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** The descriptors of this process; null if the system does not say, as on macOS. */
function descriptorsOfProcess(): DescriptorOptions | null {
	try {
		const limits = readFileSync("/proc/self/limits", "utf8");
		const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
		return Number.isInteger(limit) ? { folder: "/proc/self/fd", limit } : null;
	} catch {
		return null;
	}
}

async function countIn(folder: string, limit: number): Promise<number> {
	try {
		return (await readdir(folder)).length;
	} catch (error) {
		// To count them takes one.
		return (error as NodeJS.ErrnoException).code === "EMFILE" ? limit : 0;
	}
}
