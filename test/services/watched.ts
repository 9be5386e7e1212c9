import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";

/**
 * Starts a program and, beside it, waits for the end of its own stdin, which
 * comes when the process that started it has ended, in whatever way (also
 * by SIGKILL): then it kills the program and removes the folder. A session of its own keeps Ctrl-C
 * away from the program: its parent decides when it stops.
 */
const SCRIPT = `
folder=$1 log=$2
shift 2
exec 4<&0 </dev/null
"$@" 4<&- >>"$log" 2>&1 &
program=$!
{ read -r _ <&4; trap "" TERM; kill -KILL "$program"; :; } >/dev/null 2>&1 &
watcher=$!
echo "$program"
exec 4<&- >&-
wait "$program"
code=$?
kill "$watcher"
wait "$watcher" && rm -rf "$folder"
exit "$code"
`;

/** A process that does not outlive this one. */
export interface Watched {
	readonly pid: number;
	/** When the process is gone, how it ended; as a shell counts, 128 and the signal's number for one that was killed. */
	readonly exited: Promise<string>;
	hasExited(): boolean;
}

export async function startWatched(
	command: readonly string[],
	options: {
		/** Its working folder, removed if this process ends before it does. */
		readonly folder: string;
		/** What it prints is added to this file. */
		readonly log: string;
	},
): Promise<Watched> {
	const shell: ChildProcess = spawn(
		"/bin/sh",
		["-c", SCRIPT, "watch", options.folder, options.log, ...command],
		{
			cwd: options.folder,
			detached: true,
			stdio: ["pipe", "pipe", "ignore"],
		},
	);
	const exited = once(shell, "exit").then(([code, signal]) =>
		code === null ? String(signal) : `exit code ${code}`,
	);
	const [first] = await Promise.race([
		once(shell.stdout as NonNullable<typeof shell.stdout>, "data"),
		exited.then((how) => {
			throw new Error(`expected sh to start but got: ${how}`);
		}),
	]);
	// A stdin that is gone already belongs to a program that is gone, too.
	shell.stdin?.on("error", () => {});
	return {
		pid: Number(String(first)),
		exited,
		hasExited: () => shell.exitCode !== null || shell.signalCode !== null,
	};
}
