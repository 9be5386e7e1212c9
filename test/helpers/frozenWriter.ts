import { writeSync } from "node:fs";
import { CorkboardError } from "../../src/errors.ts";
import type { Id } from "../../src/id/ids.ts";
import type { MysqlLimits } from "../../src/storage/mysql/mysqlStorage.ts";
import type { Storage } from "../../src/storage/storage.ts";
import { openMysql } from "./mysqlStorage.ts";
import { startProgram } from "./program.ts";
import { MAPPINGS } from "./storageModel.ts";
import { toggle } from "./storing.ts";

/** A like, in whose transaction the process stops itself by SIGSTOP, holding the list's row lock. */
export interface FrozenLike {
	readonly url: string;
	readonly limits: Partial<MysqlLimits>;
	readonly from: Id;
	readonly to: Id;
}

export interface FrozenWriter extends AsyncDisposable {
	/** Sends SIGCONT. Resolves with what became of the write: `done`, or the code and kind of its error. */
	thaw(): Promise<string>;
}

const FROZEN = "holds the lock";

/** Resolves when the process holds the lock and is paused. */
export async function startFrozenWriter(
	like: FrozenLike,
): Promise<FrozenWriter> {
	const program = startProgram([JSON.stringify(like)], {
		command: [process.execPath, import.meta.filename],
		input: "",
	});
	try {
		await program.printed("out", new RegExp(FROZEN));
	} catch (error) {
		await program[Symbol.asyncDispose]();
		throw error;
	}
	return {
		async thaw() {
			program.send("SIGCONT");
			const [, outcome = ""] = await program.printed("out", /outcome: (.*)\n/);
			return outcome;
		},
		[Symbol.asyncDispose]: () => program[Symbol.asyncDispose](),
	};
}

if (process.argv[1] === import.meta.filename) {
	const like = JSON.parse(process.argv[2] ?? "") as FrozenLike;
	await using storage = await openMysql(like.url, { limits: like.limits });
	const { from, to } = like;
	let isFrozen = false;
	const freeze = () => {
		if (isFrozen) return;
		isFrozen = true;
		writeSync(1, `${FROZEN}\n`);
		process.kill(process.pid, "SIGSTOP");
	};
	const freezing: Pick<Storage, "transact"> = {
		transact: (transaction, trace) =>
			storage.transact(
				{
					...transaction,
					decide(reads) {
						const writes = transaction.decide(reads);
						freeze();
						return writes;
					},
				},
				trace,
			),
	};
	let outcome = "done";
	try {
		await toggle(freezing, MAPPINGS.likedBy, from, to, true);
	} catch (error) {
		outcome =
			error instanceof CorkboardError
				? `${error.code} ${error.details.kind}`
				: String(error);
	}
	writeSync(1, `outcome: ${outcome}\n`);
}
