import {
	Environment,
	type FetchFunction,
	type GraphQLResponse,
	Network,
	RecordSource,
	Store,
} from "relay-runtime";
import { patientFetch } from "./patientFetch.ts";
import { type FieldError, noResponse, RequestError } from "./requestError.ts";

/** One viewer's store: another token is another environment. */
export function createEnvironment(options: {
	readonly url: string;
	readonly token: string | null;
	/** The token is forged, has expired, or names nobody. */
	readonly onRefused: () => void;
}): Environment {
	const { url, token, onRefused } = options;
	const send: FetchFunction = async (document, variables) => {
		const response = await answered(url, {
			method: "POST",
			headers: {
				accept: "application/graphql-response+json",
				"content-type": "application/json",
				// By which the server's operators see which clients use what.
				"x-client-name": "pinboard",
				...(token === null ? {} : { authorization: `Bearer ${token}` }),
			},
			// With persistConfig the compiler emits an id and no text.
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
		if (response.status === 401) onRefused();
		throw new RequestError(
			error?.message ?? `The server answered ${response.status}.`,
			error?.extensions?.code ?? "UNKNOWN",
			response.status,
			error?.extensions?.fields,
		);
	};
	return new Environment({
		network: Network.create(send),
		store: new Store(new RecordSource()),
	});
}

async function answered(url: string, init: RequestInit): Promise<Response> {
	try {
		return await patientFetch(url, init);
	} catch {
		throw noResponse();
	}
}

interface Answer {
	readonly data?: object | null;
	readonly errors?: readonly {
		readonly message: string;
		readonly extensions?: {
			readonly code?: string;
			readonly fields?: readonly FieldError[];
		};
	}[];
}
