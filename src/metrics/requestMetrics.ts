import type { Registry } from "prom-client";
import { listen } from "../diagnostics.ts";
import { ERRORS, isClientCode } from "../errors.ts";
import { PLAN_CHANNELS, REFUSED_LIMITS } from "../plan/diagnostics.ts";
import {
	type RequestCompleted,
	SERVER_CHANNELS,
} from "../server/diagnostics.ts";
import { COST_POINTS, REQUEST_SECONDS } from "./buckets.ts";
import type { Feeds } from "./feeds.ts";
import {
	type Distribution,
	Distributions,
	type Value,
	Values,
} from "./series.ts";
import { TopDocuments } from "./topDocuments.ts";

export interface MetricsOptions {
	/** How many operations of documents get labels of their own, the most frequent; the others share `other`. */
	readonly documents: number;
	/** Whether the app has a home feed (default: true). */
	readonly hasFeed?: boolean;
	/** Milliseconds; default: `performance.now`. */
	readonly now?: () => number;
}

/** GraphQL requests, by the way they took and by document, mutations, and what limits turned away. */
export function requestMetrics(
	registry: Registry,
	{ documents, now = () => performance.now() }: MetricsOptions,
): Feeds {
	const requests = new Values(registry, "counter", {
		name: "corkboard_requests_total",
		help: "GraphQL requests answered, by way (reused: with a whole answer that was kept; short: past Fastify and Apollo; long), by how the document was sent (text, or known: by a name), kind of operation, outcome (ok; rejected: errors that the client can correct, or a limit; failed: an error on our side) and HTTP status.",
		labels: ["way", "document", "operation_type", "outcome", "status"],
	});
	const seconds = new Distributions(registry, REQUEST_SECONDS, {
		name: "corkboard_request_duration_seconds",
		help: "Time from the arrival of a GraphQL request to its response, by way.",
		labels: ["way"],
	});
	const cost = new Distributions(registry, COST_POINTS, {
		name: "corkboard_request_cost_points",
		help: "Worst-case cost of the operations that were admitted.",
	}).at();
	const errors = new Values(registry, "counter", {
		name: "corkboard_errors_total",
		help: "Errors in responses to GraphQL requests, by extensions.code.",
		labels: ["code"],
	});
	const ofDocuments = documentMetrics(registry, documents, now);
	const refused = new Values(registry, "counter", {
		name: "corkboard_refused_total",
		help: "Requests and connections that a limit turned away, by limit.",
		labels: ["limit"],
	});

	// From 0, because a rate misses the count with which a series begins.
	for (const code of Object.keys(ERRORS).filter(isClientCode)) errors.at(code);
	for (const limit of REFUSED_LIMITS) refused.at(limit);

	const seriesOfRequest = (completed: RequestCompleted): OfRequest => {
		const { way, isText, type, status } = completed;
		const document = isText === null ? "none" : isText ? "text" : "known";
		const outcome = outcomeOf(completed);
		const labels = [way, document, type ?? "none", outcome, String(status)];
		return {
			isText,
			type,
			status,
			count: requests.at(...labels),
			seconds: seconds.at(way),
		};
	};
	/** By way, of the last request without an error: the next one is mostly like it. */
	const last = new Map<string, OfRequest>();
	const ofRequest = (completed: RequestCompleted): OfRequest => {
		const { way, isText, type, status, codes } = completed;
		if (codes.length > 0) return seriesOfRequest(completed);
		const known = last.get(way);
		if (
			known !== undefined &&
			known.isText === isText &&
			known.type === type &&
			known.status === status
		) {
			return known;
		}
		const series = seriesOfRequest(completed);
		last.set(way, series);
		return series;
	};

	return [
		listen(SERVER_CHANNELS.request, (completed) => {
			const { ms, codes, sha256 } = completed;
			const { count, seconds } = ofRequest(completed);
			count.value++;
			seconds.observe(ms / 1_000);
			if (completed.cost !== null) cost.observe(completed.cost);
			for (const code of codes) errors.at(code).value++;
			if (sha256 === null) return;
			const series = ofDocuments.count(sha256, completed.operation ?? "");
			series.requests.value++;
			series.seconds.value += ms / 1_000;
			if (completed.cost !== null) series.cost.value += completed.cost;
		}),
		...mutationMetrics(registry),
		listen(
			PLAN_CHANNELS.refused,
			(message) => refused.at(message.limit).value++,
		),
	];
}

