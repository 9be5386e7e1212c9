import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import { parseAst } from "vite";

const ROOT = join(import.meta.dirname, "..");

/** Every file of the repository that is committed or about to be, by its path. */
export function repositoryFiles(): readonly string[] {
	const listed = execFileSync(
		"git",
		["ls-files", "--cached", "--others", "--exclude-standard"],
		{ cwd: ROOT, encoding: "utf8" },
	);
	const deleted = execFileSync("git", ["ls-files", "--deleted"], {
		cwd: ROOT,
		encoding: "utf8",
	});
	const gone = new Set(deleted.split("\n"));
	return listed.split("\n").filter((file) => file !== "" && !gone.has(file));
}

export function linesOf(file: string): number {
	return textOf(file).split("\n").length - 1;
}

export function wordsOf(file: string): number {
	return textOf(file).split(/\s+/).filter(Boolean).length;
}

export interface LongFunction {
	readonly name: string;
	readonly lines: number;
}

/** The functions of a TypeScript file that have more than so many lines. */
export function functionsOver(
	limit: number,
	file: string,
): readonly LongFunction[] {
	// Types become blanks, so lines stay where they were.
	const source = stripTypeScriptTypes(textOf(file), { mode: "strip" });
	const found: LongFunction[] = [];
	const lineAt = (offset: number) => source.slice(0, offset).split("\n").length;
	const visit = (node: unknown, name: string | undefined) => {
		if (Array.isArray(node)) {
			for (const entry of node) visit(entry, undefined);
			return;
		}
		if (!isNode(node)) return;
		if (/Function/.test(node.type)) {
			const lines = lineAt(node.end) - lineAt(node.start) + 1;
			const own = nameIn(node) ?? name ?? `line ${lineAt(node.start)}`;
			if (lines > limit) found.push({ name: `${file} ${own}`, lines });
		}
		for (const child of Object.values(node)) visit(child, nameIn(node));
	};
	visit(parseAst(source), undefined);
	return found;
}

interface Node {
	readonly type: string;
	readonly start: number;
	readonly end: number;
	readonly id?: unknown;
	readonly key?: unknown;
}

function isNode(value: unknown): value is Node {
	return typeof value === "object" && value !== null && "type" in value;
}

/** What a declaration, a variable or a member is called. */
function nameIn({ id, key }: Node): string | undefined {
	const named = (id ?? key) as { readonly name?: string } | null | undefined;
	return named?.name;
}

/** The exported interfaces of a file, with how many members each has of its own. */
export function interfacesOf(
	file: string,
): readonly { readonly name: string; readonly methods: number }[] {
	const bodies = textOf(file).matchAll(
		/^export interface (\w+)[^{]*\{\n([\s\S]*?)^\}/gm,
	);
	return [...bodies].map(([, name = "", body = ""]) => ({
		name: `${file} ${name}`,
		methods: [...body.matchAll(/^\t(?:readonly )?\w+\??(?:\(|<|: \()/gm)]
			.length,
	}));
}

/** How many files each folder holds directly. */
export function filesByFolder(
	files: readonly string[],
): ReadonlyMap<string, number> {
	const counts = new Map<string, number>();
	for (const file of files) {
		const folder = dirname(file);
		counts.set(folder, (counts.get(folder) ?? 0) + 1);
	}
	return counts;
}

function textOf(file: string): string {
	return readFileSync(join(ROOT, file), "utf8");
}
