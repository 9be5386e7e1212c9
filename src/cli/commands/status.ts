import { monitorEventLoopDelay } from "node:perf_hooks";
import { readConfig } from "../../config/config.ts";
import type { FleetStatus } from "../../fleet/fleetStatus.ts";
import type { CacheReport } from "../../fleet/inspectCaches.ts";
import { type HostReport, settingProblems } from "../../storage/hostReport.ts";
import type { Member } from "../../topology/members.ts";
import { compact } from "../../util/compact.ts";
import { formatNumber } from "../../util/format.ts";
import { command } from "../command.ts";
import { table } from "../table.ts";

/** If the event loop is blocked for so long, an answer may have been there and not read in time. Milliseconds. */
const DELAY_MS = 200;

export const { usage, run } = command({
	isWatched: true,
	summary: "Asks every host and cache whether it serves.",
	details:
		"All hosts are asked at once, for three seconds at most, and nothing is changed. What does not answer in time is unknown, not down.",
	exitCodes: { 1: "something is wrong, each in a sentence; or an error" },
	async run(_given, context) {
		const delay = monitorEventLoopDelay({ resolution: 10 });
		limitNameLookups();
		const config = readConfig(context.env, { secret: "unneeded" });
		// Loaded on demand: the help does not need it.
		const { fleetStatus } = await import("../../fleet/fleetStatus.ts");
		const own = await context.app();
		delay.enable();
		const status = await fleetStatus(own, config);
		delay.disable();
		// 0 if there was no sample.
		const delayMs = delay.max / 1e6;
		return {
			value: asJson(status, delayMs),
			lines: printed(status, delayMs),
			code: status.healthy ? 0 : 1,
		};
	},
});

/**
 * If no name server answers, the system looks up the name of a host for ten
 * seconds and more. Nothing can stop a lookup, and the process ends after it. So
 * the C library (glibc) is set to ask once, for a second.
 */
function limitNameLookups(): void {
	process.env.RES_OPTIONS ??= "timeout:1 attempts:1";
}

function printed(status: FleetStatus, delayMs: number): readonly string[] {
	const { healthy, problems, topology, hosts, caches } = status;
	const { source, version, shards, openShards, heldShards } = topology;
	const held =
		heldShards.length > 0 ? `, ${heldShards.length} of them held` : "";
	return compact([
		healthy
			? "healthy"
			: `not healthy: ${problems.length === 1 ? "1 problem" : `${problems.length} problems`}`,
		...problems
			.flatMap((problem) => problem.split("\n"))
			.map((line) => `  ${line}`),
		delayMs >= DELAY_MS &&
			[...hosts, ...caches].some(({ isSilent }) => isSilent) &&
			`  This command was paused for up to ${formatNumber(Math.round(delayMs))} ms: what is unknown may be well.`,
		"",
		`topology version ${version} of ${source}: ${shards} shards, ${openShards} open${held}; ${topology.modShards} mod shards`,
		topology.store === "down" &&
			"  its store does not answer: this is the last good version",
		"",
		...memberLines(status),
		...status.operations.flatMap(({ id, step, isHeld }) =>
			isHeld ? [`${id} runs: at "${step}"`, ""] : [],
		),
		...table([
			["host", "", "state", "answers in", "shards", "outbox", "tables missing"],
			...hosts.map(hostRow),
			...caches.map(cacheRow),
		]),
		...settingProblems(hosts),
	]);
}

/** What is not known. */
const UNKNOWN = "–";

const MEMBER_HEAD = [
	"process",
	"role",
	"version",
	"oldest in use",
	"since",
	"model",
];

function memberLines({ members, topology }: FleetStatus): readonly string[] {
	if (members === null) {
		// If the store is a file, most often nobody can write beside it.
		return topology.store === null ? [] : ["processes: not known", ""];
	}
	return members.length === 0
		? []
		: [...table([MEMBER_HEAD, ...members.map(memberRow)]), ""];
}

function memberRow(member: Member): readonly string[] {
	const { id, role, version, oldest, since, model } = member;
	const isStarting = version === 0;
	return [
		id,
		role,
		isStarting ? "starting" : String(version),
		isStarting ? "" : String(oldest),
		new Date(since).toISOString().slice(0, 19).replace("T", " "),
		model,
	];
}

function hostRow(report: HostReport): readonly string[] {
	const { host, role, ms, shards, modShards, outbox, missingTables } = report;
	const { feeds = 0 } = report;
	const isPrimary = role === "primary";
	return [
		host,
		role,
		stateOf(report),
		ms === null ? UNKNOWN : `${ms.toFixed(1)} ms`,
		isPrimary
			? `${shards.length} + ${modShards.length}${feeds > 0 ? ` + ${feeds} feeds` : ""}`
			: "",
		!isPrimary
			? ""
			: outbox === null
				? UNKNOWN
				: outbox.pending === 0
					? "0"
					: `${formatNumber(outbox.pending)}, oldest ${outbox.oldestSeconds} s`,
		isPrimary ? String(missingTables?.length ?? UNKNOWN) : "",
	];
}

function stateOf(report: HostReport): string {
	const { role, error, isSilent, isReadOnly, replication } = report;
	if (error !== null) return isSilent ? "unknown" : "down";
	if (role === "primary") return isReadOnly ? "read-only" : "up";
	if (replication === null) return "up, lag not known";
	if (!replication.isRunning) return "not replicating";
	return `up, ${replication.lagSeconds ?? UNKNOWN} s behind`;
}

function cacheRow(report: CacheReport): readonly string[] {
	const { layer, host, error, isSilent } = report;
	const state = error === null ? "up" : isSilent ? "unknown" : "down";
	return [host, layer, state, "", "", "", ""];
}

/** Null: nothing came in time, so nobody knows. */
function isUp({
	error,
	isSilent,
}: Pick<HostReport, "error" | "isSilent">): boolean | null {
	return isSilent ? null : error === null;
}

/** How far a clock is before this machine's. */
function secondsOf({ least, most }: NonNullable<HostReport["clock"]>): number {
	return Number(((least + most) / 2_000).toFixed(3));
}

function jsonOfMember({ id, role, ...member }: Member) {
	const { host, pid, version, oldest, since, model, clock } = member;
	return {
		id,
		role,
		host,
		pid,
		version,
		oldest,
		since,
		model,
		clockSeconds: clock,
	};
}

/** docs/reference/commands-json.md describes this shape: scripts rely on it. */
function asJson(
	{ hosts, caches, map: _, clocks: __, ...status }: FleetStatus,
	eventLoopDelayMs: number,
) {
	return {
		...status,
		eventLoopDelayMs: Number(eventLoopDelayMs.toFixed(3)),
		members: status.members?.map(jsonOfMember) ?? null,
		hosts: hosts.map((report) => {
			const { host, role, error, version, server, settings, outbox } = report;
			const { clock, ms, feeds = 0, missingTables, replication } = report;
			return {
				host,
				role,
				up: isUp(report),
				error,
				clockSeconds: clock && secondsOf(clock),
				ms: ms && Number(ms.toFixed(3)),
				version,
				readOnly: report.isReadOnly,
				server,
				shards: report.shards.length,
				modShards: report.modShards.length,
				feeds,
				missingTables: missingTables?.length ?? null,
				settings,
				outbox,
				replication: replication && {
					running: replication.isRunning,
					lagSeconds: replication.lagSeconds,
					error: replication.error,
				},
			};
		}),
		caches: caches.map(({ layer, host, error, isSilent }) => ({
			layer,
			host,
			up: isUp({ error, isSilent }),
			error,
		})),
	};
}
