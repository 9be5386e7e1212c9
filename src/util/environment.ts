import { nearest } from "./nearest.ts";

/** An environment that is being read; what is wrong with it is gathered. */
export interface Settings {
	/** What was given, trimmed; what is empty counts as not given. */
	given(name: string): string | undefined;
	/** The setting if it is given and `read` makes something of it, else the default. */
	setting<T>(
		name: string,
		expected: string,
		read: (text: string) => T | undefined,
		otherwise: T,
	): T;
	/** Sentences, each of one fault. */
	readonly problems: string[];
}

const PREFIX = "CORKBOARD_";

/** `names` are all there are: another with our prefix is a fault. */
export function readSettings(
	environment: Readonly<Record<string, string | undefined>>,
	names: readonly string[],
): Settings {
	const faults: string[] = [];
	for (const name of Object.keys(environment)) {
		if (!name.startsWith(PREFIX) || names.includes(name)) continue;
		// The prefix, which all share, would make all of them alike.
		const meant = nearest(
			name.slice(PREFIX.length),
			names.map((known) => known.slice(PREFIX.length)),
		);
		faults.push(
			`${name} is no setting${meant ? `; did you mean ${PREFIX}${meant}?` : ""}`,
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
			// An address that was mistyped may still hold a password.
			const got = text.includes("@")
				? "(something with an @)"
				: JSON.stringify(text);
			faults.push(`${name} must be ${expected} but got: ${got}`);
			return otherwise;
		},
		problems: faults,
	};
}
