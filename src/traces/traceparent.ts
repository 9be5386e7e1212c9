import type { IncomingHttpHeaders } from "node:http";

/** The span of a client that a request belongs to: https://www.w3.org/TR/trace-context/ */
export interface RemoteParent {
	readonly traceId: string;
	readonly spanId: string;
	readonly isSampled: boolean;
	/** As it was sent; null for none, or one that is not valid. */
	readonly state: string | null;
}

const TRACEPARENT =
	/^(?<version>[0-9a-f]{2})-(?<traceId>[0-9a-f]{32})-(?<spanId>[0-9a-f]{16})-(?<flags>[0-9a-f]{2})(?<more>-.*)?$/;

const SAMPLED = 1;

/** Characters of `tracestate` that every program must be able to pass on. */
const MAX_STATE = 512;
const MAX_MEMBERS = 32;
const MEMBER =
	/^[a-z0-9][a-z0-9_\-*/]{0,240}(?:@[a-z0-9][a-z0-9_\-*/]{0,13})?=[\x20-\x2b\x2d-\x3c\x3e-\x7e]{0,255}[\x21-\x2b\x2d-\x3c\x3e-\x7e]$/;

/** Null if there is no header, or one that is not valid: then the request begins a trace of its own. */
export function parentOf(headers: IncomingHttpHeaders): RemoteParent | null {
	const { traceparent, tracestate } = headers;
	if (typeof traceparent !== "string" || traceparent.length > 256) return null;
	const { version, traceId, spanId, flags, more } =
		TRACEPARENT.exec(traceparent)?.groups ?? {};
	if (traceId === undefined || spanId === undefined) return null;
	if (version === "ff" || (version === "00" && more !== undefined)) return null;
	if (isZero(traceId) || isZero(spanId)) return null;
	return {
		traceId,
		spanId,
		isSampled: (Number.parseInt(flags ?? "", 16) & SAMPLED) !== 0,
		state: stateOf(tracestate),
	};
}

function isZero(digits: string): boolean {
	return /^0+$/.test(digits);
}

/** One member that is not valid makes the whole list invalid. */
function stateOf(given: string | string[] | undefined): string | null {
	if (typeof given !== "string" || given.length > MAX_STATE) return null;
	const members = given
		.split(",")
		.map((member) => member.trim())
		.filter((member) => member !== "");
	if (members.length === 0 || members.length > MAX_MEMBERS) return null;
	return members.every((member) => MEMBER.test(member))
		? members.join(",")
		: null;
}
