import { listVersions, readVersion } from "../../topology/history.ts";
import { command } from "../command.ts";
import { table } from "../table.ts";
import { openStoreForCommand } from "../topologyCommand.ts";

const PRINTED = 20;

export const { usage, run } = command({
	summary: "Prints who published which version of the topology, newest first.",
	details: "The newest 20 are printed of the 1,000 that are kept.",
	async run(_given, context) {
		await using store = openStoreForCommand(context);
		const versions = (await listVersions(store)).slice(0, PRINTED);
		const entries = await Promise.all(
			versions.map((version) => readVersion(store, version)),
		);
		const known = entries
			.filter((entry) => entry !== null)
			.map(({ topology: { version }, by, at, why, operation }) => ({
				...{ version, at, by, why, operation },
			}));
		return { value: known, lines: printed(known) };
	},
});

function printed(
	known: readonly {
		readonly version: number;
		readonly at: string;
		readonly by: string;
		readonly why: string;
	}[],
): readonly string[] {
	if (known.length === 0) return ["no version was published yet"];
	return table([
		["version", "at (UTC)", "why", "by"],
		...known.map(({ version, at, by, why }) => [
			String(version),
			at.slice(0, 16).replace("T", " "),
			...[why, by],
		]),
	]);
}
