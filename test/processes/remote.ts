import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Program, startProgram } from "../helpers/program.ts";
import type { Command } from "./child.ts";

/** A child process that executes commands (child.ts). */
export interface Remote extends AsyncDisposable {
	send(command: Command): Promise<unknown>;
	/** Sends SIGKILL. */
	kill(): Promise<void>;
	/** Sends SIGSTOP; SIGCONT with `thaw`. */
	freeze(): void;
	thaw(): void;
}

const CHILD = join(import.meta.dirname, "child.ts");
/** No command takes nearly as long (ms), even on busy cores. */
const LIMIT_MS = 60_000;

/** Runs a process with one command, to its end. Meanwhile nothing happens in this process: no timer runs, no socket is read. */
export function runRemoteSync(
	open: Omit<Command & { do: "open" }, "do">,
	command: Command,
): void {
	const commands: readonly Command[] = [{ do: "open", ...open }, command];
	const { stdout } = spawnSync(process.execPath, [CHILD], {
		input: commands
			.map((command, nth) => `${JSON.stringify({ nth, command })}\n`)
			.join(""),
		encoding: "utf8",
		timeout: LIMIT_MS,
	});
	assert.match(stdout, /"nth":1,"answer"/);
}

export async function startRemote(
	open: Omit<Command & { do: "open" }, "do">,
): Promise<Remote> {
	const program: Program = startProgram([], {
		command: [process.execPath, CHILD],
	});
	const waiting = new Map<number, PromiseWithResolvers<unknown>>();
	let last = 0;
	createInterface({ input: program.stdout }).on("line", (line) => {
		const { nth, answer, error } = JSON.parse(line);
		const asked = waiting.get(nth);
		waiting.delete(nth);
		if (error === undefined) asked?.resolve(answer);
		else asked?.reject(new Error(error));
	});
	const send = async (command: Command) => {
		const asked = Promise.withResolvers<unknown>();
		const nth = ++last;
		waiting.set(nth, asked);
		const timer = setTimeout(
			() =>
				asked.reject(
					new Error(
						`expected an answer to ${command.do} but got: ${program.err()}`,
					),
				),
			LIMIT_MS,
		);
		program.stdin.write(`${JSON.stringify({ nth, command })}\n`);
		try {
			return await asked.promise;
		} finally {
			clearTimeout(timer);
		}
	};
	await send({ do: "open", ...open });
	return {
		send,
		async kill() {
			program.send("SIGKILL");
			await program.ended;
			// Commands still open never get an answer.
			for (const { resolve } of waiting.values()) resolve(undefined);
		},
		freeze: () => program.send("SIGSTOP"),
		thaw: () => program.send("SIGCONT"),
		[Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
	};
}
