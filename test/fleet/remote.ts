import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Program, startProgram } from "../helpers/program.ts";
import type { Order } from "./child.ts";

/** A process of its own, that does what it is told (child.ts). */
export interface Remote extends AsyncDisposable {
	tell(order: Order): Promise<unknown>;
	/** Without warning. */
	kill(): Promise<void>;
}

const CHILD = join(import.meta.dirname, "child.ts");
/** No order takes nearly as long (ms), even on busy cores. */
const LIMIT_MS = 60_000;

export async function startRemote(
	open: Omit<Order & { do: "open" }, "do">,
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
	const tell = async (order: Order) => {
		const asked = Promise.withResolvers<unknown>();
		const nth = ++last;
		waiting.set(nth, asked);
		const timer = setTimeout(
			() =>
				asked.reject(
					new Error(
						`expected an answer to ${order.do} but got: ${program.err()}`,
					),
				),
			LIMIT_MS,
		);
		program.stdin.write(`${JSON.stringify({ nth, order })}\n`);
		try {
			return await asked.promise;
		} finally {
			clearTimeout(timer);
		}
	};
	await tell({ do: "open", ...open });
	return {
		tell,
		async kill() {
			program.send("SIGKILL");
			await program.ended;
			// What it was asked is never answered.
			for (const { resolve } of waiting.values()) resolve(undefined);
		},
		[Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
	};
}
