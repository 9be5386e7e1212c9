import {
	Environment,
	type FetchFunction,
	type GraphQLResponse,
	Network,
	RecordSource,
	Store,
} from "relay-runtime";
import { type FieldErrors, fieldErrors } from "./fieldErrors.ts";
import { patientFetch } from "./patientFetch.ts";

interface Answer {
	readonly data?: object | null;
	readonly errors?: readonly {
		readonly message: string;
		readonly extensions?: { readonly code?: string };
	}[];
}

/** The store of one viewer: create another environment for another token. */
export function createEnvironment(options: {
	readonly url: string;
	readonly token: string | null;
}): Environment {
	const { url, token } = options;
	const send: FetchFunction = async (document, variables) => {
		const response = await patientFetch(url, {
			method: "POST",
			headers: {
				accept: "application/graphql-response+json",
				"content-type": "application/json",
				...(token === null ? {} : { authorization: `Bearer ${token}` }),
			},
			// With a persistConfig the compiler writes an id instead of the text.
			body: JSON.stringify({
				...(document.id ? { id: document.id } : { query: document.text }),
				operationName: document.name,
				variables,
			}),
		});
		const answer = (await response.json()) as Answer;
		const [error] = answer.errors ?? [];
		// A mutation that failed is null, with an error.
		const refused =
			document.operationKind === "mutation" &&
			Object.values(answer.data ?? {}).includes(null);
		if (answer.data && !refused) return answer as GraphQLResponse;
		const message = error?.message ?? `The server answered ${response.status}.`;
		throw Object.assign(new Error(message), {
			code: error?.extensions?.code,
			fields: fieldErrors(error?.extensions),
		});
	};
	return new Environment({
		network: Network.create(send),
		store: new Store(new RecordSource()),
	});
}

/** The code to act on; messages are for people. Null if no response came from the server. */
export function codeOf(error: Error): string | null {
	return "code" in error && typeof error.code === "string" ? error.code : null;
}

/** What to show beside the fields of a form. */
export function fieldsOf(error: Error): FieldErrors {
	return "fields" in error ? (error.fields as FieldErrors) : {};
}
