/** Labels are chosen anew at most this often. Milliseconds. */
const REVIEW_MS = 60_000;
/** Operations without labels of their own that are counted, to find those that are frequent. */
const MAX_CANDIDATES = 1_000;
/** Characters kept of an operation's name, which the client chooses. */
const NAME_LENGTH = 100;
/** A label changes its operation only for one that is so many times as frequent: two that are alike would take turns. */
const MORE_FREQUENT = 2;
/** With fewer requests in the last minutes, an operation is not frequent. */
const LEAST_REQUESTS = 10;

interface Operation<Series> {
	readonly sha256: string;
	readonly name: string;
	/** Null if it shares the series of the others. */
	series: Series | null;
	/** Requests of the last minutes: halved at each review. */
	recent: number;
}

/**
 * Which operations of documents have series of their own: the most frequent of
 * the last minutes, up to a number. The first ones get theirs at once.
 *
 * A series that is given up stays as it is until as many others were given
 * up after it: of several workers one may give it up and another go on, and their
 * sum must not fall. An operation that becomes frequent again continues with it. So
 * there are at most twice as many series, and one for the others.
 *
 * What has no series of its own is counted as Misra and Gries do: a new operation
 * beyond `MAX_CANDIDATES` takes one from the count of each, so an operation that
 * is sent more often than one in so many requests is never missed.
 */
export class TopDocuments<Series> {
	readonly #limit: number;
	readonly #open: (document: string, operation: string) => Series;
	readonly #close: (document: string, operation: string) => void;
	readonly #now: () => number;
	readonly #documents = new Map<string, Map<string, Operation<Series>>>();
	readonly #candidates = new Set<Operation<Series>>();
	readonly #labeled = new Set<Operation<Series>>();
	/** Series that stay as they are, by their labels, the oldest first. */
	readonly #givenUp = new Map<string, Series>();
	#others: Series | null = null;
	#reviewedAt: number;

	constructor(options: {
		readonly limit: number;
		/** The series of these labels. */
		readonly open: (document: string, operation: string) => Series;
		/** It is not shown any more. */
		readonly close: (document: string, operation: string) => void;
		/** Milliseconds. */
		readonly now: () => number;
	}) {
		this.#limit = options.limit;
		this.#open = options.open;
		this.#close = options.close;
		this.#now = options.now;
		this.#reviewedAt = options.now();
	}

	/** Counts one request, and answers where it belongs. */
	count(sha256: string, name: string): Series {
		const operation =
			this.#documents.get(sha256)?.get(name) ?? this.#add(sha256, name);
		if (operation !== null) {
			operation.recent++;
			if (operation.series !== null) return operation.series;
		}
		this.#others ??= this.#open(OTHERS, OTHERS);
		return this.#others;
	}

	/** Gives series to what has become frequent, at most once a minute. */
	review(): void {
		const now = this.#now();
		if (now - this.#reviewedAt < REVIEW_MS) return;
		this.#reviewedAt = now;
		const rising = [...this.#candidates].sort((a, b) => b.recent - a.recent);
		const falling = [...this.#labeled].sort((a, b) => a.recent - b.recent);
		// So that a scrape does not change all at once.
		const most = Math.max(1, Math.floor(this.#limit / 10));
		for (const [at, next] of rising.slice(0, most).entries()) {
			const last = falling[at];
			if (
				last === undefined ||
				next.recent < LEAST_REQUESTS ||
				next.recent <= MORE_FREQUENT * last.recent
			) {
				break;
			}
			this.#giveUp(last);
			this.#label(next);
		}
		for (const operation of this.#labeled) {
			operation.recent = Math.floor(operation.recent / 2);
		}
		this.#lower((recent) => Math.floor(recent / 2));
	}

	/** Null for one that is not counted by itself. */
	#add(sha256: string, name: string): Operation<Series> | null {
		const isFull = this.#labeled.size >= this.#limit;
		if (isFull && this.#candidates.size >= MAX_CANDIDATES) {
			this.#lower((recent) => recent - 1);
			return null;
		}
		const operation = { sha256, name, series: null, recent: 0 };
		const operations = this.#documents.get(sha256) ?? new Map();
		this.#documents.set(sha256, operations);
		operations.set(name, operation);
		if (isFull) this.#candidates.add(operation);
		else this.#label(operation);
		return operation;
	}

	#label(operation: Operation<Series>): void {
		const labels = labelsOf(operation);
		const key = labels.join("\n");
		operation.series = this.#givenUp.get(key) ?? this.#open(...labels);
		this.#givenUp.delete(key);
		this.#candidates.delete(operation);
		this.#labeled.add(operation);
	}

	#giveUp(operation: Operation<Series>): void {
		const { series } = operation;
		this.#labeled.delete(operation);
		this.#candidates.add(operation);
		operation.series = null;
		if (series === null) return;
		this.#givenUp.set(labelsOf(operation).join("\n"), series);
		if (this.#givenUp.size <= this.#limit) return;
		for (const key of this.#givenUp.keys()) {
			const [document = "", name = ""] = key.split("\n");
			this.#givenUp.delete(key);
			this.#close(document, name);
			return;
		}
	}

	/** Candidates of which nothing is left are forgotten. */
	#lower(change: (recent: number) => number): void {
		for (const operation of this.#candidates) {
			operation.recent = change(operation.recent);
			if (operation.recent > 0) continue;
			this.#candidates.delete(operation);
			const operations = this.#documents.get(operation.sha256);
			operations?.delete(operation.name);
			if (operations?.size === 0) this.#documents.delete(operation.sha256);
		}
	}
}

const OTHERS = "other";

function labelsOf({
	sha256,
	name,
}: Pick<Operation<unknown>, "sha256" | "name">): readonly [
	document: string,
	operation: string,
] {
	return [sha256.slice(0, 12), name.slice(0, NAME_LENGTH)];
}
