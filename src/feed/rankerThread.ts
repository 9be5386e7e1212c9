import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { parentPort, workerData } from "node:worker_threads";
import { namedReasonOf, reasonOf } from "../util/reasonOf.ts";
import type { Ranker, RankerCall, RankerMessage } from "./ranker.ts";

/** The functions of a ranker that the program calls. */
const FUNCTIONS = ["score", "arrange"] as const;

const port = parentPort as NonNullable<typeof parentPort>;
const { file } = workerData as { readonly file: string };

const send = (message: RankerMessage) => port.postMessage(message);

try {
	const loaded = (await import(pathToFileURL(resolve(file)).href)) as Ranker;
	const functions = FUNCTIONS.filter(
		(name) => typeof loaded[name] === "function",
	);
	if (functions.length === 0) {
		send({
			kind: "unusable",
			message: "it exports neither a function score nor arrange",
		});
	} else {
		port.on("message", (message) => void answer(loaded, message));
		send({ kind: "ready", functions });
	}
} catch (error) {
	send({ kind: "unusable", message: reasonOf(error) });
}

async function answer(
	ranker: Ranker,
	{ number, call }: { readonly number: number; readonly call: RankerCall },
): Promise<void> {
	try {
		const result =
			call.name === "score"
				? await ranker.score?.(...call.arguments)
				: await ranker.arrange?.(...call.arguments);
		send({ kind: "answer", number, result });
	} catch (error) {
		send({ kind: "answer", number, error: namedReasonOf(error) });
	}
}
