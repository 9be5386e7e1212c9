import { parseList, parseOneOf } from "./settings.ts";

export const LOG_LEVELS = [
	"fatal",
	"error",
	"warn",
	"info",
	"debug",
	"trace",
	"silent",
] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export const LOG_FORMATS = ["text", "json"] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

/** A level, a format, or both separated by a comma; undefined for anything else. */
export function parseLogSettings(
	text: string,
): { readonly level?: LogLevel; readonly format?: LogFormat } | undefined {
	let level: LogLevel | undefined;
	let format: LogFormat | undefined;
	for (const word of parseList(text)) {
		const asLevel = parseOneOf(LOG_LEVELS, word);
		const asFormat = parseOneOf(LOG_FORMATS, word);
		if (asLevel && !level) level = asLevel;
		else if (asFormat && !format) format = asFormat;
		else return undefined;
	}
	return { ...(level && { level }), ...(format && { format }) };
}
