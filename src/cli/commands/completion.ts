import type { Usage } from "../arguments.ts";
import { argument, command } from "../command.ts";
import { bashCompletion } from "../completion/bash.ts";
import { fishCompletion } from "../completion/fish.ts";
import { zshCompletion } from "../completion/zsh.ts";
import { oneOf } from "../values.ts";

const SHELLS = {
	bash: bashCompletion,
	zsh: zshCompletion,
	fish: fishCompletion,
} satisfies Record<string, (usages: ReadonlyMap<string, Usage>) => string>;

export const { usage, run } = command({
	summary: "Prints a script that completes commands and options in a shell.",
	arguments: {
		shell: argument(oneOf("bash|zsh|fish", ["bash", "zsh", "fish"])),
	},
	details: [
		"For the `corkboard` of `npm link` or `npm install --global`:",
		"  bash: source <(corkboard completion bash)                 in ~/.bashrc",
		"  zsh:  source <(corkboard completion zsh)                  in ~/.zshrc, after compinit",
		"  fish: corkboard completion fish | source                  in ~/.config/fish/config.fish",
	].join("\n"),
	hasJson: false,
	async run({ shell }, _context, usages) {
		return { lines: [SHELLS[shell](await usages())] };
	},
});
