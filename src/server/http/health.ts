import type { FastifyReply } from "fastify";
import type { HttpApp } from "./httpApp.ts";

const READY_MS = 2_000;

/**
 * `/health/live`: the process runs; restart it otherwise. `/health/ready`: it
 * can serve; send it no requests otherwise.
 */
export function registerHealth(
	http: HttpApp,
	ready: () => boolean | Promise<boolean>,
): void {
	http.app.get("/health/live", async (_request, reply) =>
		sendStatus(reply, 200, "live"),
	);
	http.app.get("/health/ready", async (_request, reply) => {
		if (http.isDraining) return sendStatus(reply, 503, "draining");
		return (await isReady(ready))
			? sendStatus(reply, 200, "ready")
			: sendStatus(reply, 503, "not ready");
	});
}

async function isReady(
	ready: () => boolean | Promise<boolean>,
): Promise<boolean> {
	let timer: NodeJS.Timeout | undefined;
	try {
		return await Promise.race([
			ready(),
			new Promise<boolean>((resolve) => {
				timer = setTimeout(resolve, READY_MS, false);
			}),
		]);
	} catch {
		return false;
	} finally {
		clearTimeout(timer);
	}
}

function sendStatus(
	reply: FastifyReply,
	code: number,
	status: string,
): FastifyReply {
	return reply.code(code).send({ status });
}
