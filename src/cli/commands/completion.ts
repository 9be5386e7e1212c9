import { isOver, listOperations } from "../../fleet/operations/operations.ts";
import { listQueues } from "../../queue/admin/queueAdmin.ts";
import type { Usage } from "../arguments.ts";
import { UsageError } from "../arguments.ts";
import { argument, command, option } from "../command.ts";
import type { CommandContext } from "../commandContext.ts";
import { bashCompletion } from "../completion/bash.ts";
import { fishCompletion } from "../completion/fish.ts";
import { VALUES, type Values } from "../completion/words.ts";
import { zshCompletion } from "../completion/zsh.ts";
import { withFleet } from "../fleetCommand.ts";
import { hostsIn, readMap } from "../mapLists.ts";
import { openQueuesForCommand } from "../queue/queueCommand.ts";
import { oneOf } from "../values.ts";

const SHELLS = {
	bash: bashCompletion,
	zsh: zshCompletion,
	fish: fishCompletion,
} satisfies Record<string, (usages: ReadonlyMap<string, Usage>) => string>;

export const { usage, run } = command({
	summary: "Prints a script that completes commands and options in a shell.",
	arguments: {
		shell: argument(
			oneOf("bash|zsh|fish|values", ["bash", "zsh", "fish", "values"]),
		),
	},
	details: [
		"For the `corkboard` of `npm link` or `npm install --global`:",
		"  bash: source <(corkboard completion bash)                 in ~/.bashrc",
		"  zsh:  source <(corkboard completion zsh)                  in ~/.zshrc, after compinit",
		"  fish: corkboard completion fish | source                  in ~/.config/fish/config.fish",
	].join("\n"),
	options: {
		kind: option(
			oneOf("KIND", VALUES),
			"with values, which these scripts call: print the hosts, queues, moves or operations that the fleet has now",
		),
	},
	hasJson: false,
	async run({ shell, kind }, context, usages) {
		if ((shell === "values") !== (kind !== undefined)) {
			throw new UsageError("values and --kind belong together.");
		}
		if (shell === "values") {
			return { lines: await VALUES_OF[kind ?? "hosts"](context) };
		}
		return { lines: [SHELLS[shell](await usages())] };
	},
});

/** What the fleet has of each kind. */
const VALUES_OF: Readonly<
	Record<Values, (context: CommandContext) => Promise<readonly string[]>>
> = {
	hosts: async (context) =>
		hostsIn(await readMap(context)).map(({ host }) => host),
	async queues(context) {
		await using opened = await openQueuesForCommand(context, "readOnly");
		const { queues } = await listQueues(opened.store);
		return queues.map(({ name }) => name);
	},
	moves: (context) => idsOf(context, "move"),
	operations: (context) => idsOf(context),
};

function idsOf(
	context: CommandContext,
	kind?: string,
): Promise<readonly string[]> {
	return withFleet(context, async ({ store }) =>
		(await listOperations(store))
			.filter((record) => !isOver(record))
			.filter((record) => kind === undefined || record.kind === kind)
			.map(({ id }) => id),
	);
}
