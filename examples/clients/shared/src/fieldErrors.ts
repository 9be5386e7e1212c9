/** What is wrong with one field of an input: an entry of `extensions.fields`. */
export interface FieldError {
	/** From the argument: `["input", "username"]`. */
	readonly path: readonly (string | number)[];
	readonly code: "REQUIRED" | "INVALID" | "TOO_LONG" | "TAKEN";
	/** A sentence for people, in English. */
	readonly message: string;
	/** The least number of characters, or the least number. */
	readonly min?: number;
	/** The most characters or items, or the greatest number. */
	readonly max?: number;
	/** The words of which it must be one. */
	readonly values?: readonly string[];
	/** The GraphQL type that the value does not fit. */
	readonly type?: string;
}

/** Messages by the name of a form's field: `username`, `image.url`, `interests`. */
export type FieldErrors = Readonly<Record<string, string>>;

/** From the `extensions` of an error; empty unless an input was refused. `word` words an error in another language. */
export function fieldErrors(
	extensions: unknown,
	word: (error: FieldError) => string = ({ message }) => message,
): FieldErrors {
	const { fields = [] } = (extensions ?? {}) as {
		readonly fields?: readonly FieldError[];
	};
	// `["input", "interests", 0]` belongs to the form's field of all interests.
	return Object.fromEntries(
		fields.map((error) => [
			error.path
				.slice(1)
				.filter((step) => typeof step === "string")
				.join("."),
			word(error),
		]),
	);
}
