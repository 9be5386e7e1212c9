/** `2026-01-31T12:00:00.000Z`, as `toISOString` writes the years 0 to 9999. */
const CANONICAL =
	/^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d\.\d{3}Z$/;

export const DATE_TIME_EXAMPLE = "2026-01-31T12:00:00.000Z";

/** Whether a text is a date and time in the one form that is stored: in UTC, with milliseconds. */
export function isDateTime(text: string): boolean {
	return (
		CANONICAL.test(text) &&
		// Every month has 28 days.
		(text.slice(8, 10) <= "28" || new Date(text).toISOString() === text)
	);
}
