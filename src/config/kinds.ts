import { type Id, parseId } from "../id/ids.ts";
import {
	LOG_FORMATS,
	LOG_LEVELS,
	parseLogSettings,
} from "../util/logSettings.ts";
import {
	parseAddress,
	parseHeaderName,
	parseHosts,
	parseInteger,
	parseJwksUrl,
	parseList,
	parseOneOf,
	parseOnOff,
	parseOrigins,
	parseProxies,
	parseRate,
} from "../util/settings.ts";

/** What a setting may be. */
export interface Kind<T> {
	/** In words, after "must be". */
	readonly expected: string;
	/** Undefined for what it may not be. */
	parse(text: string): T | undefined;
}

export function text(expected: string): Kind<string> {
	return { expected, parse: (given) => given };
}

export function integer(
	least: number,
	most: number,
	expected = `an integer from ${least} to ${most}`,
): Kind<number> {
	return { expected, parse: (given) => parseInteger(given, least, most) };
}

/** As milliseconds. */
export function seconds(most: number): Kind<number> {
	return {
		expected: `seconds from 0 to ${most}`,
		parse(given) {
			const value = parseInteger(given, 0, most);
			return value === undefined ? undefined : value * 1_000;
		},
	};
}

export function oneOf<const T extends string>(...words: readonly T[]): Kind<T> {
	const last = words.at(-1) ?? "";
	const expected =
		words.length > 3
			? `one of ${words.join(", ")}`
			: words.length > 1
				? `${words.slice(0, -1).join(", ")} or ${last}`
				: last;
	return { expected, parse: (given) => parseOneOf(words, given) };
}

export const onOff: Kind<boolean> = {
	expected: "on or off",
	parse: parseOnOff,
};

export const path = text("a path");

export const hosts: Kind<readonly string[]> = {
	expected: "host:port, separated by commas, without options",
	parse: parseHosts,
};

export const address = {
	expected: "host:port, such as 127.0.0.1:9464",
	parse: parseAddress,
};

export const jwksUrl: Kind<string> = {
	expected: "an https address (http only for this machine)",
	parse: parseJwksUrl,
};

export const origins: Kind<readonly string[]> = {
	expected: "origins separated by commas, such as https://example.com, or off",
	parse: parseOrigins,
};

export const proxies: Kind<boolean | string> = {
	expected: "off, on, or addresses and networks separated by commas",
	parse: parseProxies,
};

export const headerName: Kind<string | null> = {
	expected: "off, or the name of a header such as x-request-id",
	parse: parseHeaderName,
};

export function list(expected: string): Kind<readonly string[]> {
	return { expected, parse: parseList };
}

/** Null: `off`. */
export function rate(
	expected: string,
): Kind<{ readonly requests: number; readonly perMs: number } | null> {
	return { expected, parse: parseRate };
}

/** Null: `off`. */
export const slowMs: Kind<number | null> = {
	expected: "off, or milliseconds from 1 to 3600000",
	parse: (given) =>
		given === "off" ? null : parseInteger(given, 1, 3_600_000),
};

export const log = {
	expected: `a level (${LOG_LEVELS.join(", ")}), a format (${LOG_FORMATS.join(", ")}), or both separated by a comma`,
	parse: parseLogSettings,
};

/** From 0 to 1. */
export const ratio: Kind<number> = {
	expected: "a number from 0 to 1, such as 0.01",
	parse(given) {
		const value = /^(?:\d+\.?\d*|\.\d+)(?:[eE]-?\d+)?$/.test(given)
			? Number(given)
			: Number.NaN;
		return value >= 0 && value <= 1 ? value : undefined;
	},
};

/** By user id, or by a claim of their tokens. */
export interface Operators {
	readonly ids: ReadonlySet<Id>;
	readonly claims: readonly {
		readonly name: string;
		readonly value: string;
	}[];
}

export const operators: Kind<Operators> = {
	expected:
		"user ids, or claims of tokens such as roles=operator, separated by commas",
	parse(given) {
		const ids = new Set<Id>();
		const claims: { name: string; value: string }[] = [];
		for (const part of parseList(given)) {
			// A claim's name may be a URI (RFC 7519, section 4.2) that contains "=".
			const [, name, value] = /^(\S+)=([^\s=]+)$/.exec(part) ?? [];
			const id = parseId(part);
			if (name !== undefined && value !== undefined) {
				claims.push({ name, value });
			} else if (id !== "malformed" && id !== "reserved") ids.add(id);
			else return undefined;
		}
		return { ids, claims };
	},
};
