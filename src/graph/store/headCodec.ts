import type { Id } from "../../id/ids.ts";
import { PRESENT } from "../../storage/storage.ts";
import type { Head } from "./store.ts";

/**
 * A head as one packed value, so that a hundred lists are one command:
 *
 *     1|from|count|lastSequence|epoch|complete|to:sequence:version,…
 *
 * All edges of a head are present. Text, as ids are decimal strings anyway: a
 * head of 32 edges is some 1,200 bytes, and reading it allocates no more than
 * the edges themselves.
 */
export function encodeHead({ edges, complete, list }: Head): string {
	const packed = edges.map(
		({ to, sequence, version }) => `${to}:${sequence}:${version}`,
	);
	return [
		VERSION,
		list.from,
		list.count,
		list.lastSequence,
		list.epoch,
		complete ? 1 : 0,
		packed.join(),
	].join("|");
}

/** Null for text that `printHead` did not write. */
export function decodeHead(text: string): Head | null {
	const [version, from, count, lastSequence, epoch, complete, packed, ...rest] =
		text.split("|");
	if (version !== VERSION || packed === undefined || rest.length > 0) {
		return null;
	}
	const list = {
		from: from as Id,
		count: Number(count),
		lastSequence: Number(lastSequence),
		epoch: Number(epoch),
	};
	const edges = (packed === "" ? [] : packed.split(",")).map((edge) => {
		const [to, sequence, edgeVersion] = edge.split(":");
		return {
			from: list.from,
			to: to as Id,
			sequence: Number(sequence),
			state: PRESENT,
			version: Number(edgeVersion),
		} as const;
	});
	const isWhole =
		DECIMAL.test(list.from) &&
		[list.count, list.lastSequence, list.epoch].every(Number.isSafeInteger) &&
		edges.every(
			(edge) =>
				DECIMAL.test(edge.to) &&
				Number.isSafeInteger(edge.sequence) &&
				Number.isSafeInteger(edge.version),
		);
	return isWhole ? { edges, complete: complete === "1", list } : null;
}

const VERSION = "1";
const DECIMAL = /^[0-9]{1,19}$/;
