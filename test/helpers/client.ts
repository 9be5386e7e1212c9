import assert from "node:assert/strict";

/** No answer takes nearly as long (ms), even on busy cores. */
const LIMIT_MS = 120_000;

export interface Answer {
	readonly status: number;
	readonly data?: unknown;
	readonly errors?: readonly {
		readonly message: string;
		readonly path?: readonly (string | number)[];
		readonly extensions: { readonly code: string; readonly fields?: unknown };
	}[];
	readonly extensions?: {
		readonly cost?: { readonly requested: number; readonly actual: number };
	};
}

export interface Asked {
	readonly variables?: Readonly<Record<string, unknown>>;
	/** Instead of the client's own; null for none. */
	readonly token?: string | null;
	/** Whether the answer is to come with `extensions.cost`. */
	readonly cost?: boolean;
}

/** Who asks a server over HTTP: an anonymous visitor, or the user of a token. */
export interface Client {
	post(query: string, asked?: Asked): Promise<Answer>;
	/** The data of an answer without errors. */
	data<T>(query: string, variables?: Asked["variables"]): Promise<T>;
	/** The code of the one error of an answer. */
	code(query: string, variables?: Asked["variables"]): Promise<string>;
}

export function client(url: string, ownToken: string | null = null): Client {
	async function post(
		query: string,
		{ variables, token = ownToken, cost = false }: Asked = {},
	): Promise<Answer> {
		const response = await fetch(`${url}/graphql`, {
			method: "POST",
			headers: {
				"content-type": "application/json",
				...(token === null ? {} : { authorization: `Bearer ${token}` }),
				...(cost ? { "corkboard-cost": "1" } : {}),
			},
			body: JSON.stringify({ query, variables }),
			signal: AbortSignal.timeout(LIMIT_MS),
		});
		const body = (await response.json()) as Omit<Answer, "status">;
		return { status: response.status, ...body };
	}
	return {
		post,
		async data<T>(query: string, variables: Asked["variables"] = {}) {
			const { status, data, errors } = await post(query, { variables });
			assert.deepEqual({ status, errors }, { status: 200, errors: undefined });
			return data as T;
		},
		async code(query, variables = {}) {
			const { errors = [] } = await post(query, { variables });
			assert.equal(errors.length, 1, JSON.stringify(errors));
			return errors[0]?.extensions.code ?? "none";
		},
	};
}
