import { type ASTNode, GraphQLError, type NameNode } from "graphql";
import { CorkboardError } from "../errors.ts";

/** One thing wrong with the SDL, and where. A fault of the whole has no line. */
export interface Problem {
	readonly file: string;
	readonly line: number | null;
	readonly message: string;
}

/** Gathers problems while the SDL is read: whoever edits it sees all of them at once. */
export class Problems {
	readonly #found: Problem[] = [];
	readonly #blamed = new Set<ASTNode>();

	add(node: ASTNode | null | undefined, sentence: string): void {
		if (node) this.#blamed.add(node);
		// A definition's own location starts at its description.
		const named = (node as { name?: NameNode } | null | undefined)?.name;
		const location = named?.loc ?? node?.loc;
		this.#found.push({
			file: location?.source.name ?? "schema",
			line: location?.startToken.line ?? null,
			message: sentence,
		});
	}

	/** An error of graphql-js. Where it names two places, the later one is the one to change. */
	addError(toError: GraphQLError): void {
		const node = toError.nodes?.at(-1);
		if (node !== undefined || toError.source === undefined) {
			this.add(node, toError.message);
			return;
		}
		this.#found.push({
			file: toError.source.name,
			line: toError.locations?.[0]?.line ?? null,
			message: toError.message,
		});
	}

	/** Whether something is known to be wrong with this very node. */
	hasProblem(node: ASTNode): boolean {
		return this.#blamed.has(node);
	}

	get isEmpty(): boolean {
		return this.#found.length === 0;
	}

	/** BAD_MODEL: one line for each fault, in the order of the files. */
	error(): CorkboardError {
		const lines = this.#found
			.toSorted(
				(a, b) => compare(a.file, b.file) || compare(a.line ?? 0, b.line ?? 0),
			)
			.map(({ file, line, message: sentence }) =>
				line === null ? `${file}: ${sentence}` : `${file}:${line}: ${sentence}`,
			);
		return new CorkboardError("BAD_MODEL", [...new Set(lines)].join("\n"));
	}
}

function compare<T extends string | number>(a: T, b: T): number {
	return a < b ? -1 : a > b ? 1 : 0;
}

/** What a function of graphql-js gives, or null and a fault where it throws. */
export function tryOrAddProblem<T>(
	problems: Problems,
	attempt: () => T,
): T | null {
	try {
		return attempt();
	} catch (error) {
		if (!(error instanceof GraphQLError)) throw error;
		problems.addError(error);
		return null;
	}
}
