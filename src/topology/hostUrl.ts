/** A host, taken apart: for now a folder with a SQLite file for each shard. */
export interface HostUrl {
	readonly scheme: "sqlite";
	readonly folder: string;
}

const SQLITE = "sqlite:";

/** Null for a URL whose scheme we have no driver for. */
export function parseHostUrl(url: string): HostUrl | null {
	const folder = url.slice(SQLITE.length);
	return url.startsWith(SQLITE) && folder !== ""
		? { scheme: "sqlite", folder }
		: null;
}
