/** A response without data. `code` is `extensions.code` of its first error. */
export class RequestError extends Error {
	readonly code: string;
	readonly status: number;

	constructor(message: string, code: string, status: number) {
		super(message);
		this.name = "RequestError";
		this.code = code;
		this.status = status;
	}
}
