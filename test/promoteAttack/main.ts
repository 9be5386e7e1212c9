/** `npm run attack:promote`: a replica is promoted back and forth under load; every acknowledged write has to be there. */
import { parseArgs } from "node:util";
import { attackPromotions, type Report } from "./promoteAttack.ts";

const USAGE = `Usage: npm run attack:promote -- [options]

Runs three servers on a MySQL primary and its replica, reads and writes over HTTP at fixed rates,
and promotes back and forth meanwhile. The driver's own list of acknowledged writes is the proof.

  --rounds N      promotions (default 20)
  --reads N       reads a second (default 300)
  --writes N      writes a second (default 100)
  --scale F       both rates times this (default 1): a slow machine needs less
  --between MS    load before, between and after promotions (default 1000)
  --servers N     server processes (default 3)
  --json          print the report as JSON
  --help          print this

It exits with 0 if no promotion and no request failed and no acknowledged write is lost, else with 1.`;

const print = (line: string) => void process.stdout.write(`${line}\n`);
const warn = (line: string) => void process.stderr.write(`${line}\n`);

async function main(): Promise<number> {
	const { values } = parseArgs({
		options: {
			rounds: { type: "string", default: "20" },
			reads: { type: "string", default: "300" },
			writes: { type: "string", default: "100" },
			scale: { type: "string", default: "1" },
			between: { type: "string", default: "1000" },
			servers: { type: "string", default: "3" },
			json: { type: "boolean", default: false },
			help: { type: "boolean", default: false },
		},
	});
	if (values.help) {
		print(USAGE);
		return 0;
	}
	const number = (name: Exclude<keyof typeof values, "json" | "help">) => {
		const value = Number(values[name]);
		if (values[name].trim() !== "" && value > 0) return value;
		throw new Error(`--${name} must be a number above 0, got ${values[name]}.`);
	};
	const scale = number("scale");
	const report = await attackPromotions(
		{
			rounds: Math.ceil(number("rounds")),
			reads: number("reads") * scale,
			writes: number("writes") * scale,
			betweenMs: number("between"),
			servers: Math.ceil(number("servers")),
		},
		warn,
	);
	print(values.json ? JSON.stringify(report) : summary(report));
	return report.isBroken ? 1 : 0;
}

function summary(report: Report): string {
	const ms = ({ p50, max }: Report["pauseMs"]) =>
		`p50 ${Math.round(p50)} ms, at most ${Math.round(max)} ms`;
	return [
		`${report.rounds.length} promotions`,
		`pause (the longest time without an acknowledged write): ${ms(report.pauseMs)}`,
		`from the fence to the publication: ${ms(report.fenceMs)}`,
		`longest time without an acknowledged write and without a promotion: ${Math.round(report.quietGapMs)} ms`,
		`${report.reads} reads (the slowest ${Math.round(report.slowestReadMs)} ms), ${report.writes} writes (${Math.round(report.slowestWriteMs)} ms): ${report.failed} failed`,
		`${report.acknowledged} acknowledged: ${report.lost.length} lost, ${report.repeated.length} ids twice`,
		...report.failures,
		...report.rounds.flatMap(({ error }) => error ?? []),
	].join("\n");
}

try {
	process.exitCode = await main();
} catch (error) {
	warn(
		`attack:promote: ${error instanceof Error ? (error.stack ?? error) : error}`,
	);
	process.exitCode = 1;
}
