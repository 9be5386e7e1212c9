import { type ExecutionResult, validate } from "graphql";
import type { Random } from "../../src/util/random.ts";
import { difference } from "./compare.ts";
import { generate } from "./generate.ts";
import type { GraphSamples } from "./graphSamples.ts";
import type { Learned } from "./learned.ts";
import type { Execute, Operation } from "./operation.ts";
import { shrink } from "./shrink.ts";

/** Characters of a response in a report. */
const MAX_SHOWN = 2_000;

export interface Judges {
	readonly reference: Execute;
	/** Without it, only the reference judges. */
	readonly oracle?: {
		/** Null if the response is not determined. */
		readonly answer: (operation: Operation) => Promise<ExecutionResult | null>;
		readonly learned: Learned;
	};
}

export interface Verdict {
	readonly response: ExecutionResult;
	/** Describes the difference and names the judge; null if there is none. */
	readonly mismatch: string | null;
	readonly byOracle: boolean;
}

/** Executes one operation by the executor and the judges, and compares. */
export async function judge(
	operation: Operation,
	executor: Execute,
	{ reference, oracle }: Judges,
): Promise<Verdict> {
	const response = await executor(operation);
	const expected = await reference(operation);
	const differs = difference(expected, response);
	if (differs !== null) {
		const mismatch = `from graphql-js: ${differs}`;
		return { response, mismatch, byOracle: false };
	}
	const byOracle = (await oracle?.answer(operation)) ?? null;
	if (oracle === undefined || byOracle === null) {
		return { response, mismatch: null, byOracle: false };
	}
	const inMemory = difference(
		oracle.learned.translate(byOracle, response),
		response,
	);
	const mismatch = inMemory && `from the oracle in memory: ${inMemory}`;
	return { response, mismatch, byOracle: true };
}

/** `count` random operations. Throws for an invalid one: a bug of the generator. */
export function* operations(
	random: Random,
	samples: GraphSamples,
	count: number,
	/** The share of mutations. */
	mutations = 0,
): Generator<Operation> {
	for (let generated = 0; generated < count; ) {
		const kind = random.chance(mutations) ? "mutation" : "query";
		for (const operation of generate(random, samples, kind)) {
			const [error] = validate(samples.schema, operation.document);
			if (error)
				throw new Error(`invalid operation: ${error}\n${operation.text}`);
			yield operation;
			generated++;
		}
	}
}

/** A full description of a mismatch with a minimal document. Not for mutations, because shrinking executes the operation again. */
export async function reportMismatch(
	seed: number,
	operation: Operation,
	executor: Execute,
	judges: Judges,
	samples: GraphSamples,
): Promise<string> {
	const small = await shrink(
		samples.schema,
		operation,
		async (smaller) =>
			(await judge(smaller, executor, judges)).mismatch !== null,
	);
	const { mismatch } = await judge(small, executor, judges);
	return describeMismatch(
		seed,
		small,
		mismatch ?? "no longer, after shrinking",
		[await executor(small), await judges.reference(small)],
	);
}

export function describeMismatch(
	seed: number,
	{ text, variables, operationName, viewer }: Operation,
	mismatch: string,
	responses: readonly ExecutionResult[],
): string {
	return [
		`the response differs ${mismatch}`,
		`seed ${seed}, viewer ${viewer}, operation ${operationName}`,
		text,
		`variables ${JSON.stringify(variables)}`,
		...responses.map((response) =>
			JSON.stringify(response).slice(0, MAX_SHOWN),
		),
	].join("\n");
}
