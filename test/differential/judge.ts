import { type ExecutionResult, validate } from "graphql";
import type { Random } from "../../src/demo/random.ts";
import { difference } from "./compare.ts";
import { generate } from "./generate.ts";
import type { Learned } from "./learned.ts";
import type { Execute, Operation } from "./operation.ts";
import { shrink } from "./shrink.ts";
import type { Surroundings } from "./surroundings.ts";

/** Characters of an answer. */
const MOST_SHOWN = 2_000;

export interface Judges {
	readonly reference: Execute;
	/** Without it, the reference alone judges. */
	readonly oracle?: {
		/** Null where it does not know. */
		readonly answer: (operation: Operation) => Promise<ExecutionResult | null>;
		readonly learned: Learned;
	};
}

export interface Verdict {
	readonly answer: ExecutionResult;
	/** How the executor's answer differs from whose; null if it does not. */
	readonly mismatch: string | null;
	readonly byOracle: boolean;
}

/** One operation by the executor and by those who judge it. */
export async function judge(
	operation: Operation,
	executor: Execute,
	{ reference, oracle }: Judges,
): Promise<Verdict> {
	const answer = await executor(operation);
	const expected = await reference(operation);
	const differs = difference(expected, answer);
	if (differs !== null) {
		const mismatch = `from graphql-js: ${differs}`;
		return { answer, mismatch, byOracle: false };
	}
	const told = (await oracle?.answer(operation)) ?? null;
	if (oracle === undefined || told === null) {
		return { answer, mismatch: null, byOracle: false };
	}
	const inMemory = difference(oracle.learned.translate(told, answer), answer);
	const mismatch = inMemory && `from the oracle in memory: ${inMemory}`;
	return { answer, mismatch, byOracle: true };
}

/** So many operations; one that is not valid is a fault of the generator. */
export function* operations(
	random: Random,
	around: Surroundings,
	count: number,
	/** The share of them that are mutations. */
	mutations = 0,
): Generator<Operation> {
	for (let made = 0; made < count; ) {
		const kind = random.chance(mutations) ? "mutation" : "query";
		for (const operation of generate(random, around, kind)) {
			const [fault] = validate(around.schema, operation.document);
			if (fault) throw new Error(`not valid: ${fault}\n${operation.text}`);
			yield operation;
			made++;
		}
	}
}

/** Everything one needs to see of a mismatch, the document made as small as it goes. Not for mutations: they would run again. */
export async function report(
	seed: number,
	operation: Operation,
	executor: Execute,
	judges: Judges,
	around: Surroundings,
): Promise<string> {
	const small = await shrink(
		around.schema,
		operation,
		async (smaller) =>
			(await judge(smaller, executor, judges)).mismatch !== null,
	);
	const { mismatch } = await judge(small, executor, judges);
	return describe(seed, small, mismatch ?? "no longer, once it was shrunk", [
		await executor(small),
		await judges.reference(small),
	]);
}

export function describe(
	seed: number,
	{ text, variables, operationName, viewer }: Operation,
	mismatch: string,
	answers: readonly ExecutionResult[],
): string {
	return [
		`the answer differs ${mismatch}`,
		`seed ${seed}, viewer ${viewer}, operation ${operationName}`,
		text,
		`variables ${JSON.stringify(variables)}`,
		...answers.map((answer) => JSON.stringify(answer).slice(0, MOST_SHOWN)),
	].join("\n");
}
