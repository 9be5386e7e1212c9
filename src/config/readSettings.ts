import type { Setting } from "./declare.ts";
import { readSettings, type Settings as Texts } from "./environment.ts";
import { SETTINGS } from "./settings.ts";

type Declared = typeof SETTINGS;
export type SettingName = keyof Declared;

type ValueOf<N extends SettingName> =
	Declared[N] extends Setting<infer T> ? T : never;

/** Those with a default of their own. */
export type FixedName = {
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

export function settingsOf(
	environment: Readonly<Record<string, string | undefined>>,
): Settings {
	const texts: Texts = readSettings(environment, Object.keys(SETTINGS));
	const read = (name: SettingName, otherwise: unknown) => {
		const { kind } = SETTINGS[name] as Setting<unknown>;
		return texts.setting(name, kind.expected, kind.parse, otherwise);
	};
	return {
		given: texts.given,
		problems: texts.problems,
		value: (name) => read(name, SETTINGS[name].otherwise) as never,
		valueOr: (name, otherwise) => read(name, otherwise) as never,
	};
}
