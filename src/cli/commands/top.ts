import { setTimeout as sleep } from "node:timers/promises";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { UsageError } from "../arguments.ts";
import { command, flag, option } from "../command.ts";
import type { CommandContext } from "../commandContext.ts";
import { Between } from "../top/between.ts";
import { type Scrape, scrape } from "../top/scrape.ts";
import { openTerminal } from "../top/terminal.ts";
import { topPage } from "../top/topPage.ts";
import { type TopReport, topReport } from "../top/topReport.ts";
import { duration, type Kind } from "../values.ts";

const ADMIN_URL: Kind<string> = {
	name: "URL",
	expected: "an address such as http://127.0.0.1:9464",
	read(given) {
		const url = URL.parse(given);
		return url !== null && /^https?:$/.test(url.protocol)
			? url.href.replace(/(\/metrics)?\/?$/, "")
			: undefined;
	},
};

export const { usage, run } = command({
	summary:
		"Shows what a server does now: requests, documents, hosts, caches, outbox.",
	options: {
		url: option(
			ADMIN_URL,
			"the server's admin address, such as http://127.0.0.1:9464 (default: CORKBOARD_ADMIN)",
		),
		every: option(duration(1_000, 60_000), "1s to 1m (default 2s)", 2_000),
		once: flag("print it once, over that time, and end"),
	},
	details:
		"q quits. It reads /metrics there: with --workers it shows all processes together. --json needs --once.",
	exitCodes: { 1: "the admin address does not answer, or an error" },
	async run({ url: given, every, once, json }, context) {
		const url = given ?? configuredAddress(context);
		if (json && !once) throw new UsageError("--json needs --once.");
		const interruption = context.interruptSignal();
		const first = await unlessEnded(scrape(url, interruption), interruption);
		if (first === null) return 0;
		if (!once) return watch(url, first, every, interruption);
		await sleep(every, undefined, { signal: interruption }).catch(() => {});
		const second = await unlessEnded(scrape(url, interruption), interruption);
		if (second === null) return 0;
		const report = topReport(new Between(first, second));
		const page = { url, report, failure: null, clock: clock() };
		return { value: report, lines: topPage(page, null) };
	},
});

/** Shows the page until `q`, Ctrl-C or a signal. A server that goes away may come back. */
async function watch(
	url: string,
	first: Scrape,
	everyMs: number,
	interruption: AbortSignal,
): Promise<number> {
	const quitting = new AbortController();
	const signal = AbortSignal.any([interruption, quitting.signal]);
	const now: {
		report: TopReport | null;
		failure: { readonly reason: string; readonly since: number } | null;
	} = { report: null, failure: null };
	const draw = () => {
		if (terminal === null) return;
		const { report, failure } = now;
		const shown = failure && {
			reason: failure.reason,
			seconds: Math.round((performance.now() - failure.since) / 1_000),
		};
		const page = { url, report, failure: shown, clock: clock() };
		terminal.show(topPage(page, terminal.size()));
	};
	using terminal = openTerminal(
		{ input: process.stdin, output: process.stdout },
		{
			key(key) {
				if (QUITS.has(key)) quitting.abort();
			},
			resize: draw,
		},
	);
	if (terminal === null) {
		throw new UsageError(
			"top needs a terminal. For scripts: top --once --json.",
		);
	}
	let last = first;
	for (;;) {
		draw();
		await sleep(everyMs, undefined, { signal }).catch(() => {});
		if (signal.aborted) return 0;
		try {
			const next = await unlessEnded(scrape(url, signal), signal);
			if (next === null) return 0;
			now.report = topReport(new Between(last, next));
			last = next;
			now.failure = null;
		} catch (error) {
			if (!(error instanceof CorkboardError)) throw error;
			now.failure = {
				reason: error.message,
				since: now.failure?.since ?? performance.now(),
			};
		}
	}
}

/** Null once the signal is there: a person who quits waits for nothing, and gets no failure to read. */
async function unlessEnded<T>(
	promise: Promise<T>,
	signal: AbortSignal,
): Promise<T | null> {
	try {
		return await promise;
	} catch (error) {
		if (signal.aborted) return null;
		throw error;
	}
}

/** `q`, `Q`, Ctrl-C, Ctrl-D. */
const QUITS = new Set(["q", "Q", "\x03", "\x04"]);

/** That of the server which the settings configure. */
function configuredAddress(context: CommandContext): string {
	const { admin } = readConfig(context.env, { secret: "unneeded" });
	if (admin === null) {
		throw new UsageError(
			"Where is the server's admin address? Set CORKBOARD_ADMIN as for the server, such as 127.0.0.1:9464, or give --url.",
		);
	}
	// A server that listens on all addresses listens on this one too.
	const host = /^(0\.0\.0\.0|::)$/.test(admin.host) ? "127.0.0.1" : admin.host;
	return `http://${host.includes(":") ? `[${host}]` : host}:${admin.port}`;
}

/** `12:34:56` */
function clock(): string {
	return new Date().toISOString().slice(11, 19);
}
