/**
 * The highest GTID of each source that one process was acknowledged a COMMIT
 * with. A server numbers its transactions in the order in which it commits
 * them, so all up to the highest were committed: what of these a promoted
 * replica lacks is lost.
 */
export class AcknowledgedGtids {
	/** By `UUID`, or `UUID:TAG`. */
	readonly #highest = new Map<string, number>();

	/** `UUID:NUMBER`, as the server sends it with the answer to a COMMIT. */
	note(gtid: string): void {
		const colon = gtid.lastIndexOf(":");
		const number = Number(
			gtid.slice(Math.max(colon, gtid.lastIndexOf("-")) + 1),
		);
		if (colon < 0 || !Number.isSafeInteger(number)) return;
		const source = gtid.slice(0, colon);
		if (number > (this.#highest.get(source) ?? 0)) {
			this.#highest.set(source, number);
		}
	}

	/** As a set of MySQL, `UUID:1-NUMBER,…`; empty where nothing was acknowledged. */
	get set(): string {
		return [...this.#highest]
			.map(([source, number]) => `${source}:1-${number}`)
			.join(",");
	}
}
