import type { Config } from "../config/config.ts";
import { CorkboardError } from "../errors.ts";
import { printExplain } from "../plan/explain/printExplain.ts";
import { REQUESTS_PATH } from "../server/admin/adminServer.ts";
import type { KeptRequest } from "../server/requests/keptRequests.ts";
import { formatMilliseconds, plural } from "../util/format.ts";

const ANSWER_MS = 5_000;
const ID = /^[\w.:/+=-]{1,128}$/;

/** What a server did for a request, asked for on its admin address. Throws BAD_CONFIG, BAD_USER_INPUT, UNAVAILABLE or NOT_FOUND. */
export async function readKeptRequest(
	{ admin }: Pick<Config, "admin">,
	id: string,
): Promise<KeptRequest> {
	if (admin === null) {
		throw new CorkboardError(
			"BAD_CONFIG",
			"--trace asks the server on its admin address: set CORKBOARD_ADMIN as the server has it, such as 127.0.0.1:9464.",
		);
	}
	if (!ID.test(id)) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			`--trace takes the id of a trace, of an error (extensions.errorId) or of a request (x-request-id), got ${JSON.stringify(id.slice(0, 200))}.`,
		);
	}
	const address = `${bracketed(admin.host)}:${admin.port}`;
	let response: Response;
	try {
		response = await fetch(
			`http://${address}${REQUESTS_PATH}${encodeURIComponent(id)}`,
			{ signal: AbortSignal.timeout(ANSWER_MS) },
		);
	} catch (cause) {
		throw new CorkboardError(
			"UNAVAILABLE",
			`No server answers on ${address} (CORKBOARD_ADMIN). Is it running, and started with this CORKBOARD_ADMIN?`,
			{ cause },
		);
	}
	if (response.status === 404) {
		throw new CorkboardError(
			"NOT_FOUND",
			`The server on ${address} keeps no request with the id ${id}. It keeps the last ones that were slow (CORKBOARD_SLOW), failed by its own fault, or are sampled, since its start; of several servers, ask the one whose log has the id.`,
		);
	}
	if (!response.ok) {
		throw new CorkboardError(
			"UNAVAILABLE",
			`The server on ${address} answered with status ${response.status}.`,
		);
	}
	return (await response.json()) as KeptRequest;
}

/** 0.0.0.0 and :: are for listening: this machine is asked. */
function bracketed(host: string): string {
	if (host === "0.0.0.0") return "127.0.0.1";
	if (host === "::") return "[::1]";
	return host.includes(":") ? `[${host}]` : host;
}

/** For a terminal. */
export function printKeptRequest({
	at,
	request,
	hosts,
	variables,
	explain,
}: KeptRequest): string {
	const facts = Object.entries(request)
		.filter(([, value]) => value !== null)
		.map(([name, value]) => `${name} ${[value].flat().join(", ")}`);
	return [
		`${at}: ${facts.join(" · ")}`,
		...Object.entries(variables ?? {}).map(
			([name, shape]) => `$${name}: ${shape}`,
		),
		...(hosts ?? []).map(
			({ host, statements, ms, waitedMs, failures }) =>
				`${host}: ${plural(statements, "statement")}, ${formatMilliseconds(ms)}, of these ${formatMilliseconds(waitedMs)} for a connection${failures.length > 0 ? `; failed: ${failures.join(", ")}` : ""}`,
		),
		explain === null
			? "no plan: nothing ran, a kept answer was used again, it was not recorded (CORKBOARD_SLOW=off), or it is too large to keep"
			: printExplain(explain),
	].join("\n");
}
