import { Agent, request } from "node:http";
import { json } from "node:stream/consumers";
import { signToken } from "../requests.ts";

const LIMIT_MS = 60_000;

/** Sends operations to a server, each as one user. */
export class FeedClient implements Disposable {
	readonly #agent = new Agent({ keepAlive: true, maxSockets: 64 });
	readonly #port: number;
	readonly #tokens = new Map<string, string>();

	constructor(port: number) {
		this.#port = port;
	}

	/** The data; throws if there are errors. */
	async ask<T>(
		viewer: string,
		query: string,
		variables: Readonly<Record<string, unknown>> = {},
	): Promise<T> {
		const token = this.#tokens.get(viewer) ?? (await signToken(viewer));
		this.#tokens.set(viewer, token);
		const { promise, resolve, reject } = Promise.withResolvers<T>();
		request(
			{
				host: "127.0.0.1",
				port: this.#port,
				path: "/graphql",
				method: "POST",
				agent: this.#agent,
				headers: {
					"content-type": "application/json",
					authorization: `Bearer ${token}`,
				},
				timeout: LIMIT_MS,
			},
			(response) => {
				json(response).then((body) => {
					const { data, errors } = body as { data: T; errors?: unknown };
					if (errors === undefined) resolve(data);
					else reject(new Error(JSON.stringify(errors).slice(0, 500)));
				}, reject);
			},
		)
			.on("error", reject)
			.end(JSON.stringify({ query, variables }));
		return promise;
	}

	[Symbol.dispose](): void {
		this.#agent.destroy();
	}
}
