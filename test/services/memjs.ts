import { createRequire } from "node:module";

/** As much of a memjs client as these tests use; the package has no types. */
interface Client {
	set(key: string, value: string, options: object): Promise<boolean>;
	get(key: string): Promise<{ readonly value: Buffer | null }>;
	close(): void;
}

const { Client } = createRequire(import.meta.url)("memjs") as {
	readonly Client: {
		create(servers: string, options: object): Client;
	};
};

export function memjsClient(address: string): Client {
	return Client.create(address, { timeout: 60, retries: 0 });
}
