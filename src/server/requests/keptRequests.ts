import { listen } from "../../diagnostics.ts";
import { ERRORS, isClientCode } from "../../errors.ts";
import type { ExplainOutput } from "../../plan/explain/explainOutput.ts";
import type { RecordedOperation } from "../../plan/explain/explainRecorder.ts";
import { BoundedMap } from "../../util/boundedMap.ts";
import { type RequestCompleted, SERVER_CHANNELS } from "../diagnostics.ts";
import { describeRequest } from "./describeRequest.ts";

/** The size of all kept requests: characters of JSON, or bytes that a record keeps in use. */
const MAX_WEIGHT = 4_194_304;
/** The largest JSON of one request; the plan is left out of a larger one. */
const MAX_ONE = 524_288;
/** A record that keeps more in use than this is written down at once: as JSON most are a few thousand characters. */
const MAX_HELD = 65_536;

/** What `explain --trace` prints. As JSON on the admin address. */
export interface KeptRequest {
	/** ISO 8601. */
	readonly at: string;
	/** As in the log event `slow request`. */
	readonly request: Readonly<Record<string, unknown>>;
	/** Null if nothing was recorded: nothing ran, a kept answer was sent, or `CORKBOARD_SLOW` is off. */
	readonly hosts: RecordedOperation["hosts"] | null;
	readonly variables: RecordedOperation["variables"] | null;
	/** Null as well where it is too large to keep. */
	readonly explain: ExplainOutput | null;
}

/** Requests that somebody may ask about later, until disposed. */
interface KeptRequests extends Disposable {
	/** JSON of a `KeptRequest`, by the id of the request, of its trace or of one of its errors; null if it is not kept. */
	find(id: string): string | null;
}

/**
 * Keeps the last requests that were slow, that failed by a fault of the server,
 * or that are sampled: a few megabytes of them.
 */
export function keepRequests(slowMs: number | null): KeptRequests {
	const byRequest = new BoundedMap<Kept>({
		maxWeight: MAX_WEIGHT,
		weigh: ({ weight }) => weight,
	});
	/** The request of each trace and error. Some may be of requests that are not kept any more. */
	const requestIds = new BoundedMap<string>({
		maxWeight: MAX_OTHER_IDS,
		weigh: () => 1,
	});
	const listening = listen(SERVER_CHANNELS.request, (request) => {
		const { ms, codes, requestId, traceId, errorIds } = request;
		const isKept =
			traceId !== null ||
			(slowMs !== null && ms >= slowMs) ||
			codes.some(isOwnFailure);
		if (!isKept) return;
		byRequest.set(requestId, keep(request));
		for (const id of errorIds.slice(0, MAX_ERROR_IDS)) {
			requestIds.set(id, requestId);
		}
		if (traceId !== null) requestIds.set(traceId, requestId);
	});
	return {
		find(id) {
			const kept = byRequest.get(id) ?? byRequest.get(requestIds.get(id) ?? "");
			return kept?.text() ?? null;
		},
		[Symbol.dispose]: () => listening[Symbol.dispose](),
	};
}

const MAX_OTHER_IDS = 5_000;
/** Most error ids of one request. */
const MAX_ERROR_IDS = 100;

function isOwnFailure(code: string): boolean {
	return isClientCode(code) && ERRORS[code].status >= 500;
}

interface Kept {
	readonly weight: number;
	text(): string;
}

/**
 * Hardly any of them is ever asked for, and all may be kept (if every request is
 * sampled): what was recorded is put together and written as JSON when somebody asks.
 */
function keep(request: RequestCompleted): Kept {
	const at = new Date().toISOString();
	const operation = request.record?.operation ?? null;
	operation?.end();
	const described = describeRequest(request);
	const text = () =>
		toText(
			at,
			described,
			operation?.recorded() as RecordedOperation | undefined,
		);
	const heldBytes = DESCRIBED_BYTES + (operation?.heldBytes ?? 0);
	if (heldBytes <= MAX_HELD) return { weight: heldBytes, text };
	const written = text();
	return { weight: written.length, text: () => written };
}

/** What `describeRequest` answers, and the rest that is there for each. */
const DESCRIBED_BYTES = 1_500;

function toText(
	at: string,
	request: KeptRequest["request"],
	recorded: RecordedOperation | undefined,
): string {
	const kept: KeptRequest = {
		at,
		request,
		hosts: recorded?.hosts ?? null,
		variables: recorded?.variables ?? null,
		explain: recorded?.explain ?? null,
	};
	const text = JSON.stringify(kept);
	return text.length <= MAX_ONE
		? text
		: JSON.stringify({ ...kept, explain: null } satisfies KeptRequest);
}
