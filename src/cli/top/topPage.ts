import { compact } from "../../util/compact.ts";
import { formatNumber } from "../../util/format.ts";
import { table } from "../table.ts";
import type { TopReport } from "./topReport.ts";

interface TopPage {
	/** Where the numbers come from. */
	readonly url: string;
	/** Null before the second scrape. */
	readonly report: TopReport | null;
	/** Why the last scrape failed, and for how many seconds it has; null if it did not. */
	readonly failure: {
		readonly reason: string;
		readonly seconds: number;
	} | null;
	readonly clock: string;
}

/** What is not known. */
const UNKNOWN = "–";
/** Documents that are shown if there is room; the page of a large fleet keeps this many at least. */
const MIN_DOCUMENTS = 3;

/** The lines of the page, for a terminal of this size: none longer, and not more. Without a size all. */
export function topPage(
	{ url, report, failure, clock }: TopPage,
	size: { readonly columns: number; readonly rows: number } | null,
): readonly string[] {
	const head = compact([
		`corkboard top  ${url}${report ? `  ${summaryOf(report)}` : ""}  ${clock}`,
		failure !== null &&
			`NO ANSWER for ${failure.seconds} s${report ? "; the numbers are from before" : ""}. ${failure.reason}`,
	]);
	const lines = [
		...head,
		...(report === null
			? ["", failure === null ? "The first numbers come in a moment." : ""]
			: bodyOf(report, size === null ? null : size.rows - head.length - 1)),
	];
	const shown = size === null ? lines : lines.slice(0, size.rows - 1);
	return compact([
		...shown.map((text) => {
			const line = printable(text);
			return size === null || line.length <= size.columns
				? line
				: `${line.slice(0, Math.max(0, size.columns - 1))}…`;
		}),
		size !== null && "q quits".slice(0, size.columns),
	]);
}

/** Names come from clients and servers: none may move the cursor. */
function printable(text: string): string {
	return text.replaceAll(/\p{Cc}/gu, "?");
}

function summaryOf({ processes, topology, process }: TopReport): string {
	return compact([
		`topology ${number(topology.version)}${topology.rejected ? " (FILE REJECTED)" : ""}`,
		processes !== null &&
			`${processes} ${processes === 1 ? "process" : "processes"}`,
		`CPU ${percent(process.cpu)}`,
		`memory ${bytes(process.residentBytes)}`,
	]).join("  ");
}

function bodyOf(report: TopReport, rows: number | null): readonly string[] {
	const { requests, process, outbox, invalidation } = report;
	const rates = (all: Readonly<Record<string, number>>) =>
		Object.entries(all)
			.toSorted(([, a], [, b]) => b - a)
			.map(([name, rate]) => `${name} ${perSecond(rate)}`)
			.join(", ");
	const ways = rates(requests.byWay);
	const errors = rates(requests.errors);
	const refused = rates(requests.refused);
	const top = compact([
		"",
		...table([
			[
				"requests/s",
				"errors/s",
				"refused/s",
				"p50",
				"p99",
				"loop busy",
				"loop p99",
				"heap",
			],
			[
				number(requests.perSecond),
				number(requests.errorsPerSecond),
				number(requests.refusedPerSecond),
				ms(requests.p50Ms),
				ms(requests.p99Ms),
				percent(process.eventLoopBusy),
				ms(process.eventLoopP99Ms),
				bytes(process.heapBytes),
			],
		]),
		ways !== "" && `by way: ${ways}`,
		errors !== "" && `errors: ${errors}`,
		refused !== "" && `refused: ${refused}`,
		`outbox  pending ${number(outbox.pending)}, oldest ${seconds(outbox.oldestSeconds)}, delivered ${perSecond(outbox.deliveredPerSecond)}, undelivered ${perSecond(outbox.undeliveredPerSecond)}` +
			`   invalidation lag ${ms(invalidation.meanLagMs)}, bypassed shards ${number(invalidation.bypassedShards)}`,
	]);
	const bottom = compact([
		"",
		...table([
			[
				"host",
				"state",
				"stmts/s",
				"rows/s",
				"fails/s",
				"mean",
				"p99",
				"used",
				"waiting",
				"outbox",
				"oldest",
			],
			...report.hosts.map((host) => [
				host.host,
				(host.serverChanges ?? 0) > 0 ? "moved" : state(host.up),
				number(host.statementsPerSecond),
				number(host.rowsPerSecond),
				number(host.failuresPerSecond),
				ms(host.meanMs),
				ms(host.p99Ms),
				number(host.used),
				number(host.waiting),
				number(host.outboxPending),
				seconds(host.outboxOldestSeconds),
			]),
		]),
		report.hosts.length === 0 &&
			"no statement was sent to a host yet, or all shards are embedded",
		"",
		...table([
			[
				"cache",
				"",
				"state",
				"hits",
				"calls/s",
				"mean",
				"fails/s",
				"size",
				"evicted/s",
			],
			...report.caches.map((cache) => [
				cache.name,
				cache.layer,
				cache.layer === "process" ? "" : state(cache.up),
				percent(cache.hitRate),
				cache.layer === "process" ? "" : number(cache.callsPerSecond),
				cache.layer === "process" ? "" : ms(cache.meanMs),
				cache.layer === "process" ? "" : number(cache.failedPerSecond),
				bytes(cache.bytes),
				number(cache.evictionsPerSecond),
			]),
		]),
	]);
	const room =
		rows === null
			? report.documents.length
			: Math.max(MIN_DOCUMENTS, rows - top.length - bottom.length - 3);
	return [...top, ...documentsOf(report, room), ...bottom];
}

function documentsOf(
	{ documents }: TopReport,
	room: number,
): readonly string[] {
	if (documents.length === 0) return [];
	const more = documents.length - room;
	return compact([
		"",
		...table([
			[
				"slowest document",
				"operation",
				"mean",
				"per second",
				"cost",
				"of the time",
			],
			...documents
				.slice(0, room)
				.map((each) => [
					each.document,
					each.operation,
					ms(each.meanMs),
					number(each.perSecond),
					number(each.meanCost),
					percent(each.share),
				]),
		]),
		more > 0 && `and ${more} more`,
	]);
}

function state(up: boolean | null): string {
	return up === null ? UNKNOWN : up ? "up" : "DOWN";
}

/** `0.42`, `12.3`, `1,234` */
function number(value: number | null): string {
	if (value === null) return UNKNOWN;
	if (Number.isInteger(value) || Math.abs(value) >= 100) {
		return formatNumber(Math.round(value));
	}
	return value.toFixed(Math.abs(value) < 10 ? 2 : 1);
}

function perSecond(value: number | null): string {
	return `${number(value)}/s`;
}

function ms(value: number | null): string {
	return value === null ? UNKNOWN : `${number(value)} ms`;
}

function seconds(value: number | null): string {
	return value === null ? UNKNOWN : `${number(Math.round(value))} s`;
}

function percent(value: number | null): string {
	return value === null ? UNKNOWN : `${Math.round(value * 100)} %`;
}

function bytes(value: number | null): string {
	if (value === null) return UNKNOWN;
	return value < 1e6
		? `${number(Math.round(value / 1e3))} kB`
		: `${number(Math.round(value / 1e6))} MB`;
}
