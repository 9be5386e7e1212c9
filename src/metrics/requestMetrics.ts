import { Counter, Histogram, type Registry } from "prom-client";
import {
	CHANNELS,
	type Refused,
	type RequestCompleted,
} from "../diagnostics.ts";
import { COST_POINTS, REQUEST_SECONDS } from "./buckets.ts";
import type { Feeds } from "./feeds.ts";

const OTHER = "other";

/** GraphQL requests, by the way they took and by document, and what limits turned away. */
export function requestMetrics(registry: Registry, documents: number): Feeds {
	const registers = [registry];
	const requests = new Counter({
		name: "corkboard_requests_total",
		help: "GraphQL requests answered, by way (reused: with a whole answer that was kept; short: past Fastify and Apollo; long), kind of operation, and HTTP status.",
		labelNames: ["way", "operation_type", "status"],
		registers,
	});
	const seconds = new Histogram({
		name: "corkboard_request_duration_seconds",
		help: "Time from the arrival of a GraphQL request to its response, by way.",
		labelNames: ["way"],
		buckets: REQUEST_SECONDS,
		registers,
	});
	const cost = new Histogram({
		name: "corkboard_request_cost_points",
		help: "Worst-case cost of the operations that were admitted.",
		buckets: COST_POINTS,
		registers,
	});
	const errors = new Counter({
		name: "corkboard_errors_total",
		help: "Errors in responses to GraphQL requests, by extensions.code.",
		labelNames: ["code"],
		registers,
	});
	const byDocument = new Counter({
		name: "corkboard_document_requests_total",
		help: "Requests for known documents, by the first 12 digits of the SHA-256 of the text and by operation; the rest as other.",
		labelNames: ["document", "operation"],
		registers,
	});
	const documentSeconds = new Counter({
		name: "corkboard_document_duration_seconds_total",
		help: "Time of requests for known documents, labeled as corkboard_document_requests_total.",
		labelNames: ["document", "operation"],
		registers,
	});
	const documentCost = new Counter({
		name: "corkboard_document_cost_points_total",
		help: "Cost of requests for known documents, labeled as corkboard_document_requests_total.",
		labelNames: ["document", "operation"],
		registers,
	});
	const refused = new Counter({
		name: "corkboard_refused_total",
		help: "Requests and connections that a limit on load turned away, by limit.",
		labelNames: ["limit"],
		registers,
	});

	const labeled = new Map<string, { document: string; operation: string }>();
	const labelsOf = ({ sha256, operation }: RequestCompleted) => {
		const key = `${sha256} ${operation}`;
		const known = labeled.get(key);
		if (known !== undefined) return known;
		if (labeled.size >= documents || sha256 === null) return OTHERS;
		const labels = {
			document: sha256.slice(0, 12),
			operation: operation ?? "",
		};
		labeled.set(key, labels);
		return labels;
	};

	return [
		[
			CHANNELS.request,
			(message) => {
				const completed = message as RequestCompleted;
				const { way, type, status, ms, codes } = completed;
				requests.inc({ way, operation_type: type ?? "none", status });
				seconds.observe({ way }, ms / 1_000);
				if (completed.cost !== null) cost.observe(completed.cost);
				for (const code of codes) errors.inc({ code });
				if (completed.sha256 === null) return;
				const labels = labelsOf(completed);
				byDocument.inc(labels);
				documentSeconds.inc(labels, ms / 1_000);
				if (completed.cost !== null) documentCost.inc(labels, completed.cost);
			},
		],
		[
			CHANNELS.refused,
			(message) => refused.inc({ limit: (message as Refused).limit }),
		],
	];
}

const OTHERS = { document: OTHER, operation: OTHER };
