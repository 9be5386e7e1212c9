import type { Expected } from "./expected.ts";
import type { Findings } from "./findings.ts";

/** An object of a response, with what distinguishes it from others: the fragments of documents.ts. */
export type Node =
	| {
			readonly __typename: "User";
			readonly id: string;
			readonly username: string;
			readonly name: string;
	  }
	| {
			readonly __typename: "Board";
			readonly id: string;
			readonly name: string;
			readonly owner: Owner;
	  }
	| {
			readonly __typename: "Pin";
			readonly id: string;
			readonly details: string | null;
			readonly link: string | null;
			readonly owner: Owner;
			readonly board: { readonly id: string; readonly name: string } | null;
	  };

type Owner = { readonly id: string; readonly username: string } | null;

/**
 * Matches objects of responses with objects of the file. Clients do not see the
 * keys of an import, so objects match by their fields, owner and board included,
 * which distinguishes all but twins. An id stands for the same object everywhere,
 * which finds twins that were exchanged.
 */
export class Identities {
	readonly #findings: Findings;
	readonly #ids = new Map<Expected, string>();
	readonly #objects = new Map<string, Expected>();

	constructor(findings: Findings) {
		this.#findings = findings;
	}

	/** Under what id it was met; undefined if it was not. */
	idOf(expected: Expected): string | undefined {
		return this.#ids.get(expected);
	}

	/** Hold an object against what is expected at its place; false if it is another one by what it says. */
	check(where: string, expected: Expected, node: Node | null): boolean {
		const said = this.#findings.same(where, spell(expected), spellNode(node));
		if (!said || node === null) return false;
		this.#bind(where, expected, node.id);
		if (expected.type === "Board" && node.__typename === "Board") {
			this.#bind(`${where}, its owner`, expected.owner, node.owner?.id);
		}
		if (expected.type === "Pin" && node.__typename === "Pin") {
			const { board } = expected;
			this.#bind(`${where}, its board`, board, node.board?.id);
			this.#bind(`${where}, its owner`, board.owner, node.owner?.id);
		}
		return true;
	}

	#bind(where: string, expected: Expected, id: string | undefined): void {
		if (id === undefined) {
			this.#findings.mismatch(`${where}: expected an id but got none`);
			return;
		}
		const known = this.#ids.get(expected) ?? id;
		this.#findings.same(`${where}: the id of ${expected.key}`, known, id);
		const object = this.#objects.get(id) ?? expected;
		this.#findings.same(`${where}: what ${id} is`, object.key, expected.key);
		if (known !== id || object !== expected) return;
		this.#ids.set(expected, id);
		this.#objects.set(id, expected);
	}
}

/** As one line, the same for an object of the file and for the same one of an answer. */
export function spell(expected: Expected): string {
	switch (expected.type) {
		case "User":
			return line("User", expected.username, expected.name);
		case "Board":
			return line("Board", expected.owner.username, expected.name);
		case "Pin": {
			const { board, details, link } = expected;
			return line("Pin", board.owner.username, board.name, details, link);
		}
	}
}

export function spellNode(node: Node | null): string {
	switch (node?.__typename) {
		case "User":
			return line("User", node.username, node.name);
		case "Board":
			return line("Board", node.owner?.username, node.name);
		case "Pin": {
			const { owner, board, details, link } = node;
			return line("Pin", owner?.username, board?.name, details, link);
		}
		default:
			return "nothing";
	}
}

function line(type: string, ...said: (string | null | undefined)[]): string {
	return `${type} ${JSON.stringify(said.map((text) => text ?? null))}`;
}
