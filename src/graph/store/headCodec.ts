import type { Id } from "../../id/ids.ts";
import { PRESENT } from "../../storage/storage.ts";
import type { Head } from "./store.ts";

/**
 * A head as one string, so that one command reads a hundred lists:
 *
 *     1|from|count|lastSequence|epoch|complete|to:sequence:version,…
 *
 * All edges of a head are present. It is text because ids are decimal strings
 * anyway: a head of 32 edges takes about 1,200 bytes, and decoding it allocates
 * only the edges.
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

/** Null for text that `encodeHead` did not write. */
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
	const isValid =
		DECIMAL.test(list.from) &&
		[list.count, list.lastSequence, list.epoch].every(Number.isSafeInteger) &&
		edges.every(
			(edge) =>
				DECIMAL.test(edge.to) &&
				Number.isSafeInteger(edge.sequence) &&
				Number.isSafeInteger(edge.version),
		);
	return isValid ? { edges, complete: complete === "1", list } : null;
}

const VERSION = "1";
const DECIMAL = /^[0-9]{1,19}$/;
