import type { Usage } from "../arguments.ts";
import { completionsOf } from "./words.ts";

/** A script for bash 3.2 and later. */
export function bashCompletion(usages: ReadonlyMap<string, Usage>): string {
	const all = completionsOf(usages);
	const starts = all.map(({ after }) => after).filter((after) => after !== "");
	return [
		"# Completes the command line of corkboard in bash. Printed by: corkboard completion bash",
		"_corkboard() {",
		`	local cur="\${COMP_WORDS[COMP_CWORD]}" prev="\${COMP_WORDS[COMP_CWORD-1]}" after="" words="" files="" values="" word`,
		"	COMPREPLY=()",
		// The words that name the command, which options may not precede.
		`	for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do`,
		`		case "\${after:+$after }$word" in`,
		`			${starts.map((start) => `"${start}"`).join("|")}) after="\${after:+$after }$word" ;;`,
		"			*) break ;;",
		"		esac",
		"	done",
		'	case "$after:$prev" in',
		...all.flatMap(({ after, options }) =>
			options.flatMap(({ name, value }) =>
				value === null
					? []
					: [
							`		"${after}:${name}") words="${value.words.join(" ")}" files="${value.files ? 1 : ""}"${value.values === null ? "" : ` values=${value.values}`} ;;`,
						],
			),
		),
		'		*) case "$after" in',
		...all.map(({ after, words, options, files, values }) => {
			const offered = [
				...words.map(([word]) => word),
				...options.map(({ name }) => name),
			];
			return `			"${after}") words="${offered.join(" ")}" files="${files ? 1 : ""}"${values === null ? "" : ` values=${values}`} ;;`;
		}),
		"		esac ;;",
		"	esac",
		// The fleet is asked only while a value may be typed.
		'	if [[ -n "$values" && "$cur" != -* ]]; then',
		`		words="$words $(corkboard completion values --kind "$values" 2>/dev/null)"`,
		"	fi",
		`	local IFS=$'\\n'`,
		`	COMPREPLY=($(IFS=' ' compgen -W "$words" -- "$cur"))`,
		'	if [[ -n "$files" && "$cur" != -* ]]; then',
		"		compopt -o filenames 2>/dev/null",
		'		COMPREPLY+=($(compgen -f -- "$cur"))',
		"	fi",
		"}",
		"complete -F _corkboard corkboard",
	].join("\n");
}
