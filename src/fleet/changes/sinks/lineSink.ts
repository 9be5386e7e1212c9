import type { Change } from "../changeTypes.ts";
import { type Position, printPosition } from "../position.ts";
import type { ChangeSink } from "./changeSink.ts";
import { openPositionFile } from "./positionFile.ts";

interface LineSinkOptions {
	/** Resolves when their reader has taken the lines. */
	readonly write: (text: string) => Promise<void>;
	/** Where the position is kept as well; null: only the lines have it. */
	readonly positionFile: string | null;
	/** How often a line says the position. Milliseconds. */
	readonly everyMs?: number;
}

const EVERY_MS = 1_000;

/** Lines of NDJSON. Each second, and at the end, one says the position: `{"op":"position","position":"…"}`. */
export async function openLineSink({
	write,
	positionFile,
	everyMs = EVERY_MS,
}: LineSinkOptions): Promise<ChangeSink> {
	const file =
		positionFile === null ? null : await openPositionFile(positionFile);
	let saidAt = Number.NEGATIVE_INFINITY;
	let unsaid: (() => Position) | null = null;
	let said = "";
	const say = async () => {
		if (unsaid === null) return;
		const position = unsaid();
		unsaid = null;
		const printed = printPosition(position);
		if (printed === said) return;
		said = printed;
		saidAt = performance.now();
		await write(`${JSON.stringify({ op: "position", position: printed })}\n`);
		await file?.write(position);
	};
	return {
		begun: file?.kept?.position ?? null,
		async take(changes: readonly Change[], position: () => Position) {
			if (changes.length > 0) {
				await write(
					changes.map((change) => `${JSON.stringify(change)}\n`).join(""),
				);
			}
			unsaid = position;
			if (performance.now() - saidAt >= everyMs) await say();
		},
		async [Symbol.asyncDispose]() {
			using _ = file;
			await say();
		},
	};
}
