/** `npm run attack -- promote`: a replica is promoted back and forth under load; every acknowledged write has to be there. */
import { parseArgs } from "node:util";
import { countOf, numberOf, UsageError } from "../../../tools/namedProgram.ts";
import { attackDead, DEATHS, isBroken } from "./deadAttack.ts";
import { attackNames, type NamesRound } from "./namesAttack.ts";
import { attackOpening, type OpeningReport } from "./openingAttack.ts";
import {
	attackPromotions,
	type Options as Load,
	type Report,
} from "./promoteAttack.ts";
import { attackStore, type StoreReport } from "./storeAttack.ts";

export const usage = `Usage: npm run attack -- promote [options]

Runs three servers on a MySQL primary and its replica, reads and writes over HTTP at fixed rates,
and promotes back and forth meanwhile. The driver's own list of acknowledged writes is the proof.

  --rounds N      promotions (default 20)
  --reads N       reads a second (default 300)
  --writes N      writes a second (default 100)
  --scale F       both rates times this (default 1): a slow machine needs less
  --between MS    load before, between and after promotions (default 1000)
  --servers N     server processes (default 3)
  --store NAME    where the topology is: file or zookeeper (default zookeeper)
  --stop          one server is paused (SIGSTOP) across each promotion; its requests may fail
  --open N        no promotions: N shards of a second pair are opened, and new users read everywhere
  --dead          each round kills, stops or cuts off the primary of a new pair, whose replica is
                  held back, while a server sleeps: what hosts promote --dead states as lost has to be what is lost
  --salvage       with --dead: the old primary is back, and salvage, killed once, brings back what it alone had
  --names         each round leads the one name of a pair to the other server: with old connections left, cut,
                  or led to the old server first, or without the last writes, until hosts accept-loss takes the loss
  --seed S        of the flips of --names (default 1)
  --store-faults  no promotions: three ZooKeeper servers are stopped and killed, each and all until every
                  session has expired, and 50 publishers are killed
  --json          print the report as JSON
  --help          print this

It exits with 0 if no promotion and no request failed and no acknowledged write is lost, else with 1.`;

/** Of publishers. */
const KILLS = 50;

export async function run(args: readonly string[]): Promise<number> {
	const { values } = parseArgs({
		args: [...args],
		options: {
			rounds: { type: "string" },
			reads: { type: "string" },
			writes: { type: "string" },
			scale: { type: "string" },
			between: { type: "string" },
			servers: { type: "string" },
			store: { type: "string", default: "zookeeper" },
			stop: { type: "boolean", default: false },
			open: { type: "string" },
			dead: { type: "boolean", default: false },
			salvage: { type: "boolean", default: false },
			names: { type: "boolean", default: false },
			seed: { type: "string" },
			"store-faults": { type: "boolean", default: false },
			json: { type: "boolean", default: false },
		},
	});
	const { store } = values;
	if (store !== "file" && store !== "zookeeper") {
		throw new UsageError(`--store must be file or zookeeper, got ${store}.`);
	}
	const scale = numberOf("scale", values.scale, 1, 0.001);
	const load: Load = {
		reads: numberOf("reads", values.reads, 300, 0.1) * scale,
		writes: numberOf("writes", values.writes, 100, 0.1) * scale,
		betweenMs: numberOf("between", values.between, 1_000, 1),
		servers: countOf("servers", values.servers, 3, 1),
		rounds: countOf("rounds", values.rounds, 20, 1),
		store,
		stop: values.stop,
	};
	const printed = <T>(report: T, text: (report: T) => string) =>
		console.log(values.json ? JSON.stringify(report) : text(report));
	if (values.open !== undefined) {
		const opened = countOf("open", values.open, 1, 1);
		const report = await attackOpening({ ...load, opened }, console.error);
		printed(report, openingSummary);
		return report.isBroken ? 1 : 0;
	}
	if (values["store-faults"]) {
		const report = await attackStore({ ...load, kills: KILLS }, console.error);
		printed(report, storeSummary);
		return report.isBroken ? 1 : 0;
	}
	if (values.names) {
		const seed = countOf("seed", values.seed, 1, 0);
		const rounds = await attackNames({ ...load, seed }, console.error);
		printed(rounds, namesSummary);
		return rounds.some(({ broken }) => broken.length > 0) ? 1 : 0;
	}
	if (values.salvage && !values.dead) {
		throw new UsageError("--salvage needs --dead.");
	}
	if (values.dead) return attackDeadPrimaries(load, values.salvage);
	const report = await attackPromotions(load, console.error);
	printed(report, summary);
	return report.isBroken ? 1 : 0;
}

