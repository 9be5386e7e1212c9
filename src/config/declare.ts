import type { Kind } from "./kinds.ts";

/** A setting, as it is declared once. */
export interface Setting<T> {
	readonly kind: Kind<T>;
	/** What it is, in the Markdown of docs/reference/configuration.md. */
	readonly about: string;
	/** The default, in words. */
	readonly shown: string;
}

/** Its default is always the same. */
export interface Fixed<T, Otherwise = T> extends Setting<T> {
	readonly otherwise: Otherwise;
}

/** Its default follows from other settings, or it has none: the code that reads it says so. */
export interface Derived<T> extends Setting<T> {
	readonly otherwise?: never;
}

export function fixed<T>(
	kind: Kind<T>,
	otherwise: NoInfer<T>,
	about: string,
	shown = inWords(otherwise),
): Fixed<T> {
	return { kind, otherwise, about, shown };
}

/** Null if it is not given. */
export function optional<T>(
	kind: Kind<T>,
	about: string,
	shown: string,
): Fixed<T, null> {
	return { kind, otherwise: null, about, shown };
}

export function derived<T>(
	kind: Kind<T>,
	about: string,
	shown: string,
): Derived<T> {
	return { kind, about, shown };
}

function inWords(value: unknown): string {
	if (typeof value === "boolean") return value ? "`on`" : "`off`";
	if (typeof value === "number") return String(value);
	if (typeof value === "string") return `\`${value}\``;
	throw new TypeError("say the default in words");
}
