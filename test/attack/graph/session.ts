import { setTimeout as sleep } from "node:timers/promises";
import type { Random } from "../../../src/util/random.ts";
import { type ApiServer, NotSent, type Reply } from "./apiServer.ts";
import type { AttackFleet } from "./attackFleet.ts";
import {
	checkResponse,
	type Report,
	type ResponseError,
	type Violation,
} from "./checks.ts";
import type { Model, User } from "./model.ts";
import type { Operation, ProcessName, Reading } from "./register.ts";
import type { Timeline } from "./timeline.ts";

/** No request takes longer, whatever is wrong with the services. Milliseconds. */
const ANSWER_LIMIT_MS = 15_000;
/** The patience of clients that give up. Milliseconds. */
const SHORT_LIMIT_MS = 2_000;
/** How long after a fault a server may still be without what it needs. Milliseconds. */
const RECOVERY_MS = 20_000;

export interface Statistics {
	requests: number;
	reads: number;
	writes: number;
	/** Writes that were acknowledged, and those whose outcome nobody knows. */
	acknowledged: number;
	unknown: number;
	refused: number;
	pages: number;
	readonly slowest: { ms: number; what: string };
}

/** What all clients of a run share. */
export interface Session {
	readonly fleet: AttackFleet;
	readonly model: Model;
	readonly timeline: Timeline;
	readonly statistics: Statistics;
	readonly report: Report;
	/** Whether the run is over. */
	readonly signal: AbortSignal;
}

export interface Response {
	readonly reading: Reading;
	readonly data: Readonly<Record<string, unknown>> | null;
	readonly errors: readonly ResponseError[];
	readonly status: number;
}

/** How a request ended: with a response, without one, or before it was sent. */
export type Sent = Response | "no answer" | "not sent";

/** A server for a request: mostly one that has all it needs. */
export function pickServer(
	{ fleet, timeline }: Session,
	random: Random,
): ApiServer {
	const picked = random.pick(fleet.servers);
	return timeline.isImpaired(picked.number) && !random.chance(0.3)
		? random.pick(fleet.servers)
		: picked;
}

export function processOf(server: ApiServer): ProcessName {
	return `${server.number}#${server.starts}`;
}

interface SendOptions {
	readonly after?: Operation;
	readonly isImpatient?: boolean;
}

/** Sends an operation, and checks what holds for all: in time, with the token's user, without internal errors. */
export async function send(
	session: Session,
	server: ApiServer,
	viewer: User | null,
	query: string,
	variables: Readonly<Record<string, unknown>>,
	options: SendOptions = {},
): Promise<Sent> {
	const token = viewer?.token ?? null;
	const sent = await sendAs(session, server, token, query, variables, options);
	if (typeof sent !== "string") checkToken(session, viewer, sent);
	return sent;
}

/** The same with any token, or none. */
export async function sendAs(
	session: Session,
	server: ApiServer,
	token: string | null,
	query: string,
	variables: Readonly<Record<string, unknown>>,
	options: SendOptions = {},
): Promise<Sent> {
	const { timeline, statistics, report } = session;
	const process = processOf(server);
	const from = timeline.now();
	statistics.requests++;
	let reply: Reply;
	try {
		reply = await server.send(
			"POST",
			"/graphql",
			JSON.stringify({ query, variables }),
			token ? { authorization: `Bearer ${token}` } : {},
			options.isImpatient ? SHORT_LIMIT_MS : ANSWER_LIMIT_MS,
		);
	} catch (error) {
		if (error instanceof NotSent) {
			await sleep(100);
			return "not sent";
		}
		const to = timeline.now();
		if (
			to - from >= ANSWER_LIMIT_MS &&
			timeline.isQuiet(from - 1_000, to, server.number)
		) {
			report({
				kind: "late",
				promised: `server ${process} answers within ${ANSWER_LIMIT_MS / 1_000} s`,
				seen: `${error}: ${query.slice(0, 200)} ${JSON.stringify(variables)}`,
				objects: [],
			});
		}
		return "no answer";
	}
	const to = timeline.now();
	if (to - from > statistics.slowest.ms) {
		statistics.slowest.ms = to - from;
		statistics.slowest.what = query.slice(0, 120);
	}
	const { data = null, errors = [] } = reply.body as {
		data?: Readonly<Record<string, unknown>> | null;
		errors?: readonly ResponseError[];
	};
	const reading: Reading = {
		process,
		from,
		to,
		...(options.after && { after: options.after }),
	};
	const response = { reading, data, errors, status: reply.status };
	checkErrors(session, response, query);
	return response;
}

/** Checks all objects and lists of a response. A payload shows the write that it answers. */
export function check(
	session: Session,
	viewer: User | null,
	response: Response,
	report: Report = session.report,
): void {
	const { reading, errors, data } = response;
	checkResponse(session.model, data, { viewer, reading, errors, report });
}

export function codeOf(error: ResponseError): string {
	return error.extensions?.code ?? "none";
}

function checkToken(
	{ model, report }: Session,
	viewer: User | null,
	{ reading, status, data }: Response,
): void {
	if (viewer === null || viewer.id === null) return;
	const active = viewer.active.possible(reading, model.freshness);
	const exists = viewer.exists.possible(reading, model.freshness);
	const isRefused = status === 401;
	const isAccepted =
		data !== null && Object.values(data).some((value) => value !== null);
	const isWrong = isRefused
		? !active.has(false) && !exists.has(false)
		: isAccepted && !active.has(true);
	if (!isWrong) return;
	report({
		kind: "token",
		promised: `the token of user ${viewer.id}, ${isRefused ? "who is active" : "whose account is closed"}, is ${isRefused ? "accepted" : "refused"} at ${reading.process} from ${reading.from} ms`,
		seen: `status ${status}, ${JSON.stringify(data)}`,
		objects: [viewer.id],
	});
}

function checkErrors(
	{ timeline, report }: Session,
	{ reading, errors }: Response,
	query: string,
): void {
	const server = Number.parseInt(reading.process, 10);
	for (const error of errors) {
		const code = codeOf(error);
		const violation = (
			kind: Violation["kind"],
			promised: string,
		): Violation => ({
			kind,
			promised,
			seen: `${JSON.stringify(error)} for ${query.slice(0, 300)}`,
			objects: [],
		});
		if (code === "INTERNAL" || code === "none" || code.startsWith("GRAPHQL_")) {
			report(violation("internal", "no request ends with an unexpected error"));
		} else if (
			code === "UNAVAILABLE" &&
			!error.message.startsWith(NO_FEEDS) &&
			!timeline.hasExcuse(reading.from, reading.to, server, RECOVERY_MS) &&
			!timeline.wasBusy(reading.from - RECOVERY_MS)
		) {
			report(
				violation(
					"unavailable",
					`nothing is unavailable when nothing was wrong for ${RECOVERY_MS / 1_000} s`,
				),
			);
		}
	}
}

/** The map of an attacked fleet has no pools. */
const NO_FEEDS = "This server keeps no home feeds";
