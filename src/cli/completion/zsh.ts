import type { Usage } from "../arguments.ts";
import { completionsOf, type Values } from "./words.ts";

/** A script for zsh 5, to be read after compinit. */
export function zshCompletion(usages: ReadonlyMap<string, Usage>): string {
	const all = completionsOf(usages);
	const starts = all.map(({ after }) => after).filter((after) => after !== "");
	return [
		"#compdef corkboard",
		"# Completes the command line of corkboard in zsh. Printed by: corkboard completion zsh",
		"_corkboard() {",
		'	local after="" word offered=()',
		`	for word in "\${words[@]:1:$((CURRENT-2))}"; do`,
		`		case "\${after:+$after }$word" in`,
		`			${starts.map(quoted).join("|")}) after="\${after:+$after }$word" ;;`,
		"			*) break ;;",
		"		esac",
		"	done",
		`	case "$after:\${words[CURRENT-1]}" in`,
		...all.flatMap(({ after, options }) =>
			options.flatMap(({ name, value }) =>
				value === null
					? []
					: [
							`		${quoted(`${after}:${name}`)}) ${
								value.files
									? "_files"
									: `compadd -- ${[...value.words.map(quoted), ...(value.values === null ? [] : [fromFleet(value.values)])].join(" ")}`
							}; return ;;`,
						],
			),
		),
		"	esac",
		'	case "$after" in',
		...all.map(({ after, words, options, files, values }) => {
			const offered = [
				...words,
				...options.map(({ name, description }) => [name, description] as const),
			].map(([word, description]) =>
				quoted(
					description ? `${word}:${description.replaceAll(":", "\\:")}` : word,
				),
			);
			return `		${quoted(after)}) offered=(${offered.join(" ")}${values === null ? "" : ` \${${fromFleet(values)}//:/\\\\:}`})${files ? "; _files" : ""} ;;`;
		}),
		"	esac",
		"	_describe 'corkboard' offered",
		"}",
		"compdef _corkboard corkboard",
	].join("\n");
}

/** One word for each line that `completion values` prints. */
function fromFleet(values: Values): string {
	return `\${(f)"$(corkboard completion values --kind ${values} 2>/dev/null)"}`;
}

function quoted(text: string): string {
	return `'${text.replaceAll("'", "'\\''")}'`;
}
