/** What is wrong with one field of an input. */
export interface FieldError {
	/** From the argument: `["input", "username"]`. */
	readonly path: readonly (string | number)[];
	readonly code: string;
	/** A sentence for people. */
	readonly message: string;
	readonly min?: number;
	readonly max?: number;
	readonly values?: readonly string[];
	readonly type?: string;
}

/** Codes of requests that reached no server. */
const OFFLINE = "OFFLINE";
const NO_RESPONSE = "NO_RESPONSE";

/** In place of what `fetch` rejects with, which says "Failed to fetch". */
export function noResponse(): RequestError {
	return navigator.onLine
		? new RequestError(
				"The server does not answer. Try again in a moment.",
				NO_RESPONSE,
				0,
			)
		: new RequestError("You are offline.", OFFLINE, 0);
}

export function isOffline(error: Error | undefined): boolean {
	return error instanceof RequestError && error.code === OFFLINE;
}

/** A response without data. `code` is `extensions.code` of its first error. */
export class RequestError extends Error {
	readonly code: string;
	readonly status: number;
	/** Empty unless an input was refused. */
	readonly fields: readonly FieldError[];

	constructor(
		message: string,
		code: string,
		status: number,
		fields: readonly FieldError[] = [],
	) {
		super(message);
		this.name = "RequestError";
		this.code = code;
		this.status = status;
		this.fields = fields;
	}
}
