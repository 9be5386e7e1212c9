import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AttackFleet } from "./attackFleet.ts";
import type { Violation } from "./checks.ts";
import { Model } from "./model.ts";
import { Freshness } from "./register.ts";
import type { Session } from "./session.ts";
import { Timeline } from "./timeline.ts";

/** A session of clients whose answers no model judges: it says nothing of what may be shown. */
export function sessionWithoutModel(
	fleet: AttackFleet,
	report: (violation: Violation) => void,
	signal: AbortSignal,
): Session {
	const timeline = new Timeline(fleet.servers.map(({ number }) => number));
	return {
		fleet,
		model: new Model(new Freshness(timeline)),
		timeline,
		report,
		signal,
		statistics: {
			...{ requests: 0, reads: 0, writes: 0, acknowledged: 0 },
			...{ unknown: 0, refused: 0, pages: 0, slowest: { ms: 0, what: "" } },
		},
	};
}

/** Imports lines of NDJSON; throws with what the command printed. */
export async function importLines(
	fleet: AttackFleet,
	lines: string,
): Promise<void> {
	const file = join(fleet.folder, "graph.ndjson");
	await writeFile(file, lines);
	const { code, out, err } = await fleet.command(["import", file]);
	if (code !== 0) throw new Error(out + err);
}
