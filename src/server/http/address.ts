import type { IncomingMessage } from "node:http";
import { isIPv6 } from "node:net";
import proxyAddr from "@fastify/proxy-addr";
import { Remembered } from "./remembered.ts";

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
	lastNormalized = normalized(address);
	lastAddress = address;
	return lastNormalized;
}

/** The address of the previous call: a connection brings many requests. */
let lastAddress: string | null = null;
let lastNormalized = "";

/** In the one spelling of RFC 5952. An address of IPv4 within IPv6 is that of IPv4. */
function normalized(address: string): string {
	if (!isIPv6(address)) return address.toLowerCase();
	const groups = groupsOf(address.split("%", 1)[0] as string);
	const [a, b, c, d, e, f, g = 0, h = 0] = groups;
	if (f === 0xffff && [a, b, c, d, e].every((group) => group === 0)) {
		return [g >> 8, g & 255, h >> 8, h & 255].join(".");
	}
	const network = groups.slice(0, 4).map((group) => group.toString(16));
	return new URL(`http://[${network.join(":")}::]`).hostname.slice(1, -1);
}

/** The eight numbers of a valid address of IPv6. */
function groupsOf(address: string): readonly number[] {
	const bytes = /[\d.]+\.\d+$/.exec(address)?.[0];
	const [a = 0, b = 0, c = 0, d = 0] = bytes?.split(".").map(Number) ?? [];
	const hex = bytes
		? `${address.slice(0, -bytes.length)}${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`
		: address;
	const [before = [], after = []] = hex
		.split("::")
		.map((half) => half.split(":").filter((group) => group !== ""));
	const zeros = Array<string>(8 - before.length - after.length).fill("0");
	return [...before, ...zeros, ...after].map((group) =>
		Number.parseInt(group, 16),
	);
}

/**
 * Whether a request says of which host it asks, as RFC 9112 §3.2 has it: a request of
 * HTTP/1.0 need not say it, and the host may be empty. Health checks of load balancers
 * send both.
 */
export function hasValidHost(
	message: IncomingMessage,
	trust: TrustProxy | null,
): boolean {
	const { headers, socket, httpVersionMajor, httpVersionMinor } = message;
	if (headers.host === undefined) {
		return httpVersionMajor === 1 && httpVersionMinor === 0;
	}
	if (!hosts.get(headers.host)) return false;
	const named = headers["x-forwarded-host"];
	return named === undefined || trust?.(socket.remoteAddress ?? "", 0) !== true
		? true
		: hosts.get(String(named).split(",").at(-1)?.trim());
}

/** Which header of one value was sent several times. Node keeps the first, and a proxy before it may have judged another. */
export function repeatedHeader({
	rawHeaders,
}: IncomingMessage): "host" | "authorization" | null {
	let hosts = 0;
	let authorizations = 0;
	for (let at = 0; at < rawHeaders.length; at += 2) {
		const given = rawHeaders[at] as string;
		// The length first: most headers are neither.
		if (given.length === 4) {
			if (given.toLowerCase() === "host" && ++hosts > 1) return "host";
		} else if (given.length === 13) {
			if (given.toLowerCase() === "authorization" && ++authorizations > 1) {
				return "authorization";
			}
		}
	}
	return null;
}

/** `uri-host [ ":" port ]` of RFC 9110 §7.2: an address in brackets, or a name, which may be empty. */
const HOST =
	/^(?:\[[\da-f:.]+\]|(?:[\w.~!$&'()*+,;=-]|%[\da-f]{2})*)(?::\d{0,5})?$/i;

const hosts = new Remembered(
	(host = "") =>
		HOST.test(host) &&
		(!host.startsWith("[") || URL.canParse(`http://${host}/`)),
);
