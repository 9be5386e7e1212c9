/** `1,234 rows`; `many` if adding "s" does not make the plural. */
export function plural(count: number, one: string, many = `${one}s`): string {
	return `${formatNumber(count)} ${count === 1 ? one : many}`;
}

export function formatNumber(number: number): string {
	return number.toLocaleString("en");
}

/** Three significant digits or so: `0.42 ms`, `12.3 ms`, `345 ms`. */
export function formatMilliseconds(ms: number): string {
	return `${ms.toFixed(ms < 10 ? 2 : ms < 100 ? 1 : 0)} ms`;
}

/** `12 MB`, `1.2 GB` */
export function formatBytes(bytes: number): string {
	return bytes < 1e9
		? `${Math.ceil(bytes / 1e6)} MB`
		: `${(bytes / 1e9).toFixed(1)} GB`;
}
