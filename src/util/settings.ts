import { isIP } from "node:net";

/** Parsers of settings' values. Each returns undefined for a value that is not valid. */

export function parseOneOf<T extends string>(
	words: readonly T[],
	text: string,
): T | undefined {
	return words.find((word) => word === text);
}

export function parseOnOff(text: string): boolean | undefined {
	return text === "on" ? true : text === "off" ? false : undefined;
}

export function parseInteger(text: string, least: number, most: number) {
	const value = /^[0-9]{1,10}$/.test(text) ? Number(text) : Number.NaN;
	return value >= least && value <= most ? value : undefined;
}

export function parseList(text: string): readonly string[] {
	return text
		.split(",")
		.map((part) => part.trim())
		.filter((part) => part !== "");
}

export function parseHosts(text: string): readonly string[] | undefined {
	const parts = parseList(text);
	const areHosts = parts.every((part) => {
		const [, port] =
			/^(?:[\w.-]+|\[[\da-fA-F:]+\]):(\d{1,5})$/.exec(part) ?? [];
		return port !== undefined && parseInteger(port, 1, 65_535) !== undefined;
	});
	return parts.length > 0 && areHosts ? parts : undefined;
}

/** `host:port`; port 0 is any free one. */
export function parseAddress(
	text: string,
): { readonly host: string; readonly port: number } | undefined {
	const [, plain, bracketed, digits = ""] =
		/^(?:([\w.-]+)|\[([\da-fA-F:]+)\]):(\d{1,5})$/.exec(text) ?? [];
	const host = plain ?? bracketed;
	const port = parseInteger(digits, 0, 65_535);
	return host === undefined || port === undefined ? undefined : { host, port };
}

export function parseOrigins(text: string): readonly string[] | undefined {
	if (text === "off") return [];
	const parts = parseList(text);
	const areOrigins = parts.every(
		(part) =>
			/^https?:\/\//.test(part) &&
			URL.canParse(part) &&
			new URL(part).origin === part,
	);
	return areOrigins ? parts : undefined;
}

const PERIODS_MS = { second: 1_000, minute: 60_000, hour: 3_600_000 };

/** Only https, because keys from an unencrypted connection could be anybody's; http is allowed on this machine. */
export function parseJwksUrl(text: string): string | undefined {
	const url = URL.parse(text);
	const isHere =
		url?.protocol === "http:" &&
		["localhost", "127.0.0.1", "[::1]"].includes(url.hostname);
	return url?.protocol === "https:" || isHere ? text : undefined;
}

export function parseRate(
	text: string,
): { readonly requests: number; readonly perMs: number } | null | undefined {
	if (text === "off") return null;
	const [, count = "", period] =
		/^([0-9]+)\/(second|minute|hour)$/.exec(text) ?? [];
	const requests = parseInteger(count, 1, 1_000_000_000);
	return requests === undefined
		? undefined
		: { requests, perMs: PERIODS_MS[period as keyof typeof PERIODS_MS] };
}

export function parseProxies(text: string): boolean | string | undefined {
	const areNetworks = parseList(text).every((part) => {
		const [address = "", prefix, ...others] = part.split("/");
		const bits = isIP(address) === 6 ? 128 : 32;
		return (
			isIP(address) !== 0 &&
			others.length === 0 &&
			(prefix === undefined || parseInteger(prefix, 0, bits) !== undefined)
		);
	});
	return parseOnOff(text) ?? (areNetworks ? text : undefined);
}

/** In lower case, like Node's header names. */
export function parseHeaderName(text: string): string | null | undefined {
	if (text === "off") return null;
	return /^[a-z][a-z0-9-]{0,63}$/i.test(text) ? text.toLowerCase() : undefined;
}
