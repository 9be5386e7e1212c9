import type { FastifyReply, FastifyRequest } from "fastify";
import type { HttpApp } from "./httpApp.ts";
import type { Ways } from "./ways.ts";

/** What a process needs to serve. */
export interface HealthChecks {
	/** Whether the topology is read and at least one host with shards answers. */
	isReady(): Promise<boolean>;
	report(): Promise<HealthReport>;
}

/** What `/health/ready` says. */
export type Readiness = "ready" | "not ready" | "draining";

/** The body of `/health/ready?verbose`. */
export interface HealthReport {
	readonly topologyVersion: number;
	/** Where the topology is kept; null: in an embedded folder. No request needs it. */
	readonly topologyStore: TopologyStoreHealth | null;
	/** Hosts of shards and mod shards. */
	readonly hosts: readonly HostHealth[];
	/** The process serves without those that are down. */
	readonly caches: readonly CacheHealth[];
}

export interface TopologyStoreHealth {
	/** The file, or `zk://host:port/path`. */
	readonly name: string;
	/** `rejected`: its topology cannot be used. If it is not `up`, `topologyVersion` is the last good one. */
	readonly state: "up" | "down" | "rejected";
	/** Only if it is not up. */
	readonly error?: string;
}

export interface HostHealth {
	readonly host: string;
	readonly state: "up" | "down";
	readonly shards: number;
	readonly modShards: number;
	/** Only if it is down. */
	readonly error?: string;
}

export interface CacheHealth {
	readonly layer: string;
	readonly host: string;
	readonly state: "up" | "down";
	readonly error?: string;
}

export async function readinessOf(
	{ shutdown }: Pick<HttpApp, "shutdown">,
	checks: Pick<HealthChecks, "isReady">,
): Promise<Readiness> {
	if (shutdown.isLeaving) return "draining";
	const isReady = await checks.isReady().catch(() => false);
	return isReady ? "ready" : "not ready";
}

/**
 * `/health/live`: the process runs; restart it otherwise. `/health/ready`: it
 * can serve; send it no requests otherwise. `/health/ready?verbose` also
 * reports each host, to operators and over loopback; to others it is the same
 * as without `verbose`.
 */
export function registerHealth(
	http: HttpApp,
	options: {
		readonly checks: HealthChecks;
		readonly ways: Ways;
		/** GraphQL requests: those in progress, those of them that wait for their start, and how many there may be. */
		readonly admission: {
			readonly count: number;
			readonly waiting: number;
			readonly limit: number;
		};
		/** By the Authorization header. */
		readonly isOperator: (authorization: string) => Promise<boolean>;
	},
): void {
	const { checks, ways, admission, isOperator } = options;

	async function maySeeHosts(request: FastifyRequest): Promise<boolean> {
		if (isLoopback(request)) return true;
		const { authorization } = request.headers;
		if (authorization === undefined) return false;
		return isOperator(authorization).catch(() => false);
	}

	http.app.route({
		method: ASKED_BY,
		url: "/health/live",
		handler: async (_request, reply) =>
			sendStatus(reply, 200, { status: "live" }),
	});
	http.app.route<{ Querystring: { verbose?: unknown } }>({
		method: ASKED_BY,
		url: "/health/ready",
		async handler(request, reply) {
			const status = await readinessOf(http, checks);
			const isVerbose =
				request.query.verbose !== undefined && (await maySeeHosts(request));
			return sendStatus(reply, status === "ready" ? 200 : 503, {
				status,
				...(isVerbose
					? {
							...(await checks.report()),
							requests: ways,
							inProgress: {
								requests: admission.count,
								waiting: admission.waiting,
								limit: admission.limit,
							},
						}
					: {}),
			});
		},
	});
}

/** Checks of some load balancers, `wget --spider` and `curl -I` send HEAD. */
const ASKED_BY = ["GET", "HEAD"];

/** Sent from this machine, and by no proxy on it. */
function isLoopback({ socket, headers }: FastifyRequest): boolean {
	const { remoteAddress = "" } = socket;
	return (
		/^(?:127\.|::1$|::ffff:127\.)/.test(remoteAddress) &&
		headers["x-forwarded-for"] === undefined &&
		headers.forwarded === undefined
	);
}

function sendStatus(
	reply: FastifyReply,
	code: number,
	body: object & { readonly status: string },
): FastifyReply {
	return reply.code(code).send(body);
}
