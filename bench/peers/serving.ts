import type { AddressInfo } from "node:net";

/** The database that this server reads. */
export function databaseUrl(): string {
	const url = process.env.DATABASE_URL;
	if (url === undefined) throw new Error("DATABASE_URL is missing.");
	return url;
}

/** The benchmark waits for this line. */
export function reportPort(address: string | AddressInfo | null): void {
	if (address === null || typeof address === "string") {
		throw new Error(`Expected a TCP port, got ${address}.`);
	}
	console.log(`listening on ${address.port}`);
}
