import { type ASTNode, GraphQLError, type NameNode } from "graphql";
import { CorkboardError } from "../errors.ts";

/** One problem of the SDL, and where it is. A problem of the whole SDL has no line. */
interface Problem {
	readonly file: string;
	readonly line: number | null;
	readonly message: string;
}

/** Collects problems while the SDL is read, so that its author sees all of them at once. */
export class Problems {
	readonly #problems: Problem[] = [];
	readonly #nodes = new Set<ASTNode>();

	add(node: ASTNode | null | undefined, sentence: string): void {
		if (node) this.#nodes.add(node);
		// A definition's own location starts at its description.
		const named = (node as { name?: NameNode } | null | undefined)?.name;
		const location = named?.loc ?? node?.loc;
		this.#problems.push({
			file: location?.source.name ?? "schema",
			line: location?.startToken.line ?? null,
			message: sentence,
		});
	}

	/** Adds an error of graphql-js. If it names two places, the second is the one to change. */
	addError(toError: GraphQLError): void {
		const node = toError.nodes?.at(-1);
		if (node !== undefined || toError.source === undefined) {
			this.add(node, toError.message);
			return;
		}
		this.#problems.push({
			file: toError.source.name,
			line: toError.locations?.[0]?.line ?? null,
			message: toError.message,
		});
	}

	/** Whether a problem of this very node was added. */
	hasProblem(node: ASTNode): boolean {
		return this.#nodes.has(node);
	}

	get isEmpty(): boolean {
		return this.#problems.length === 0;
	}

	/** A BAD_MODEL error with a line for each problem, in the order of the files. */
	error(): CorkboardError {
		const lines = this.#problems
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

/** The result of a graphql-js function; if it throws a GraphQLError, adds that as a problem and returns null. */
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
