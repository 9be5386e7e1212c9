import { nearest } from "../util/nearest.ts";

/** Reads settings from an environment, and collects problems instead of throwing. */
export interface Settings {
	/** The value, trimmed; an empty value counts as not given. */
	given(name: string): string | undefined;
	/** The value that `read` parses, or the default if the setting is not given or not valid. */
	setting<T>(
		name: string,
		expected: string,
		read: (text: string) => T | undefined,
		otherwise: T,
	): T;
	/** One sentence per problem. */
	readonly problems: string[];
}

const PREFIX = "CORKBOARD_";

/** Another name than `names` with the prefix is a problem. */
export function readSettings(
	environment: Readonly<Record<string, string | undefined>>,
	names: readonly string[],
): Settings {
	const problems: string[] = [];
	for (const name of Object.keys(environment)) {
		if (!name.startsWith(PREFIX) || names.includes(name)) continue;
		// Compared without the common prefix, which would make all names similar.
		const meant = nearest(
			name.slice(PREFIX.length),
			names.map((known) => known.slice(PREFIX.length)),
		);
		problems.push(
			`${name} is not a setting.${meant ? ` Did you mean ${PREFIX}${meant}?` : ""}`,
		);
	}
	const given = (name: string) => environment[name]?.trim() || undefined;
	return {
		given,
		setting(name, expected, read, otherwise) {
			const text = given(name);
			if (text === undefined) return otherwise;
			const value = read(text);
			if (value !== undefined) return value;
			// A mistyped URL may contain a password.
			const got = text.includes("@")
				? "a value with an @"
				: JSON.stringify(text);
			problems.push(`${name} must be ${expected}, got ${got}.`);
			return otherwise;
		},
		problems,
	};
}
