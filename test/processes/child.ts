import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { createWrites } from "../../src/graph/write/createWrites.ts";
import type { Id } from "../../src/id/ids.ts";
import { archive } from "../../src/ops/jobs/archive.ts";
import { type Addresses, openProcess, type ProcessOptions } from "./fleet.ts";
import { both, unreachable } from "./naive.ts";
import type { Held } from "./pauses.ts";

/** A command for the child process, one line of JSON. It answers each with a line of JSON. */
export type Command =
	| {
			readonly do: "open";
			readonly addresses: Addresses;
			readonly as: "ours" | "naive" | "unreachable";
			readonly channel: boolean;
			/** Whether its clock is stopped: local cache entries do not expire. */
			readonly clockStopped?: boolean;
	  }
	/** Answered when the process reaches that step, where it then waits. */
	| { readonly do: "reach"; readonly step: string }
	| { readonly do: "release"; readonly step: string }
	/** Answered when the process stops itself (SIGSTOP) in its next transaction: rows are locked, COMMIT is not sent. */
	| { readonly do: "freeze" }
	/** Answered when the write is done. */
	| {
			readonly do: "edge";
			readonly mapping: string;
			readonly from: Id;
			readonly to: Id;
			readonly present: boolean;
	  }
	| { readonly do: "modify"; readonly id: Id; readonly details: string }
	/** Deletes a board, which leaves a job, by the outbox or as nobody should: by a call before or after the write. */
	| {
			readonly do: "remove";
			readonly id: Id;
			readonly job: "by outbox" | "before" | "after";
	  }
	| { readonly do: "head"; readonly mapping: string; readonly from: Id }
	| { readonly do: "object"; readonly id: Id }
	| { readonly do: "news" }
	/** Takes all entries that are due, and does nothing with them. */
	| { readonly do: "take" };

const KINDS: Readonly<
	Record<
		(Command & { do: "open" })["as"],
		NonNullable<ProcessOptions["overrides"]>
	>
> = {
	ours: {},
	naive: {
		// It writes no invalidations into the outbox.
		store: (store) => store.with({ sharesCaches: false }),
	},
	unreachable: { layers: both(unreachable) },
};

const held = new Map<string, Held>();
let opening: ReturnType<typeof openProcess> | undefined;

async function execute(
	command: Command,
	answer: (value: unknown) => void,
): Promise<unknown> {
	if (command.do === "open") {
		const { addresses, as, channel, clockStopped = false } = command;
		opening = openProcess(addresses, {
			channel,
			overrides: KINDS[as],
			...(clockStopped && { now: () => 0 }),
		});
		await opening;
		return "opened";
	}
	const opened = await opening;
	if (opened === undefined) throw new TypeError("expected to be open");
	const { writes, pauses } = opened;
	switch (command.do) {
		case "reach": {
			const step = pauses.hold(command.step);
			held.set(command.step, step);
			await step.reached;
			return command.step;
		}
		case "release":
			held.get(command.step)?.release();
			return command.step;
		case "freeze":
			return new Promise(() => {
				pauses.stopAt("decided", () => {
					answer("frozen");
					process.kill(process.pid, "SIGSTOP");
				});
			});
		case "edge":
			await writes.setEdge(
				opened.mapping(command.mapping),
				command.from,
				command.to,
				command.present,
			);
			return "done";
		case "modify":
			await writes.modify(command.id, (data) => ({
				...data,
				details: command.details,
			}));
			return "done";
		case "remove": {
			const { id, job } = command;
			if (job === "by outbox") {
				await writes.remove(id);
				// The job is enqueued in the background.
				await opened.store.jobs?.deliveries.flush();
				return "done";
			}
			const enqueue = () => opened.queue?.jobs.enqueue(archive, { ids: [id] });
			if (job === "before") await enqueue();
			await createWrites(opened.store.with({ jobs: null })).remove(id);
			if (job === "after") await enqueue();
			return "done";
		}
		case "head":
			return opened.head(command.mapping, command.from);
		case "object":
			return opened.object(command.id);
		case "take": {
			const { storage } = opened;
			const due = await storage.pendingEntries({ olderThanMs: 0, limit: 100 });
			return storage.takeEntries(due, (Date.now() + 5_000) * 1_000);
		}
		case "news":
			return opened.news;
	}
}

if (process.argv[1] === import.meta.filename) {
	const running: Promise<void>[] = [];
	for await (const line of createInterface({ input: process.stdin })) {
		const { nth, command } = JSON.parse(line) as {
			nth: number;
			command: Command;
		};
		// Written at once, also by a process that stops itself then.
		const print = (said: object) =>
			writeSync(1, `${JSON.stringify({ nth, ...said })}\n`);
		const answer = (value: unknown) => {
			print({ answer: value });
		};
		const done = execute(command, answer).then(answer, (error) => {
			print({ error: String(error) });
		});
		if (command.do !== "freeze") running.push(done);
	}
	await Promise.all(running);
	await (await opening)?.[Symbol.asyncDispose]();
}
