/**
 * The one table of error codes. `client` codes may reach a client as
 * `extensions.code` (CONTRACT: "Errors and identity"); the others stop a
 * start or a command and are printed to whoever runs it. `status` is the HTTP
 * status of a request that fails whole with that code.
 */
export const ERRORS = {
	BAD_USER_INPUT: { client: true, status: 400 },
	UNAUTHENTICATED: { client: true, status: 401 },
	FORBIDDEN: { client: true, status: 403 },
	NOT_FOUND: { client: true, status: 404 },
	CONFLICT: { client: true, status: 409 },
	TOO_EXPENSIVE: { client: true, status: 400 },
	UNAVAILABLE: { client: true, status: 503 },
	INTERNAL: { client: true, status: 500 },
	BAD_CONFIG: { client: false, status: 500 },
	BAD_MODEL: { client: false, status: 500 },
	BAD_TOPOLOGY: { client: false, status: 500 },
	BAD_DATA: { client: false, status: 500 },
	IN_USE: { client: false, status: 500 },
} as const satisfies Record<string, { client: boolean; status: number }>;

export type ErrorCode = keyof typeof ERRORS;

/**
 * An error worded for whoever must fix it: the message says what was expected
 * and what came instead. `details` is for the log, never for a client.
 */
export class CorkboardError extends Error {
	readonly code: ErrorCode;
	readonly details: Readonly<Record<string, unknown>>;

	constructor(
		code: ErrorCode,
		message: string,
		options: {
			readonly cause?: unknown;
			readonly details?: Readonly<Record<string, unknown>>;
		} = {},
	) {
		super(message, "cause" in options ? { cause: options.cause } : undefined);
		this.name = "CorkboardError";
		this.code = code;
		this.details = options.details ?? {};
	}
}

/** Whatever was thrown, as our own error: an unknown one becomes INTERNAL, its own words kept as the cause. */
export function asCorkboardError(thrown: unknown): CorkboardError {
	return thrown instanceof CorkboardError
		? thrown
		: new CorkboardError("INTERNAL", "Something went wrong on our side.", {
				cause: thrown,
			});
}
