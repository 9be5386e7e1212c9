import type { PassReport } from "../../ops/migrate/state.ts";
import { formatNumber } from "../../util/format.ts";
import { table, withWideTables } from "../table.ts";

/** How far a migration is: a line for each pass. */
export function passTable(passes: readonly PassReport[]): readonly string[] {
	// A column without values is not shown.
	const shown = (count: (pass: PassReport) => number) =>
		passes.some((pass) => count(pass) > 0)
			? (pass: PassReport) => formatNumber(count(pass))
			: () => "";
	const withDeleted = shown((pass) => pass.withDeleted);
	const withRefused = shown((pass) => pass.withRefused);
	const rows = [
		[
			...["pass", "kind", "began", "rows", "made", "changed", "deleted"],
			...["unchanged", "bad", "with refused", "with deleted", "newer here"],
			...["took", ""],
		],
		...passes.map((pass, at) => [
			String(at + 1),
			[pass.kind, ...(pass.only ?? [])].join(" "),
			`${new Date(pass.began).toISOString().slice(0, 16).replace("T", " ")}Z`,
			...[pass.rows, pass.made, pass.changed, pass.deleted].map(formatNumber),
			...[pass.unchanged, pass.bad].map(formatNumber),
			...[withRefused(pass), withDeleted(pass), formatNumber(pass.newerHere)],
			formatSeconds(pass.seconds),
			pass.isFinished ? "" : "interrupted",
		]),
	];
	// A date whose end is cut says nothing.
	return withWideTables(() => table(rows));
}

function formatSeconds(seconds: number): string {
	if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
	const minutes = Math.floor(seconds / 60);
	return minutes < 60
		? `${minutes} min ${Math.round(seconds % 60)} s`
		: `${Math.floor(minutes / 60)} h ${String(minutes % 60).padStart(2, "0")}`;
}
