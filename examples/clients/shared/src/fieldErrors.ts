/** Messages by the name of a form's field: `username`, `image.url`, `interests`. */
export type FieldErrors = Readonly<Record<string, string>>;

/** From the `extensions` of an error; empty unless an input was refused. */
export function fieldErrors(extensions: unknown): FieldErrors {
	const { fields = [] } = (extensions ?? {}) as {
		readonly fields?: readonly {
			readonly path: readonly (string | number)[];
			readonly message: string;
		}[];
	};
	// `["input", "interests", 0]` belongs to the form's field of all interests.
	return Object.fromEntries(
		fields.map(({ path, message }) => [
			path
				.slice(1)
				.filter((step) => typeof step === "string")
				.join("."),
			message,
		]),
	);
}
