import { CorkboardError } from "../../errors.ts";

/** One line of `/metrics`. */
export interface Sample {
	readonly labels: Readonly<Record<string, string>>;
	readonly value: number;
}

/** All that a server said of itself at one moment. */
export interface Scrape {
	/** By name; a histogram's series end in `_bucket`, `_sum` and `_count`. */
	readonly samples: ReadonlyMap<string, readonly Sample[]>;
	/** `performance.now()` */
	readonly at: number;
}

/** For an answer. Milliseconds. */
const DEADLINE_MS = 5_000;

/** Reads `/metrics` of an admin address, such as `http://127.0.0.1:9464`, until the signal. Throws UNAVAILABLE. */
export async function scrape(
	url: string,
	signal?: AbortSignal,
): Promise<Scrape> {
	const address = `${url}/metrics`;
	const at = performance.now();
	let response: Response;
	let text: string;
	try {
		const late = AbortSignal.timeout(DEADLINE_MS);
		response = await fetch(address, {
			// What it shows is of now, even if the process is late.
			headers: { "cache-control": "no-cache" },
			signal: signal === undefined ? late : AbortSignal.any([late, signal]),
		});
		text = await response.text();
	} catch (error) {
		throw new CorkboardError(
			"UNAVAILABLE",
			`${address} does not answer: ${reasonOf(error)}.`,
			{ cause: error },
		);
	}
	if (!response.ok) {
		throw new CorkboardError(
			"UNAVAILABLE",
			`${address} answers ${response.status}: ${text.trim().slice(0, 200)}`,
		);
	}
	const samples = parseMetrics(text);
	if (!samples.has("corkboard_requests_total") && !hasCorkboard(samples)) {
		throw new CorkboardError(
			"UNAVAILABLE",
			`${address} is not the admin address of a Corkboard server.`,
		);
	}
	return { samples, at };
}

function hasCorkboard(samples: Scrape["samples"]): boolean {
	return [...samples.keys()].some((name) => name.startsWith("corkboard_"));
}

function reasonOf(error: unknown): string {
	if (!(error instanceof Error)) return String(error);
	if (error.name === "TimeoutError") return `no answer in ${DEADLINE_MS} ms`;
	// fetch says only "fetch failed".
	const { cause } = error;
	if (!(cause instanceof Error)) return error.message;
	const { code } = cause as NodeJS.ErrnoException;
	return code ?? cause.message;
}

const LINE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? ([^ ]+)(?: -?[0-9]+)?$/;
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"/g;

/** The text format of Prometheus. */
export function parseMetrics(text: string): Scrape["samples"] {
	const samples = new Map<string, Sample[]>();
	for (const line of text.split("\n")) {
		const [, name, labels = "", value = ""] = LINE.exec(line) ?? [];
		if (name === undefined) continue;
		const found = samples.get(name) ?? [];
		samples.set(name, found);
		found.push({ labels: labelsIn(labels), value: numberIn(value) });
	}
	return samples;
}

function labelsIn(text: string): Sample["labels"] {
	const labels: Record<string, string> = {};
	for (const [, name = "", value = ""] of text.matchAll(LABEL)) {
		labels[name] = value.replaceAll(/\\(.)/g, (_, character: string) =>
			character === "n" ? "\n" : character,
		);
	}
	return labels;
}

function numberIn(text: string): number {
	if (text === "+Inf") return Number.POSITIVE_INFINITY;
	return text === "-Inf" ? Number.NEGATIVE_INFINITY : Number(text);
}
