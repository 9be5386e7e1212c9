/**
 * The program's own command line, which stops itself (SIGSTOP) once it has printed
 * a line on stderr, and continues with SIGCONT, as after a suspended machine.
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
		if (text === line) process.kill(process.pid, "SIGSTOP");
	},
});
