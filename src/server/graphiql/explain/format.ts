export function count(number: number, noun: string): string {
	return `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;
}

export function time(ms: number): string {
	return `${ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0)} ms`;
}

/** The end of a SQLite host's path; a server's name as it is. */
export function shortHost(host: string): string {
	return host.split("/").filter(Boolean).at(-1) ?? host;
}

/** A number that has little room: `2.04M`. */
export function short(number: number): string {
	return number < 100_000
		? number.toLocaleString("en")
		: number.toLocaleString("en", {
				notation: "compact",
				maximumSignificantDigits: 3,
			});
}
