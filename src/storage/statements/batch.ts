import type { ShardLocation } from "../driver.ts";
import type { Select, Write } from "./dialect.ts";

/** What a database says of a statement that writes. */
export interface Written {
	readonly affected: number;
	/** The local id of the first row that was inserted; the others follow it. */
	readonly firstId: number;
}

/** A SELECT, and what becomes of its rows. */
export interface BatchedSelect extends Omit<Select<unknown>, "read"> {
	readonly use: (rows: readonly (readonly unknown[])[]) => void;
}

type BatchedStatement<P extends ShardLocation> = {
	readonly location: P;
} & (
	| {
			/** With the same columns: if that is faster, they are one statement. */
			readonly questions: readonly BatchedSelect[];
	  }
	| { readonly write: Write; readonly use: (written: Written) => void }
);

/**
 * Statements that need no result of each other, and what becomes of their
 * results: they are executed in order, in one round trip if there are any.
 */
export class StatementBatch<P extends ShardLocation> {
	readonly steps: BatchedStatement<P>[] = [];

	/** Together they ask for shards of one host. */
	ask(location: P, ...questions: readonly BatchedSelect[]): void {
		this.steps.push({ location, questions });
	}

	write(
		location: P,
		write: Write,
		use: (written: Written) => void = () => {},
	): void {
		this.steps.push({ location, write, use });
	}

	writeAll(location: P, writes: readonly Write[]): void {
		for (const write of writes) this.write(location, write);
	}
}

export function batchedSelect<Result>(
	{ read, ...select }: Select<Result>,
	use: (results: readonly Result[]) => void,
): BatchedSelect {
	return { ...select, use: (rows) => use(read(rows)) };
}

/**
 * What is done on a database, written once for all: each batch that it yields
 * is executed before it continues, and its statements' results are used then.
 */
export type Procedure<P extends ShardLocation, Result> = Generator<
	StatementBatch<P>,
	Result,
	void
>;

/** Runs all of it at once, for a database that answers within the tick. */
export function runNow<P extends ShardLocation, Result>(
	procedure: Procedure<P, Result>,
	execute: (batch: StatementBatch<P>) => void,
): Result {
	for (;;) {
		const { done, value } = procedure.next();
		if (done) return value;
		execute(value);
	}
}

export async function run<P extends ShardLocation, Result>(
	procedure: Procedure<P, Result>,
	execute: (batch: StatementBatch<P>) => Promise<void>,
): Promise<Result> {
	for (;;) {
		const { done, value } = procedure.next();
		if (done) return value;
		await execute(value);
	}
}
