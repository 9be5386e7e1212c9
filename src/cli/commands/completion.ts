import type { ParsedArguments, Usage } from "../arguments.ts";
import { UsageError } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { bashCompletion } from "../completion/bash.ts";
import { fishCompletion } from "../completion/fish.ts";
import { zshCompletion } from "../completion/zsh.ts";

const SHELLS: Readonly<
	Record<string, (usages: ReadonlyMap<string, Usage>) => string>
> = { bash: bashCompletion, zsh: zshCompletion, fish: fishCompletion };

export const usage: Usage = {
	summary: "Prints a script that completes commands and options in a shell.",
	operands: ["bash|zsh|fish"],
	options: {},
	details: [
		"For the `corkboard` of `npm link` or `npm install --global`:",
		"  bash: source <(corkboard completion bash)                 in ~/.bashrc",
		"  zsh:  source <(corkboard completion zsh)                  in ~/.zshrc, after compinit",
		"  fish: corkboard completion fish | source                  in ~/.config/fish/config.fish",
	].join("\n"),
};

export async function run(
	{ operands: [shell = ""] }: ParsedArguments,
	context: CommandContext,
	usages: () => Promise<ReadonlyMap<string, Usage>>,
): Promise<number> {
	const print = Object.hasOwn(SHELLS, shell) ? SHELLS[shell] : undefined;
	if (print === undefined) {
		throw new UsageError(
			`The shell must be ${Object.keys(SHELLS).join(", ")}, got ${JSON.stringify(shell)}.`,
		);
	}
	context.stdout(print(await usages()));
	return 0;
}
