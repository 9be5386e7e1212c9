import { isIP } from "node:net";
import { type Id, parseId } from "../id/ids.ts";
import { parseList } from "../util/parseList.ts";

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
	return { expected, parse: (given) => words.find((word) => word === given) };
}

export const onOff: Kind<boolean> = {
	expected: "on or off",
	parse: (given) =>
		given === "on" ? true : given === "off" ? false : undefined,
};

export const path = text("a path");

export const hosts: Kind<readonly string[]> = {
	expected: "host:port, separated by commas, without options",
	parse(given) {
		const parts = parseList(given);
		const areHosts = parts.every((part) => {
			const [, port = ""] =
				/^(?:[\w.-]+|\[[\da-fA-F:]+\]):(\d{1,5})$/.exec(part) ?? [];
			return parseInteger(port, 1, 65_535) !== undefined;
		});
		return parts.length > 0 && areHosts ? parts : undefined;
	},
};

/** Port 0 is any free one. */
export const address: Kind<{ readonly host: string; readonly port: number }> = {
	expected: "host:port, such as 127.0.0.1:9464",
	parse(given) {
		const [, plain, bracketed, digits = ""] =
			/^(?:([\w.-]+)|\[([\da-fA-F:]+)\]):(\d{1,5})$/.exec(given) ?? [];
		const host = plain ?? bracketed;
		const port = parseInteger(digits, 0, 65_535);
		return host === undefined || port === undefined
			? undefined
			: { host, port };
	},
};

/** Only https, because keys from an unencrypted connection could be anybody's; http is allowed on this machine. */
export const jwksUrl: Kind<string> = {
	expected: "an https address (http only for this machine)",
	parse(given) {
		const url = URL.parse(given);
		const isHere =
			url?.protocol === "http:" &&
			["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
		return url?.protocol === "https:" || isHere ? given : undefined;
	},
};

export const origins: Kind<readonly string[]> = {
	expected: "origins separated by commas, such as https://example.com, or off",
	parse(given) {
		if (given === "off") return [];
		const parts = parseList(given);
		const areOrigins = parts.every(
			(part) => /^https?:\/\//.test(part) && URL.parse(part)?.origin === part,
		);
		return areOrigins ? parts : undefined;
	},
};

export const proxies: Kind<boolean | string> = {
	expected: "off, on, or addresses and networks separated by commas",
	parse(given) {
		const areNetworks = parseList(given).every((part) => {
			const [address = "", prefix, ...others] = part.split("/");
			const bits = isIP(address) === 6 ? 128 : 32;
			return (
				isIP(address) !== 0 &&
				others.length === 0 &&
				(prefix === undefined || parseInteger(prefix, 0, bits) !== undefined)
			);
		});
		return onOff.parse(given) ?? (areNetworks ? given : undefined);
	},
};

/** In lower case, like Node's header names. */
export const headerName: Kind<string | null> = {
	expected: "off, or the name of a header such as x-request-id",
	parse(given) {
		if (given === "off") return null;
		return /^[a-z][a-z0-9-]{0,63}$/i.test(given)
			? given.toLowerCase()
			: undefined;
	},
};

export function list(expected: string): Kind<readonly string[]> {
	return { expected, parse: parseList };
}

const PERIODS_MS = { second: 1_000, minute: 60_000, hour: 3_600_000 };

/** Null: `off`. */
export function rate(
	expected: string,
): Kind<{ readonly requests: number; readonly perMs: number } | null> {
	return {
		expected,
		parse(given) {
			if (given === "off") return null;
			const [, count = "", period] =
				/^([0-9]+)\/(second|minute|hour)$/.exec(given) ?? [];
			const requests = parseInteger(count, 1, 1_000_000_000);
			return requests === undefined
				? undefined
				: { requests, perMs: PERIODS_MS[period as keyof typeof PERIODS_MS] };
		},
	};
}

/** Null: `off`. */
export const slowMs: Kind<number | null> = {
	expected: "off, or milliseconds from 1 to 3600000",
	parse: (given) =>
		given === "off" ? null : parseInteger(given, 1, 3_600_000),
};

const LOG_LEVELS = [
	"fatal",
	"error",
	"warn",
	"info",
	"debug",
	"trace",
	"silent",
] as const;

const LOG_FORMATS = ["text", "json"] as const;

/** What is logged, and how. */
export interface LogSettings {
	readonly level: (typeof LOG_LEVELS)[number];
	readonly format: (typeof LOG_FORMATS)[number];
}

export const log: Kind<Partial<LogSettings>> = {
	expected: `a level (${LOG_LEVELS.join(", ")}), a format (${LOG_FORMATS.join(", ")}), or both separated by a comma`,
	parse(given) {
		let level: LogSettings["level"] | undefined;
		let format: LogSettings["format"] | undefined;
		for (const word of parseList(given)) {
			const asLevel = LOG_LEVELS.find((each) => each === word);
			const asFormat = LOG_FORMATS.find((each) => each === word);
			if (asLevel && !level) level = asLevel;
			else if (asFormat && !format) format = asFormat;
			else return undefined;
		}
		return { ...(level && { level }), ...(format && { format }) };
	},
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

function parseInteger(text: string, least: number, most: number) {
	const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
	return value >= least && value <= most ? value : undefined;
}
