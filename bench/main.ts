/** `npm run bench`: Corkboard beside its peers; `npm run bench -- NAME` is one of the others. */
import { UsageError } from "./usageError.ts";

interface Bench {
	readonly about: string;
	readonly load: () => Promise<Loaded>;
}

/** A module that measures when it is loaded has neither. */
interface Loaded {
	readonly usage?: string;
	readonly run?: (args: readonly string[]) => Promise<number>;
}

const COMPARISON: Bench = {
	about: "Corkboard beside its peers, on one graph",
	load: () => import("./comparison.ts"),
};

const BENCHES: Readonly<Record<string, Bench>> = {
	guard: {
		about: "what one request takes; a test refuses more",
		load: () => import("./guard/main.ts"),
	},
	pairs: {
		about: "what a setting or a change adds to the CPU of a request",
		load: () => import("./pairs.ts"),
	},
	feed: {
		about: "home feeds: fan-out, lag, pages, disk",
		load: () => import("./feed/main.ts"),
	},
	standby: {
		about: "feed lists of a pair whose primary fails",
		load: () => import("./standby/main.ts"),
	},
	queue: {
		about: "the queue beside others",
		load: () => import("./queue/main.ts"),
	},
	board: {
		about: "how long the archiving of a large board takes",
		load: () => import("./queue/board.ts"),
	},
	rotation: {
		about: "how long an enqueue waits while disk is given back",
		load: () => import("./queue/rotation.ts"),
	},
	capacity: {
		about: "the tables of docs/capacity.md, from the inputs in its source",
		load: () => import("./capacity.ts"),
	},
};

const NAMES = [
	"Benchmarks (npm run bench -- NAME [options], NAME --help):",
	...Object.entries(BENCHES).map(
		([name, { about }]) => `  ${name.padEnd(10)}${about}`,
	),
].join("\n");

/** The named benchmark, and what is left of the command line. */
function chosen(args: readonly string[]): readonly [Bench, readonly string[]] {
	const [name = "", ...rest] = args;
	if (name === "" || name.startsWith("-")) return [COMPARISON, args];
	const bench = BENCHES[name];
	if (bench === undefined) {
		throw new UsageError(`There is no benchmark ${name}.`);
	}
	return [bench, rest];
}

let usage = NAMES;
let exitCode: number;
try {
	const [bench, args] = chosen(process.argv.slice(2));
	process.argv.splice(2, Number.POSITIVE_INFINITY, ...args);
	const { usage: own, run } = await bench.load();
	usage = own ?? NAMES;
	if (run !== undefined && args.includes("--help")) {
		console.log(bench === COMPARISON ? `${usage}\n\n${NAMES}` : usage);
		exitCode = 0;
	} else {
		exitCode = (await run?.(args)) ?? Number(process.exitCode ?? 0);
	}
} catch (error) {
	const isUsage = error instanceof UsageError;
	console.error(isUsage ? `${error.message}\n\n${usage}` : error);
	exitCode = isUsage ? 2 : 1;
}
// Everything is closed. What a failed start left behind must not keep the terminal waiting.
process.exit(exitCode);
