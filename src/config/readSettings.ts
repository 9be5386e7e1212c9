import { nearest } from "../util/nearest.ts";
import type { Setting } from "./declare.ts";
import { SETTINGS } from "./settings.ts";

type Declared = typeof SETTINGS;
export type SettingName = keyof Declared;

type ValueOf<N extends SettingName> =
	Declared[N] extends Setting<infer T> ? T : never;

/** Those with a default of their own. */
type FixedName = {
	[N in SettingName]: Declared[N] extends { readonly otherwise: unknown }
		? N
		: never;
}[SettingName];

/** The settings of an environment, by their declarations. */
export interface Settings {
	/** The text, trimmed; an empty one counts as not given. */
	given(name: SettingName): string | undefined;
	/** What is given, or the default if nothing is, or nothing valid. */
	value<N extends FixedName>(
		name: N,
	): ValueOf<N> | Extract<Declared[N], { otherwise: unknown }>["otherwise"];
	/** The same, with a default that follows from others. */
	valueOr<N extends Exclude<SettingName, FixedName>, D>(
		name: N,
		otherwise: D,
	): ValueOf<N> | D;
	/** One sentence per problem. */
	readonly problems: string[];
}

const PREFIX = "CORKBOARD_";

/** `PORT` has no prefix. The others are compared without theirs, which would make all names similar. */
function meantSetting(rest: string, names: readonly string[]): string {
	if (names.includes(rest)) return ` Did you mean ${rest}?`;
	const meant = nearest(
		rest,
		names.map((known) => known.slice(PREFIX.length)),
	);
	return meant === undefined ? "" : ` Did you mean ${PREFIX}${meant}?`;
}

/** Collects problems instead of throwing. Another name with the prefix than those of the settings is one. */
export function settingsOf(
	environment: Readonly<Record<string, string | undefined>>,
): Settings {
	const names = Object.keys(SETTINGS);
	const problems: string[] = [];
	for (const name of Object.keys(environment)) {
		if (!name.startsWith(PREFIX) || names.includes(name)) continue;
		problems.push(
			`${name} is not a setting.${meantSetting(name.slice(PREFIX.length), names)}`,
		);
	}
	const given = (name: SettingName) => environment[name]?.trim() || undefined;
	const read = (name: SettingName, otherwise: unknown) => {
		const { kind } = SETTINGS[name] as Setting<unknown>;
		const text = given(name);
		const value = text === undefined ? otherwise : kind.parse(text);
		if (text === undefined || value !== undefined) return value;
		// A mistyped URL may contain a password.
		const got = text.includes("@") ? "a value with an @" : JSON.stringify(text);
		problems.push(`${name} must be ${kind.expected}, got ${got}.`);
		return otherwise;
	};
	return {
		given,
		problems,
		value: (name) => read(name, SETTINGS[name].otherwise) as never,
		valueOr: (name, otherwise) => read(name, otherwise) as never,
	};
}
