import { formatNumber } from "../../../util/format.ts";

/** The file name of a SQLite host; the name of a server as it is. */
export function shortHost(host: string): string {
	return host.split("/").filter(Boolean).at(-1) ?? host;
}

/** At most six characters: `2.04M`. */
export function formatShort(number: number): string {
	return number < 100_000
		? formatNumber(number)
		: number.toLocaleString("en", {
				notation: "compact",
				maximumSignificantDigits: 3,
			});
}
