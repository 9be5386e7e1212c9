/**
 * All error codes. Codes with `client` may reach a client as `extensions.code`,
 * with their message; any other error reaches a client as INTERNAL. The codes
 * without it stop a start or a command and are printed to the operator.
 * `status` is the HTTP status when the whole request fails with the code.
 * `message` says what is wrong if nobody can say it more exactly.
 */
export const ERRORS = {
	/** The HTTP request itself is malformed. */
	BAD_REQUEST: {
		client: true,
		status: 400,
		message: "The request is malformed.",
	},
	GRAPHQL_PARSE_FAILED: {
		client: true,
		status: 400,
		message: "The document does not parse.",
	},
	GRAPHQL_VALIDATION_FAILED: {
		client: true,
		status: 400,
		message: "The document is invalid.",
	},
	OPERATION_RESOLUTION_FAILURE: {
		client: true,
		status: 400,
		message: "The document does not contain the operation.",
	},
	PERSISTED_QUERY_NOT_FOUND: {
		client: true,
		status: 400,
		message: "Document not found.",
	},
	BAD_USER_INPUT: {
		client: true,
		status: 400,
		message: "An argument is invalid.",
	},
	UNAUTHENTICATED: {
		client: true,
		status: 401,
		message: "The access token is missing or invalid.",
	},
	FORBIDDEN: {
		client: true,
		status: 403,
		message: "You may not do this.",
	},
	NOT_FOUND: {
		client: true,
		status: 404,
		message: "Not found.",
	},
	CONFLICT: {
		client: true,
		status: 409,
		message: "Another change conflicts with this one. Try again.",
	},
	TOO_EXPENSIVE: {
		client: true,
		status: 400,
		message: "The operation is over the cost limit.",
	},
	UNAVAILABLE: {
		client: true,
		status: 503,
		message: "Unavailable at the moment. Try again later.",
	},
	INTERNAL: {
		client: true,
		status: 500,
		message: "Something went wrong on our side.",
	},
	BAD_CONFIG: {
		client: false,
		status: 500,
		message: "A setting is invalid.",
	},
	BAD_MODEL: {
		client: false,
		status: 500,
		message: "The schema is invalid.",
	},
	BAD_TOPOLOGY: {
		client: false,
		status: 500,
		message: "The topology is invalid.",
	},
	BAD_DATA: {
		client: false,
		status: 500,
		message: "The input file is invalid.",
	},
	/** Enqueueing is refused: a queue has as many pending jobs as it may. */
	QUEUE_FULL: {
		client: false,
		status: 503,
		message: "The queue is full. Try again later.",
	},
	IN_USE: {
		client: false,
		status: 500,
		message: "In use by another process.",
	},
} as const satisfies Record<
	string,
	{
		readonly client: boolean;
		readonly status: number;
		readonly message: string;
	}
>;

export type ErrorCode = keyof typeof ERRORS;

export function isClientCode(code: string): code is ErrorCode {
	return Object.hasOwn(ERRORS, code) && ERRORS[code as ErrorCode].client;
}

/** What is wrong with one field of an input, for the form that the field is in. */
export interface FieldProblem extends FieldParameters {
	/** From the argument on: `["input", "image", "url"]`. */
	readonly path: readonly (string | number)[];
	/** `TAKEN` is a natural key that another object has. */
	readonly code: "REQUIRED" | "INVALID" | "TOO_LONG" | "TAKEN";
	/** A sentence for the person who filled in the field. */
	readonly message: string;
}

/** What the sentence of a field's problem says, for clients that word it themselves, in another language. */
export interface FieldParameters {
	/** The least number of characters, or the least number. */
	readonly min?: number;
	/** The most characters or items, or the greatest number. */
	readonly max?: number;
	/** The words of which it must be one. */
	readonly values?: readonly string[];
	/** The GraphQL type that the value does not fit. */
	readonly type?: string;
}

/**
 * An error with a code, worded for the person who must fix it. `details` are
 * for the log, never for a client.
 */
export class CorkboardError extends Error {
	readonly code: ErrorCode;
	readonly details: Readonly<Record<string, unknown>>;
	/** One entry for each refused field of an input. Clients get them as `extensions.fields`. */
	readonly fields: readonly FieldProblem[] | undefined;

	constructor(
		code: ErrorCode,
		message: string = ERRORS[code].message,
		options: {
			readonly cause?: unknown;
			readonly details?: Readonly<Record<string, unknown>>;
			readonly fields?: readonly FieldProblem[];
		} = {},
	) {
		super(message, "cause" in options ? { cause: options.cause } : undefined);
		// Now text. Until it is read it holds all that was being called, and errors are kept with their requests.
		void this.stack;
		this.name = "CorkboardError";
		this.code = code;
		this.details = options.details ?? {};
		this.fields = options.fields;
	}
}

/** Any thrown value as a CorkboardError: an unknown one becomes INTERNAL, with the value as its cause. */
export function asCorkboardError(thrown: unknown): CorkboardError {
	return thrown instanceof CorkboardError
		? thrown
		: new CorkboardError("INTERNAL", undefined, { cause: thrown });
}

/** Any thrown value as an error whose code and message clients may see. */
export function asClientError(thrown: unknown): CorkboardError {
	const error = asCorkboardError(thrown);
	return isClientCode(error.code)
		? error
		: new CorkboardError("INTERNAL", undefined, { cause: error });
}
