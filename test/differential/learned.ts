import type { ExecutionResult } from "graphql";

const CURSOR = "\u2063cursor ";
const TIMESTAMP = "\u2063timestamp ";

const MILLISECONDS = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** The oracle's stand-in for a cursor: it names the edge, because the oracle does not know the encoding. */
export function cursorOf(list: string, to: string): string {
	return `${CURSOR}${list} ${to}`;
}

/** The oracle's stand-in for an edge's timestamp: the line of the import, or nothing. */
export function timestampOf(line: number | null): string {
	return `${TIMESTAMP}${line ?? ""}`;
}

/**
 * Learns which real cursor or timestamp belongs to which stand-in, by comparing
 * responses side by side. The relation is one to one, and later lines have later
 * timestamps. A stand-in that contradicts this is not replaced, and shows as a
 * difference.
 */
export class Learned {
	readonly #real = new Map<string, string>();
	readonly #oracle = new Map<string, string>();
	readonly #byList = new Map<string, string[]>();
	readonly #lists: string[] = [];

	/** The edge of a real cursor; undefined if no response had the cursor. */
	edgeOf(cursor: string): { list: string; to: string } | undefined {
		const known = this.#oracle.get(cursor);
		if (known === undefined) return undefined;
		const cut = known.lastIndexOf(" ");
		return { list: known.slice(CURSOR.length, cut), to: known.slice(cut + 1) };
	}

	/** Known real cursors of a list. */
	of(list: string): readonly string[] {
		return this.#byList.get(list) ?? [];
	}

	get lists(): readonly string[] {
		return this.#lists;
	}

	/** The timestamps of lines, in line order. */
	timestamps(): readonly string[] {
		return [...this.#real]
			.filter(([known]) => known.startsWith(TIMESTAMP))
			.map(
				([known, real]) =>
					[Number(known.slice(TIMESTAMP.length)), real] as const,
			)
			.toSorted(([a], [b]) => a - b)
			.map(([, real]) => real);
	}

	/** The oracle's response with its stand-ins replaced by the real values. */
	translate(oracle: ExecutionResult, real: ExecutionResult): ExecutionResult {
		const data = this.#translate(oracle.data, real.data);
		return { ...oracle, data: data as NonNullable<ExecutionResult["data"]> };
	}

	#translate(oracle: unknown, real: unknown): unknown {
		if (typeof oracle === "string") {
			if (typeof real !== "string") return oracle;
			if (oracle.startsWith(CURSOR)) return this.#same(oracle, real);
			if (!oracle.startsWith(TIMESTAMP)) return oracle;
			const isTimestamp = MILLISECONDS.test(real);
			if (!isTimestamp) return oracle;
			return oracle === TIMESTAMP ? real : this.#same(oracle, real);
		}
		if (typeof oracle !== "object" || oracle === null) return oracle;
		const realValueOf = (key: string) =>
			typeof real === "object" && real !== null && Object.hasOwn(real, key)
				? (real as Record<string, unknown>)[key]
				: undefined;
		if (Array.isArray(oracle)) {
			return oracle.map((item, at) =>
				this.#translate(item, realValueOf(`${at}`)),
			);
		}
		const translated: Record<string, unknown> = Object.create(null);
		for (const [key, value] of Object.entries(oracle)) {
			translated[key] = this.#translate(value, realValueOf(key));
		}
		return translated;
	}

	/** The real text if the pair has always matched, else the stand-in. */
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