function mutationMetrics(registry: Registry): Feeds {
	const mutations = new Values(registry, "counter", {
		name: "corkboard_mutations_total",
		help: "Root fields of mutations that ran, by field and result: ok, or the code of the error of the field itself.",
		labels: ["mutation", "result"],
	});
	const mutationSeconds = new Values(registry, "counter", {
		name: "corkboard_mutation_duration_seconds_total",
		help: "Time of root fields of mutations with the reads of their payloads, by field.",
		labels: ["mutation"],
	});
	const mutationRetries = new Values(registry, "counter", {
		name: "corkboard_mutation_retries_total",
		help: "Writes of root fields of mutations that were rolled back and started again, by field and reason (deadlock; lockWait: waited too long for a row; shared: another write of the same database transaction failed; connectionLost; readOnly).",
		labels: ["mutation", "reason"],
	});
	/** Mutations whose series have begun. */
	const writing = new Set<string>();
	return [
		listen(PLAN_CHANNELS.mutation, ({ field, code, ms }) => {
			mutations.at(field, code ?? "ok").value++;
			mutationSeconds.at(field).value += ms / 1_000;
			if (writing.has(field)) return;
			writing.add(field);
			// From 0, because a rate misses the count with which a series begins.
			for (const reason of RETRIES) mutationRetries.at(field, reason);
		}),
		listen(PLAN_CHANNELS.mutationRetry, ({ field, reason }) => {
			mutationRetries.at(field, reason).value++;
		}),
	];
}

const RETRIES = ["deadlock", "lockWait", "readOnly", "moved"];

/** What is counted of requests that are alike. */
interface OfRequest
	extends Pick<RequestCompleted, "isText" | "type" | "status"> {
	readonly count: Value;
	readonly seconds: Distribution;
}

function outcomeOf({ codes, status }: RequestCompleted): string {
	if (codes.length === 0) return status < 400 ? "ok" : "rejected";
	return codes.some(isOurs) && status !== 429 ? "failed" : "rejected";
}

function isOurs(code: string): boolean {
	return !isClientCode(code) || ERRORS[code].status >= 500;
}

/** What is counted of requests for one operation of one document. */
interface OfDocument {
	readonly requests: Value;
	readonly seconds: Value;
	readonly cost: Value;
}

/** The operations that are sent most; the others share one series. */
function documentMetrics(
	registry: Registry,
	documents: number,
	now: () => number,
): TopDocuments<OfDocument> {
	const labels = ["document", "operation"] as const;
	// Those that were given up, and the one of the others (topDocuments.ts).
	const maxSeries = 2 * documents + 1;
	const documentRequests = new Values(registry, "counter", {
		name: "corkboard_document_requests_total",
		help: "Requests for known documents, by the first 12 digits of the SHA-256 of the text and by operation: the most frequent of the last minutes; the rest as other.",
		labels,
		maxSeries,
		// Asked for before any of the three is printed.
		collect: (): void => ofDocuments.review(),
	});
	const documentSeconds = new Values(registry, "counter", {
		name: "corkboard_document_duration_seconds_total",
		help: "Time of requests for known documents, labeled as corkboard_document_requests_total.",
		labels,
		maxSeries,
	});
	const documentCost = new Values(registry, "counter", {
		name: "corkboard_document_cost_points_total",
		help: "Cost of requests for known documents, labeled as corkboard_document_requests_total.",
		labels,
		maxSeries,
	});
	const ofDocuments: TopDocuments<OfDocument> = new TopDocuments({
		limit: documents,
		open: (...labels) => ({
			requests: documentRequests.at(...labels),
			seconds: documentSeconds.at(...labels),
			cost: documentCost.at(...labels),
		}),
		close(...labels) {
			for (const metric of [documentRequests, documentSeconds, documentCost]) {
				metric.remove(...labels);
			}
		},
		now,
	});
	return ofDocuments;
}
