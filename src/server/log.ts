import { type DestinationStream, type Logger, pino } from "pino";
import type { LogSettings } from "../config/kinds.ts";

/**
 * The log: one JSON object or one line of text for each event. Both print
 * foreign text as a JSON string, so that it cannot add a line. No header is
 * logged on purpose; credentials that get in by mistake are redacted.
 */
export function createLog(
	options: LogSettings & {
		/** Default: standard output. */
		readonly destination?: DestinationStream;
	},
): Logger {
	const settings = {
		level: options.level,
		redact: [
			"authorization",
			"headers.authorization",
			"req.headers.authorization",
			"token",
			"variables",
		],
	};
	const destination = options.destination ?? standardOutput();
	if (options.format === "json") return pino(settings, destination);
	return pino(
		{ ...settings, base: null },
		{ write: (line: string) => destination.write(asText(line)) },
	);
}

/** Bytes of lines that wait for a disk with room; further ones are lost. */
const WAITING_BYTES = 1_000_000;

/** Lines wait so long for others. Milliseconds. */
const LINES_WAIT_MS = 10;
/** But no more than these characters: a pipe takes 4 KB as a whole, and the lines of several workers are not mixed up. */
const WAITING_LENGTH = 3_000;

/**
 * Lines are written together: a system call for each request would cost more than to
 * make its line. A warning or an error is written at once, with all lines before it.
 *
 * A disk that is full costs lines of the log, and not the server.
 */
function standardOutput(): DestinationStream {
	const output = pino.destination({
		fd: 1,
		sync: true,
		maxLength: WAITING_BYTES,
	});
	output.on("error", () => {});
	let waiting = "";
	let timer: NodeJS.Timeout | null = null;
	const flush = () => {
		if (timer !== null) clearTimeout(timer);
		timer = null;
		const lines = waiting;
		waiting = "";
		if (lines !== "") output.write(lines);
	};
	process.once("exit", flush);
	return {
		write(line) {
			waiting += line;
			if (isUrgent(line) || waiting.length > WAITING_LENGTH) flush();
			else timer ??= setTimeout(flush, LINES_WAIT_MS).unref();
		},
	};
}

/** The level is the first field of a line of JSON. Lines of text are for development, and not many. */
function isUrgent(line: string): boolean {
	return !/^\{"level":[1-3]0,/.test(line);
}

/** `12:00:00.000 info  request completed method="POST" status=200` */
function asText(line: string): string {
	const { level, time, msg, err, ...rest } = JSON.parse(line) as {
		level: number;
		time: number;
		msg?: string;
		err?: { stack?: string };
		[key: string]: unknown;
	};
	const clock = new Date(time).toISOString().slice(11, 23);
	const name = pino.levels.labels[level] ?? String(level);
	const values = Object.entries(rest).map(
		([key, value]) => ` ${key}=${JSON.stringify(value)}`,
	);
	const stack =
		err === undefined ? "" : ` err=${JSON.stringify(err.stack ?? err)}`;
	return `${clock} ${name.padEnd(5)} ${printable(msg ?? "")}${values.join("")}${stack}\n`;
}

/** Escapes line ends and terminal escapes. */
function printable(text: string): string {
	return JSON.stringify(text).slice(1, -1);
}
