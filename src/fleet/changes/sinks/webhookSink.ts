import { createHash, createHmac } from "node:crypto";
import type { Change } from "../changeTypes.ts";
import type { Position } from "../position.ts";
import type { ChangeSink, SinkOptions } from "./changeSink.ts";
import { openPositionFile } from "./positionFile.ts";
import { repeated } from "./repeated.ts";

interface WebhookOptions extends SinkOptions {
	/** http: or https:. */
	readonly url: string;
	/** What requests are signed with. */
	readonly secret: string;
	/** Where the position is kept. */
	readonly positionFile: string;
	/** How long an answer may take. Milliseconds. */
	readonly answerMs?: number;
	/** Before the second try. Milliseconds. */
	readonly firstPauseMs?: number;
}

const ANSWER_MS = 30_000;
/** Changes of one request, at most. */
const PER_REQUEST = 500;

/**
 * Sends changes to a URL, as POST requests of NDJSON, one after another. Anything
 * but a status of 2xx is tried again until it succeeds, so that nothing overtakes
 * anything. `Corkboard-Signature: t=SECONDS,v1=HEX` is the HMAC-SHA256 of
 * `SECONDS.BODY`, and a repeated request has the same `Idempotency-Key`.
 */
export async function openWebhookSink(
	options: WebhookOptions,
): Promise<ChangeSink> {
	const { url, positionFile, firstPauseMs } = options;
	const file = await openPositionFile(positionFile);
	const { origin, pathname } = new URL(url);
	return {
		begun: file.kept?.position ?? null,
		async take(changes: readonly Change[], position: () => Position) {
			for (let at = 0; at < changes.length; at += PER_REQUEST) {
				const body = changes
					.slice(at, at + PER_REQUEST)
					.map((change) => `${JSON.stringify(change)}\n`)
					.join("");
				// Not what else the URL has: it may have a password.
				await repeated(
					`${origin}${pathname}`,
					options,
					() => post(options, body),
					firstPauseMs,
				);
			}
			await file.write(position());
		},
		async [Symbol.asyncDispose]() {
			file[Symbol.dispose]();
		},
	};
}

async function post(
	{ url, secret, signal, answerMs = ANSWER_MS }: WebhookOptions,
	body: string,
): Promise<void> {
	const seconds = Math.floor(Date.now() / 1_000);
	const response = await fetch(url, {
		method: "POST",
		body,
		// Another address was not asked for, and may get what is not for it.
		redirect: "manual",
		signal: AbortSignal.any([signal, AbortSignal.timeout(answerMs)]),
		headers: {
			"content-type": "application/x-ndjson",
			"idempotency-key": createHash("sha256").update(body).digest("hex"),
			"corkboard-signature": `t=${seconds},v1=${signatureOf(secret, seconds, body)}`,
		},
	});
	await response.body?.cancel();
	if (!response.ok) throw new Error(`it answered ${response.status}`);
}

function signatureOf(secret: string, seconds: number, body: string): string {
	return createHmac("sha256", secret)
		.update(`${seconds}.${body}`)
		.digest("hex");
}
