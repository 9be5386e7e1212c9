import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";

/** What the lines of an import say there is, by the keys the lines give. */
export interface Expectation {
	/** In the order of the lines. */
	readonly users: readonly ExpectedUser[];
	/** Newest first, which is the last line first. */
	list(name: ListName, of: Expected): readonly Expected[];
	/** Read, empty ones included. */
	readonly lines: number;
	/** What lines say that is not compared, like `Pin.image` or `followBoard`: how many lines say it. */
	readonly uncompared: ReadonlyMap<string, number>;
}

export interface ExpectedUser {
	readonly type: "User";
	readonly key: string;
	readonly username: string;
	readonly name: string;
}

export interface ExpectedBoard {
	readonly type: "Board";
	readonly key: string;
	readonly owner: ExpectedUser;
	readonly name: string;
}

export interface ExpectedPin {
	readonly type: "Pin";
	readonly key: string;
	readonly board: ExpectedBoard;
	readonly details: string | null;
	readonly link: string | null;
	readonly origin: ExpectedPin | null;
}

export type Expected = ExpectedUser | ExpectedBoard | ExpectedPin;

/** The lists that are compared, by type and field of the public schema. */
export type ListName =
	| "User.boards"
	| "User.pins"
	| "User.likes"
	| "User.following"
	| "User.followers"
	| "Board.pins"
	| "Pin.repins"
	| "Pin.likedBy";

const COMPARED: Readonly<Record<Expected["type"], readonly string[]>> = {
	User: ["username", "name"],
	Board: ["owner", "name", "secret"],
	Pin: ["board", "details", "link", "origin"],
};

/** An edge's two lists: at `from`, and at `to`. */
const EDGES: ReadonlyMap<string, readonly [ListName, ListName]> = new Map([
	["followUser", ["User.following", "User.followers"]],
	["likePin", ["User.likes", "Pin.likedBy"]],
]);

export function readFile(path: string): Promise<Expectation> {
	return readExpectation(
		createInterface({
			input: createReadStream(path),
			crlfDelay: Number.POSITIVE_INFINITY,
		}),
	);
}

/**
 * For files whose every line is good (docs/how-to/import-and-verify.md, "Import"): another one
 * ends the reading with an error that names it. An object or an edge that comes
 * twice is the one of its first line.
 */
export async function readExpectation(
	source: AsyncIterable<string> | Iterable<string>,
): Promise<Expectation> {
	const expected = new ByLines();
	let number = 0;
	for await (const text of source) {
		number++;
		if (text === "") continue;
		try {
			expected.read(JSON.parse(text) as Line);
		} catch (cause) {
			throw new Error(`line ${number}: ${(cause as Error).message}`, { cause });
		}
	}
	return {
		users: [...expected.objects.values()].filter(
			(object) => object.type === "User",
		),
		list: (name, of) => expected.list(name, of),
		lines: number,
		uncompared: expected.uncompared,
	};
}

interface Line {
	readonly type?: unknown;
	readonly key?: unknown;
	readonly fields?: Readonly<Record<string, unknown>>;
	readonly edge?: unknown;
	readonly from?: unknown;
	readonly to?: unknown;
}

class ByLines {
	readonly objects = new Map<string, Expected>();
	readonly uncompared = new Map<string, number>();
	/** A Set keeps the place of what is added again: an edge stands where its first line put it. */
	readonly #lists = new Map<ListName, Map<Expected, Set<Expected>>>();

	list(name: ListName, of: Expected): readonly Expected[] {
		return [...(this.#lists.get(name)?.get(of) ?? [])].reverse();
	}

	read({ type, key, fields = {}, edge, from, to }: Line): void {
		if (edge !== undefined) this.#readEdge(String(edge), from, to);
		else this.#readObject(String(type), text("key", key), fields);
	}

	#readObject(
		type: string,
		key: string,
		fields: Readonly<Record<string, unknown>>,
	): void {
		if (type !== "User" && type !== "Board" && type !== "Pin") {
			this.#leave(type);
			return;
		}
		if (this.objects.has(key)) return;
		for (const field of Object.keys(fields)) {
			if (!COMPARED[type].includes(field)) this.#leave(`${type}.${field}`);
		}
		const object = this.#objectOf(type, key, fields);
		this.objects.set(key, object);
		if (object.type === "Board") this.#add("User.boards", object.owner, object);
		if (object.type !== "Pin") return;
		this.#add("Board.pins", object.board, object);
		this.#add("User.pins", object.board.owner, object);
		if (object.origin) this.#add("Pin.repins", object.origin, object);
	}

	#objectOf(
		type: Expected["type"],
		key: string,
		fields: Readonly<Record<string, unknown>>,
	): Expected {
		if (type === "User") {
			const username = text("username", fields.username);
			return { type, key, username, name: text("name", fields.name) };
		}
		if (type === "Board") {
			if (fields.secret === true) {
				throw new Error(
					"expected boards that everybody sees but got a secret one",
				);
			}
			const owner = this.#known("User", fields.owner);
			return { type, key, owner, name: text("name", fields.name) };
		}
		return {
			type,
			key,
			board: this.#known("Board", fields.board),
			details: optional("details", fields.details),
			link: optional("link", fields.link),
			origin:
				(fields.origin ?? null) === null
					? null
					: this.#known("Pin", fields.origin),
		};
	}

	#readEdge(edge: string, from: unknown, to: unknown): void {
		const lists = EDGES.get(edge);
		if (lists === undefined) {
			this.#leave(edge);
			return;
		}
		const one = this.#known("User", from);
		const other = this.#known(edge === "likePin" ? "Pin" : "User", to);
		if (one === other) throw new Error("expected two ends but got one twice");
		this.#add(lists[0], one, other);
		this.#add(lists[1], other, one);
	}

	#add(name: ListName, of: Expected, item: Expected): void {
		const lists = this.#lists.get(name) ?? new Map<Expected, Set<Expected>>();
		this.#lists.set(name, lists);
		const list = lists.get(of);
		if (list === undefined) lists.set(of, new Set([item]));
		else list.add(item);
	}

	#known<T extends Expected["type"]>(
		type: T,
		key: unknown,
	): Extract<Expected, { readonly type: T }> {
		const found = this.objects.get(text(type, key));
		if (found?.type !== type) {
			throw new Error(
				`expected the key of a ${type} of an earlier line but got: ${JSON.stringify(key)}`,
			);
		}
		return found as Extract<Expected, { readonly type: T }>;
	}

	#leave(what: string): void {
		this.uncompared.set(what, (this.uncompared.get(what) ?? 0) + 1);
	}
}

function text(name: string, value: unknown): string {
	if (typeof value === "string" && value !== "") return value;
	throw new Error(
		`expected ${name} to be text but got: ${JSON.stringify(value)}`,
	);
}

function optional(name: string, value: unknown): string | null {
	return value === undefined || value === null ? null : text(name, value);
}
