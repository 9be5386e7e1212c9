/**
 * The program's own command line, which is paused for good once it has printed
 * a line on stderr: a process that is killed then was at that step, and no further.
 * Arguments: the line, then those of the command.
 */
import { writeSync } from "node:fs";
import { processContext } from "../../src/cli/commandContext.ts";
import { main } from "../../src/cli/main.ts";

const [line, ...args] = process.argv.slice(2);
process.exitCode = await main(args, {
	...processContext(),
	stderr(text) {
		writeSync(2, `${text}\n`);
		if (text !== line) return;
		// Timers too: no sign of life goes out any more.
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
	},
});
