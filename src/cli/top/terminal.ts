import { terminalText } from "../terminalText.ts";

/** A terminal that shows one page at a time, as `less` does. Disposing of it gives back what was on it. */
interface Terminal extends Disposable {
	size(): { readonly columns: number; readonly rows: number };
	/** Shows lines from the top, in place of what was shown. */
	show(lines: readonly string[]): void;
}

/** The parts of `process` that are used. */
interface TerminalStreams {
	readonly input: NodeJS.ReadStream;
	readonly output: NodeJS.WriteStream;
}

const ALTERNATE_SCREEN = "\x1b[?1049h";
const MAIN_SCREEN = "\x1b[?1049l";
const HIDE_CURSOR = "\x1b[?25l";
const SHOW_CURSOR = "\x1b[?25h";
const HOME = "\x1b[H";
const CLEAR_LINE = "\x1b[K";
const CLEAR_BELOW = "\x1b[J";
/** If a terminal does not say: as those of old. */
const DEFAULT_SIZE = { columns: 80, rows: 24 };

/** Null if input or output is no terminal. */
export function openTerminal(
	{ input, output }: TerminalStreams,
	on: { readonly key: (key: string) => void; readonly resize: () => void },
): Terminal | null {
	if (!input.isTTY || !output.isTTY) return null;
	const restore = () => {
		output.write(`${SHOW_CURSOR}${MAIN_SCREEN}`);
		input.setRawMode(false);
	};
	const onData = (data: Buffer) => on.key(data.toString("utf8"));
	// A bug must not leave a terminal that shows nothing that is typed.
	process.once("exit", restore);
	input.setRawMode(true);
	input.resume();
	input.on("data", onData);
	output.on("resize", on.resize);
	output.write(`${ALTERNATE_SCREEN}${HIDE_CURSOR}`);
	return {
		size: () => ({
			columns: output.columns || DEFAULT_SIZE.columns,
			rows: output.rows || DEFAULT_SIZE.rows,
		}),
		show(lines) {
			const text = lines
				.map((line) => terminalText(line) + CLEAR_LINE)
				.join("\r\n");
			output.write(`${HOME}${text}${CLEAR_BELOW}`);
		},
		[Symbol.dispose]() {
			process.off("exit", restore);
			input.off("data", onData);
			output.off("resize", on.resize);
			input.pause();
			restore();
		},
	};
}
