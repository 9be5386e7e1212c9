/** One instruction of a Dockerfile, its lines joined. */
export interface Instruction {
	readonly name: string;
	readonly text: string;
}

export function instructionsOf(dockerfile: string): readonly Instruction[] {
	return dockerfile
		.split("\n")
		.filter((line) => !line.startsWith("#"))
		.join("\n")
		.replaceAll(/\\\n\s*/g, " ")
		.split("\n")
		.filter((line) => line.trim() !== "")
		.map((line) => {
			const [, name = "", text = ""] = /^(\w+)\s+(.*)$/.exec(line) ?? [];
			return { name, text };
		});
}

/** The last stage: what the image is made of. */
export function imageOf(
	instructions: readonly Instruction[],
): readonly Instruction[] {
	return instructions.slice(
		instructions.findLastIndex(({ name }) => name === "FROM"),
	);
}

/** Files and folders of ours that it takes in, and where to. */
export function copiesOf(
	instructions: readonly Instruction[],
): readonly { readonly from: string; readonly to: string }[] {
	return instructions
		.filter(({ name, text }) => name === "COPY" && !text.startsWith("--from="))
		.flatMap(({ text }) => {
			const paths = text.split(/\s+/);
			const to = paths.pop() ?? "";
			return paths.map((from) => ({ from, to }));
		});
}

/** The value of an instruction that is written as a list. */
export function listOf(
	instructions: readonly Instruction[],
	name: string,
): readonly string[] {
	const found = instructions.findLast((each) => each.name === name);
	const list = /\[.*\]$/.exec(found?.text ?? "")?.[0];
	if (list === undefined) {
		throw new Error(`expected ${name} […] but got: ${found?.text}`);
	}
	return JSON.parse(list);
}