async function attackDeadPrimaries(
	load: Load,
	salvages: boolean,
): Promise<number> {
	let broken = 0;
	for (let round = 0; round < load.rounds; round++) {
		const death = DEATHS[round % DEATHS.length] ?? "kill";
		const isEven = Math.floor(round / DEATHS.length) % 2 === 0;
		const when = isEven ? "before repair" : "after repair";
		const salvage = salvages ? when : "never";
		const found = await attackDead(death, { ...load, salvage }, console.error);
		if (isBroken(found)) broken++;
		console.log(JSON.stringify(found));
	}
	console.error(`${load.rounds} rounds, ${broken} broken`);
	return broken === 0 ? 0 : 1;
}

function summary(report: Report): string {
	const ms = ({ p50, max }: Report["pauseMs"]) =>
		`p50 ${Math.round(p50)} ms, at most ${Math.round(max)} ms`;
	return [
		`${report.rounds.length} promotions`,
		`pause (the longest time without an acknowledged write): ${ms(report.pauseMs)}`,
		`the slowest write of each promotion: ${ms(report.roundWriteMs)}`,
		`from the fence to the publication: ${ms(report.fenceMs)}`,
		`from the publication until all servers serve it: ${ms(report.agreedMs)}`,
		...report.rounds.map(
			({ pauseMs, slowestWriteMs, steps }, nth) =>
				`  ${nth + 1}: ${Math.round(pauseMs)} ms without a write, the slowest ${Math.round(slowestWriteMs)} ms; ${steps}`,
		),
		`longest time without an acknowledged write and without a promotion: ${Math.round(report.quietGapMs)} ms; the slowest write then: ${Math.round(report.quietWriteMs)} ms`,
		`${report.reads} reads (the slowest ${Math.round(report.slowestReadMs)} ms), ${report.writes} writes (${Math.round(report.slowestWriteMs)} ms): ${report.failed} failed`,
		`${report.acknowledged} acknowledged: ${report.lost.length} lost, ${report.repeated.length} ids twice`,
		...report.failures,
		...report.rounds.flatMap(({ error }) => error ?? []),
	].join("\n");
}

function openingSummary(report: OpeningReport): string {
	return [
		report.opening.trim(),
		`${Math.round(report.openingMs)} ms; ${report.users} users signed up, ${report.placed} of them on new shards; each was read on every server at once`,
		`${report.reads} reads (the slowest ${Math.round(report.slowestReadMs)} ms), ${report.writes} writes (${Math.round(report.slowestWriteMs)} ms), ${report.followed} reads of new users: ${report.failed} failed, ${report.nulls} answered null`,
		`${report.lost.length} lost`,
		...report.failures,
	].join("\n");
}

function namesSummary(rounds: readonly NamesRound[]): string {
	const sum = (count: (round: NamesRound) => number) =>
		rounds.reduce((all, round) => all + count(round), 0);
	return [
		...rounds.map(
			({ flip, backMs, acknowledged, failed, lost, inFlight, broken }, nth) =>
				`  ${nth + 1}: ${flip}, writes back after ${Math.round(backMs)} ms; ${acknowledged} acknowledged, ${failed} requests failed, ${lost} lost and named, ${inFlight} named and never acknowledged, ${broken.length} broken promises`,
		),
		`${rounds.length} flips, ${sum(({ reads }) => reads)} reads, ${sum(({ acknowledged }) => acknowledged)} acknowledged writes, ${sum(({ lost }) => lost)} lost, ${sum(({ conflicts }) => conflicts)} conflicts, ${sum(({ broken }) => broken.length)} broken promises`,
		...rounds.flatMap(({ broken }) => broken),
	].join("\n");
}

function storeSummary(report: StoreReport): string {
	const { p50, max } = report.adoptedMs;
	return [
		...report.faults.map(
			({ fault, listedMs }) =>
				`${fault}: all servers listed again ${Math.round(listedMs)} ms after its end`,
		),
		`${report.publications} versions: all servers served one p50 ${Math.round(p50)} ms, at most ${Math.round(max)} ms after it was there`,
		`${report.kills} publishers killed: ${report.publishedByKilled} had published, ${report.torn.length} versions are half there`,
		`${report.reads} reads (the slowest ${Math.round(report.slowestReadMs)} ms), ${report.writes} writes (${Math.round(report.slowestWriteMs)} ms): ${report.failed} failed`,
		...report.failures,
		...report.torn,
	].join("\n");
}
