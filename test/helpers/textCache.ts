import { CacheEntry } from "../../src/cache/cacheEntry.ts";
import { LocalCache } from "../../src/cache/localCache.ts";
import type { CallOptions } from "../../src/trace.ts";

class Text extends CacheEntry {
	readonly text: string;

	constructor(text: string) {
		super(text.length);
		this.text = text;
	}

	override pack(into: Buffer): number {
		const { text } = this;
		const hasRoom = text.length * 3 <= into.length;
		return hasRoom && text.isWellFormed() ? into.write(text) : -1;
	}
}

/** For a cache whose texts are packed. */
export const unpackText = (
	_: string,
	from: Buffer,
	start: number,
	end: number,
): Text => new Text(from.toString("utf8", start, end));

type Options = ConstructorParameters<typeof LocalCache<Text>>[0];
type Load = (
	missing: readonly number[],
	call: CallOptions | undefined,
) => Promise<readonly (string | Error)[]>;
type ReadOptions = Omit<
	NonNullable<Parameters<LocalCache<Text>["read"]>[2]>,
	"suffices"
> & { readonly suffices?: (text: string) => boolean };

/** A local cache of strings that weigh their length, for tests of the cache itself. */
export class TextCache extends LocalCache<Text> {
	readonly #texts = this.partition("texts");

	constructor(options: Options) {
		super(options);
	}

	text(key: string): string | undefined {
		return this.entry(key)?.text;
	}

	entry(key: string): Text | undefined {
		return this.get(this.#texts, key);
	}

	async readTexts(
		keys: readonly string[],
		load: Load,
		{ suffices, ...options }: ReadOptions = {},
	): Promise<(string | Error)[]> {
		const read = await this.read<Error>(
			{ names: keys, partitionOf: () => this.#texts },
			async (missing, call) =>
				(await load(missing, call)).map((value) =>
					value instanceof Error ? value : new Text(value),
				),
			{
				...options,
				...(suffices && { suffices: (value) => suffices(value.text) }),
			},
		);
		return read.map((value) => (value instanceof Error ? value : value.text));
	}

	/** Puts it into the cache at once. */
	async fill(key: string, text: string): Promise<void> {
		await this.readTexts([key], async () => [text]);
	}

	invalidateText(key: string): void {
		this.invalidate(this.#texts, key);
	}
}
