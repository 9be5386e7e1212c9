import { createInterface } from "node:readline/promises";
import { openTopologyStore } from "../app/openTopology.ts";
import { readConfig } from "../config/config.ts";
import { CorkboardError } from "../errors.ts";
import type { PromoteOptions, PromotionResult } from "../ops/fleet/promote.ts";
import type { CommandContext } from "./commandContext.ts";

/** The store of the topology and the account of the operator, for `body`. Throws BAD_CONFIG for an embedded folder. */
export async function withFleet<T>(
	context: CommandContext,
	body: (options: Pick<PromoteOptions, "store" | "environment">) => Promise<T>,
): Promise<T> {
	const { store: place } = readConfig(context.env, { secret: "unneeded" });
	if (place.kind === "embedded") {
		throw new CorkboardError(
			"BAD_CONFIG",
			"An embedded folder has no fleet. Set CORKBOARD_TOPOLOGY.",
		);
	}
	await using store = openTopologyStore(place);
	return await body({ store, environment: context.env });
}

/** Asks on the terminal; without one, only `--yes` says yes. */
export async function confirm(
	context: CommandContext,
	question: string,
): Promise<boolean> {
	if (!context.isTerminal) {
		throw new CorkboardError("BAD_CONFIG", `${question} Pass --yes to say so.`);
	}
	const reader = createInterface({
		input: context.stdin,
		output: process.stderr,
	});
	try {
		return /^y(es)?$/i.test(await reader.question(`${question} [y/N] `));
	} finally {
		reader.close();
	}
}

/** What an operator reads of a promotion that is over. */
export function describePromotion({
	operation,
	from,
	to,
	version,
	pauseMs,
	agreement,
	isFollowing,
}: PromotionResult): readonly string[] {
	if (version === null) {
		return [
			`${operation}: rolled back; ${from} is the primary, nothing changed`,
		];
	}
	const agreed = agreement?.agreed.length ?? 0;
	const missing = agreement?.missing ?? [];
	return [
		`${operation}: published version ${version}: ${to} is the primary in the place of ${from}`,
		...(pauseMs === null
			? []
			: [
					`the old primary took no writes for ${Math.round(pauseMs)} ms until then`,
				]),
		...(agreement?.by === "members"
			? [
					`${agreed} of ${agreed + missing.length} processes serve it`,
					...missing.map(
						({ id, oldest }) => `  ${id} still runs version ${oldest}`,
					),
				]
			: []),
		...(isFollowing ? [`${from} follows ${to}, and takes no writes`] : []),
	];
}
