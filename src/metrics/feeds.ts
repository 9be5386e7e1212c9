import type { Levels } from "../diagnostics.ts";

/** What feeds some metrics from diagnostics channels, until it is disposed. */
export type Feeds = readonly Disposable[];

/** Asks all sources of levels that take time; those who ask at once share one question. */
export function askingOnce<T>(
	levels: Levels<Promise<readonly T[]>>,
): () => Promise<readonly T[]> {
	let asked: Promise<readonly T[]> | null = null;
	return () => {
		asked ??= Promise.all(levels.read())
			.then((answers) => answers.flat())
			.finally(() => {
				asked = null;
			});
		return asked;
	};
}
