/** What a client sent, and what came back. */
export interface Sent {
	readonly method: string;
	/** The parameters of the body, or of the address of a GET. */
	readonly parameters: Readonly<Record<string, unknown>>;
	readonly headers: Headers;
	readonly status: number;
}

/** All that is fetched in this process from now until it is disposed of. */
export function recording(): Disposable & { readonly sent: readonly Sent[] } {
	const sent: Sent[] = [];
	const { fetch } = globalThis;
	globalThis.fetch = async (input, init) => {
		const request = new Request(input, init);
		const parameters =
			request.method === "GET"
				? searchParameters(new URL(request.url))
				: ((await request.clone().json()) as Sent["parameters"]);
		const response = await fetch(request);
		const { method, headers } = request;
		sent.push({ method, parameters, headers, status: response.status });
		return response;
	};
	return {
		sent,
		[Symbol.dispose]() {
			globalThis.fetch = fetch;
		},
	};
}

/** The names of the operations that were sent with one, in order. */
export function operationsOf({
	sent,
}: {
	readonly sent: readonly Sent[];
}): readonly string[] {
	return sent.flatMap(({ parameters: { operationName } }) =>
		typeof operationName === "string" ? [operationName] : [],
	);
}

function searchParameters(url: URL): Sent["parameters"] {
	return Object.fromEntries(
		[...url.searchParams].map(([name, value]) => [
			name,
			name === "variables" || name === "extensions" ? JSON.parse(value) : value,
		]),
	);
}
