import { writeSync } from "node:fs";
import { join } from "node:path";
import { CorkboardError } from "../../src/errors.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { importAll } from "../helpers/importing.ts";
import { type Program, startProgram } from "../helpers/program.ts";
import { readsWith, storageWith } from "../helpers/storageWith.ts";
import { type Addresses, openProcess } from "./fleet.ts";

/** An import that stops itself by SIGSTOP, once. */
export interface FrozenImport {
	readonly addresses: Addresses;
	readonly lines: readonly unknown[];
	/** After it has read which objects exist, or in the transaction that creates pins, holding its locks. */
	readonly at: "existing objects read" | "pins decided";
}

const FROZEN = "is paused";

/** Resolves when it is paused. Its outcome comes after SIGCONT, as `outcome: CODE`. */
export async function startFrozenImport(
	options: FrozenImport,
): Promise<Program> {
	const program = startProgram([], {
		command: [process.execPath, join(import.meta.dirname, "importChild.ts")],
		input: JSON.stringify(options),
	});
	try {
		await program.printed("out", new RegExp(FROZEN));
		return program;
	} catch (error) {
		await program[Symbol.asyncDispose]();
		throw error;
	}
}

async function main(): Promise<void> {
	let input = "";
	for await (const text of process.stdin.setEncoding("utf8")) input += text;
	const { addresses, lines, at } = JSON.parse(input) as FrozenImport;
	let isFrozen = false;
	const freeze = () => {
		if (isFrozen) return;
		isFrozen = true;
		writeSync(1, `${FROZEN}\n`);
		process.kill(process.pid, "SIGSTOP");
	};
	const freezing = (storage: Storage): Storage =>
		storageWith(storage, {
			read: readsWith(storage, {
				async lookups(keys, call) {
					const rows = await storage.read("lookups", keys, call);
					// A batch reads the import keys of all its lines at once.
					if (at === "existing objects read" && keys.length > 3) freeze();
					return rows;
				},
			}),
			transact: (transaction, trace) =>
				storage.transact(
					{
						...transaction,
						decide(reads) {
							const isOfPins = transaction.creates?.some(
								({ type }) => type === "Pin",
							);
							if (at === "pins decided" && isOfPins) freeze();
							return transaction.decide(reads);
						},
					},
					trace,
				),
		});
	await using importer = await openProcess(addresses, {
		cacheBytes: 0,
		overrides: { storage: freezing },
	});
	const outcome = await importAll(importer, lines).then(
		() => "done",
		(error) => (error instanceof CorkboardError ? error.code : String(error)),
	);
	writeSync(1, `outcome: ${outcome}\n`);
}

// Without `await`, so that a test that imports this file can share its process with others.
if (import.meta.main) void main();
