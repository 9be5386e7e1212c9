/** Who sends a request, as the peers find out: a token is verified once, as a server with many requests of few viewers would. */
import { jwtVerify } from "jose";

const MOST = 10_000;
const secret = Buffer.from(process.env.TOKEN_SECRET ?? "");

interface Verified {
	readonly viewer: number;
	/** Milliseconds since 1970. */
	readonly expires: number;
}
const verified = new Map<string, Verified>();

/** Null without the header. */
export function readViewer(
	header: string | undefined,
): number | null | Promise<number> {
	if (header === undefined) return null;
	const known = verified.get(header);
	return known !== undefined && known.expires > Date.now()
		? known.viewer
		: verify(header);
}

async function verify(header: string): Promise<number> {
	const { payload } = await jwtVerify(header.slice("Bearer ".length), secret);
	const viewer = Number(payload.sub);
	const [oldest] = verified.keys();
	if (verified.size >= MOST && oldest !== undefined) verified.delete(oldest);
	verified.set(header, { viewer, expires: (payload.exp ?? 0) * 1_000 });
	return viewer;
}
