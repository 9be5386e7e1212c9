import type { ExecutionResult } from "graphql";

const CURSOR = "\u2063cursor ";
const MOMENT = "\u2063moment ";

const MILLISECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** A cursor as the oracle writes it, who does not know how they are spelled: the edge it stands for. */
export function cursorOf(list: string, to: string): string {
	return `${CURSOR}${list} ${to}`;
}

/** A moment the oracle cannot know but by the import's line, or not at all. */
export function momentOf(line: number | null): string {
	return `${MOMENT}${line ?? ""}`;
}

/**
 * What the real cursors and moments were found to stand for, from answers seen
 * side by side. One edge has one cursor and one cursor one edge; lines that
 * come later have later moments. What contradicts that is left as it is, and so
 * is a difference.
 */
export class Learned {
	readonly #real = new Map<string, string>();
	readonly #oracle = new Map<string, string>();
	readonly #byList = new Map<string, string[]>();
	readonly #lists: string[] = [];

	/** The oracle's spelling of a real cursor: undefined if no answer had it. */
	edgeOf(cursor: string): { list: string; to: string } | undefined {
		const known = this.#oracle.get(cursor);
		if (known === undefined) return undefined;
		const cut = known.lastIndexOf(" ");
		return { list: known.slice(CURSOR.length, cut), to: known.slice(cut + 1) };
	}

	/** Real cursors of a list. */
	of(list: string): readonly string[] {
		return this.#byList.get(list) ?? [];
	}

	get lists(): readonly string[] {
		return this.#lists;
	}

	/** The moments of lines, in the order of the lines. */
	moments(): readonly string[] {
		return [...this.#real]
			.filter(([known]) => known.startsWith(MOMENT))
			.map(
				([known, real]) => [Number(known.slice(MOMENT.length)), real] as const,
			)
			.toSorted(([a], [b]) => a - b)
			.map(([, real]) => real);
	}

	/** The oracle's answer in the real one's spelling, wherever the real one says the same. */
	translate(oracle: ExecutionResult, real: ExecutionResult): ExecutionResult {
		const data = this.#translate(oracle.data, real.data);
		return { ...oracle, data: data as NonNullable<ExecutionResult["data"]> };
	}

	#translate(oracle: unknown, real: unknown): unknown {
		if (typeof oracle === "string") {
			if (typeof real !== "string") return oracle;
			if (oracle.startsWith(CURSOR)) return this.#same(oracle, real);
			if (!oracle.startsWith(MOMENT)) return oracle;
			const isMoment = MILLISECONDS.test(real);
			if (!isMoment) return oracle;
			return oracle === MOMENT ? real : this.#same(oracle, real);
		}
		if (typeof oracle !== "object" || oracle === null) return oracle;
		const beside = (key: string) =>
			typeof real === "object" && real !== null && Object.hasOwn(real, key)
				? (real as Record<string, unknown>)[key]
				: undefined;
		if (Array.isArray(oracle)) {
			return oracle.map((item, at) => this.#translate(item, beside(`${at}`)));
		}
		const translated: Record<string, unknown> = Object.create(null);
		for (const [key, value] of Object.entries(oracle)) {
			translated[key] = this.#translate(value, beside(key));
		}
		return translated;
	}

	/** The real text if the two have always stood for one another. */
	#same(oracle: string, real: string): string {
		const knownReal = this.#real.get(oracle);
		const knownOracle = this.#oracle.get(real);
		if (knownReal === undefined && knownOracle === undefined) {
			this.#real.set(oracle, real);
			this.#oracle.set(real, oracle);
			if (oracle.startsWith(CURSOR)) this.#keep(real);
		}
		return this.#real.get(oracle) === real && this.#oracle.get(real) === oracle
			? real
			: oracle;
	}

	#keep(cursor: string): void {
		const list = this.edgeOf(cursor)?.list as string;
		const cursors = this.#byList.get(list);
		if (cursors === undefined) {
			this.#byList.set(list, [cursor]);
			this.#lists.push(list);
		} else {
			cursors.push(cursor);
		}
	}
}
