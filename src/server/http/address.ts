import type { IncomingMessage } from "node:http";
import proxyAddr from "@fastify/proxy-addr";
import { normalizeIP } from "@fastify/rate-limit";

/** Whether the proxy with this address, so many hops away, is trusted. */
export type TrustProxy = (address: string, hop: number) => boolean;

/**
 * The proxies whose X-Forwarded-* headers count. Each proxy appends to
 * X-Forwarded-For, and a client can invent everything to the left of what the
 * nearest proxy appended. Without a list of proxies, only the nearest one is
 * trusted.
 */
export function trustedProxies(setting: boolean | string): TrustProxy | null {
	if (setting === false) return null;
	return setting === true
		? (_address, hop) => hop === 0
		: proxyAddr.compile(setting.split(",").map((one) => one.trim()));
}

/** The address of the client, of IPv6 the /64 that one customer has. */
export function clientAddress(
	message: IncomingMessage,
	trust: TrustProxy | null,
): string {
	const { remoteAddress = "" } = message.socket;
	const address =
		trust === null || message.headers["x-forwarded-for"] === undefined
			? remoteAddress
			: (proxyAddr.all(message, trust).at(-1) ?? remoteAddress);
	if (address === lastAddress) return lastNormalized;
	lastNormalized = normalizeIP(address);
	lastAddress = address;
	return lastNormalized;
}

/** Of the previous call: a connection brings many requests. */
let lastAddress: string | null = null;
let lastNormalized = "";
