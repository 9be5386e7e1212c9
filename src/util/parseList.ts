/** The parts between commas, without the empty ones. */
export function parseList(text: string): readonly string[] {
	return text
		.split(",")
		.map((part) => part.trim())
		.filter((part) => part !== "");
}
