import { reasonOf } from "../../util/reasonOf.ts";
import type { Readiness } from "../http/health.ts";
import {
	type AdminResponse,
	type AskAdmin,
	LIVE_PATH,
	METRICS_PATH,
	plainText,
	READY_PATH,
	REQUESTS_PATH,
} from "./adminServer.ts";

/** What an operator asks a process over the admin address. */
export interface AdminPages {
	/** For Prometheus. Rejects if it takes too long. */
	metrics(): Promise<{ readonly contentType: string; readonly text: string }>;
	readiness(): Promise<Readiness>;
	/** What a request did, as JSON, by an id that its answer or its trace has; null if it is not kept. */
	findRequest(id: string): Promise<string | null>;
}

/** Answers in the thread whose pages they are. */
export function answerFrom(pages: AdminPages): AskAdmin {
	return async (path) => {
		try {
			return await pageAt(path, pages);
		} catch (error) {
			return plainText(503, reasonOf(error));
		}
	};
}

async function pageAt(path: string, pages: AdminPages): Promise<AdminResponse> {
	if (path === METRICS_PATH) return { status: 200, ...(await pages.metrics()) };
	if (path === LIVE_PATH) return json(200, '{"status":"live"}');
	if (path === READY_PATH) {
		const status = await pages.readiness();
		return json(status === "ready" ? 200 : 503, JSON.stringify({ status }));
	}
	const id = decoded(path.slice(REQUESTS_PATH.length));
	const text = id === null ? null : await pages.findRequest(id);
	return text === null ? plainText(404, "Not kept.") : json(200, text);
}

/** An id may have characters that a URL encodes: a proxy's has, such as `Root=1-67891233-abcdef`. */
function decoded(text: string): string | null {
	try {
		return decodeURIComponent(text);
	} catch {
		return null;
	}
}

function json(status: number, text: string): AdminResponse {
	return { status, contentType: "application/json", text };
}
