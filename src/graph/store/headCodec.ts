import type { Id } from "../../id/ids.ts";
import type { Position } from "../../storage/storage.ts";
import { Head } from "./head.ts";

/**
 * A head as one string, so that one command reads a hundred lists:
 *
 *     2|from|count|epoch|complete|to:sequence,…
 *
 * It is text because ids are decimal strings anyway: a head of 32 edges takes
 * about 1,200 bytes.
 */
export function encodeHead(head: Head): string {
	const { from, count, epoch, complete } = head;
	const edges = head
		.slice()
		.map(({ to, sequence }) => `${to}:${sequence}`)
		.join();
	return `${VERSION}|${from}|${count}|${epoch}|${complete ? 1 : 0}|${edges}`;
}

/**
 * Null for text that `encodeHead` did not write for the list of `from`. The head
 * has that string, because V8 keeps the whole text for as long as a part of it.
 */
export function decodeHead(text: string, from: Id): Head | null {
	const [version, owner, count, epoch, complete, packed, ...rest] =
		text.split("|");
	if (version !== VERSION || packed === undefined || rest.length > 0) {
		return null;
	}
	const list = {
		from,
		count: Number(count),
		epoch: Number(epoch),
		complete: complete === "1",
	};
	const edges = (packed === "" ? [] : packed.split(",")).map(
		(edge): Position => {
			const colon = edge.indexOf(":");
			return {
				to: edge.slice(0, colon) as Id,
				sequence: Number(edge.slice(colon + 1)),
			};
		},
	);
	const isValid =
		owner === from &&
		[list.count, list.epoch].every(Number.isSafeInteger) &&
		edges.every(
			({ to, sequence }) => DECIMAL.test(to) && Number.isSafeInteger(sequence),
		);
	return isValid ? new Head(list, edges) : null;
}

const VERSION = "2";
const DECIMAL = /^[0-9]{1,19}$/;
