import { writeFile } from "node:fs/promises";
import { Progress } from "../progress.ts";
import { describeMachine } from "../results.ts";
import { CAN_PIN } from "../servers/cores.ts";
import { type Figures, measureFleet } from "./measureFleet.ts";
import { readOptions } from "./options.ts";

export { usage } from "./options.ts";

/** One fleet. */
export interface Measured {
	readonly shards: number;
	/** `this`, or the folder of the other checkout. */
	readonly code: string;
	readonly minutes: number;
	readonly figures: Figures;
}

export async function run(args: readonly string[]): Promise<number> {
	const options = readOptions(args);
	const progress = new Progress();
	const stop = new AbortController();
	process.once("SIGINT", () => stop.abort(new Error("Interrupted.")));
	const measured: Measured[] = [];
	const { against } = options;
	const codes = against === null ? [null] : [null, against];
	const fleets = options.shards.flatMap((shards) =>
		codes.map((root) => ({ shards, root })),
	);
	// A fleet takes some minutes, and one of many shards longer: its tables are made one after another.
	const weightOf = (shards: number) => 100 + shards;
	let done = 0;
	for (const [at, { shards, root }] of fleets.entries()) {
		const began = progress.minutes;
		if (done > 0) {
			const left = fleets
				.slice(at)
				.reduce((sum, fleet) => sum + weightOf(fleet.shards), 0);
			progress.say(
				`about ${Math.ceil((progress.minutes / done) * left)} minutes are left`,
			);
		}
		progress.say(`${shards} shards, ${root ?? "this checkout"}`);
		const figures = await measureFleet(
			options,
			shards,
			root,
			progress,
			stop.signal,
		);
		done += weightOf(shards);
		const minutes = progress.minutes - began;
		measured.push({ shards, code: root ?? "this", minutes, figures });
	}
	const results = {
		at: new Date().toISOString(),
		machine: describeMachine(CAN_PIN),
		options,
		measured,
	};
	const text = `${JSON.stringify(results, null, "\t")}\n`;
	if (options.out !== null) await writeFile(options.out, text);
	console.log(options.json ? text.trimEnd() : densityTable(measured));
	return 0;
}

/** A column for each fleet, and a row for each figure; with 32 shards among them, the last fleet's of the same code beside theirs. */
export function densityTable(measured: readonly Measured[]): string {
	const names = Object.keys(measured[0]?.figures ?? {});
	const codes = [...new Set(measured.map(({ code }) => code))];
	const ratios = codes.flatMap((code) => {
		const own = measured.filter((fleet) => fleet.code === code);
		const [base, last] = [own.find(({ shards }) => shards === 32), own.at(-1)];
		return base === undefined || last === undefined || base === last
			? []
			: [{ code, base, last }];
	});
	const named = (code: string) => (codes.length > 1 ? `, ${code}` : "");
	return [
		`| | ${[
			...measured.map(({ shards, code }) => `${shards}${named(code)}`),
			...ratios.map(({ code, last }) => `${last.shards} ÷ 32${named(code)}`),
		].join(" | ")} |`,
		`|---|${"---:|".repeat(measured.length + ratios.length)}`,
		...names.map(
			(name) =>
				`| ${name} | ${[
					...measured.map(({ figures }) => shown(figures[name] ?? Number.NaN)),
					...ratios.map(({ base, last }) =>
						shown((last.figures[name] ?? 0) / (base.figures[name] ?? 0)),
					),
				].join(" | ")} |`,
		),
	].join("\n");
}

function shown(value: number): string {
	return Number.isFinite(value) ? String(Number(value.toPrecision(3))) : "–";
}
