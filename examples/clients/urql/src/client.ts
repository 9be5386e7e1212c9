import {
	Client,
	type CombinedError,
	cacheExchange,
	type Exchange,
	fetchExchange,
} from "urql";
import { type FieldErrors, fieldErrors } from "./fieldErrors.ts";
import { patientFetch } from "./patientFetch.ts";

export function createClient(options: {
	readonly url: string;
	readonly token: () => string | null;
	/** Between the cache and the network, for example persisted documents. */
	readonly exchanges?: readonly Exchange[];
}): Client {
	return new Client({
		url: options.url,
		exchanges: [cacheExchange, ...(options.exchanges ?? []), fetchExchange],
		preferGetMethod: false,
		fetch: patientFetch,
		fetchOptions() {
			const token = options.token();
			return token === null
				? {}
				: { headers: { authorization: `Bearer ${token}` } };
		},
	});
}

/** The code to act on; messages are for people. Null if no response came from the server. */
export function codeOf(error: CombinedError): string | null {
	const code = error.graphQLErrors[0]?.extensions.code;
	return typeof code === "string" ? code : null;
}

/** What to show beside the fields of a form. */
export function fieldsOf(error: CombinedError): FieldErrors {
	return fieldErrors(error.graphQLErrors[0]?.extensions);
}
