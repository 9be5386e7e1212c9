import { compact } from "../../util/compact.ts";
import type { Usage } from "../arguments.ts";
import { completionsOf, type Values } from "./words.ts";

/** A script for fish 3 and later. */
export function fishCompletion(usages: ReadonlyMap<string, Usage>): string {
	const all = completionsOf(usages);
	const starts = all.map(({ after }) => after).filter((after) => after !== "");
	return [
		"# Completes the command line of corkboard in fish. Printed by: corkboard completion fish",
		"function __corkboard_after",
		"	set -l after",
		"	for word in (commandline -opc)[2..-1]",
		`		contains -- (string trim -- "$after $word") ${starts.map(quoted).join(" ")}; or break`,
		"		set after $after $word",
		"	end",
		'	test "$after" = "$argv"',
		"end",
		"complete -c corkboard -f",
		...all.flatMap(({ after, words, options, files, values }) => {
			const start = `complete -c corkboard -n ${quoted(`__corkboard_after ${after}`.trim())}`;
			return compact([
				...words.map(([word, description]) =>
					compact([
						`${start} -a ${quoted(word)}`,
						description && `-d ${quoted(description)}`,
					]).join(" "),
				),
				...options.map(({ name, description, value }) =>
					compact([
						`${start} ${name.startsWith("--") ? `-l ${name.slice(2)}` : `-s ${name.slice(1)}`}`,
						...(value === null ? [] : value.files ? ["-r -F"] : ["-x"]),
						value?.words.length && `-a ${quoted(value.words.join(" "))}`,
						value?.values && `-a ${quoted(fromFleet(value.values))}`,
						`-d ${quoted(description)}`,
					]).join(" "),
				),
				values && `${start} -a ${quoted(fromFleet(values))}`,
				files && `${start} -F`,
			]);
		}),
	].join("\n");
}

function fromFleet(values: Values): string {
	return `(corkboard completion values --kind ${values} 2>/dev/null)`;
}

function quoted(text: string): string {
	return `'${text.replaceAll(/[\\']/g, "\\$&")}'`;
}
