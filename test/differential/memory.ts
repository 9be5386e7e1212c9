import type { Id } from "../../src/id/ids.ts";
import type { JsonObject, JsonValue } from "../../src/util/json.ts";

/** A line of an import, as CONTRACT has it. */
export type Line =
	| {
			readonly type: string;
			readonly key: string;
			readonly fields: JsonObject;
	  }
	| { readonly edge: string; readonly from: string; readonly to: string };

/** What happens to the graph after the import. */
export type Change =
	| { readonly remove: string }
	| { readonly unset: string; readonly from: string; readonly to: string }
	/** A pin goes before another of a board, or on top. */
	| { readonly place: string; readonly on: string; readonly before?: string };

export interface Row {
	readonly id: Id;
	readonly type: string;
	readonly fields: Record<string, JsonValue>;
	removed: boolean;
}

export interface Edge {
	readonly to: Row;
	/** The import's line it came with; null if it was moved since. */
	readonly line: number | null;
}

/** Edge names, and the fields that show them at either end. */
const EDGES: Readonly<Record<string, readonly [string, string]>> = {
	followUser: ["User.following", "User.followers"],
	followBoard: ["User.followedBoards", "Board.followers"],
	followInterest: ["User.followedInterests", "Interest.followers"],
	likePin: ["User.likes", "Pin.likedBy"],
	filePin: ["Pin.interests", "Interest.pins"],
};

/** References, and the field that shows the other end: all newest first, but for comments. */
const FOLLOWED: readonly (readonly [
	type: string,
	reference: string,
	list: string,
])[] = [
	["Board", "owner", "User.boards"],
	["Pin", "owner", "User.pins"],
	["Pin", "board", "Board.pins"],
	["Pin", "origin", "Pin.repins"],
	["Comment", "pin", "Pin.comments"],
];
const OLDEST_FIRST = "Pin.comments";

/** The graph as maps and arrays, by the import's keys: lines one by one, nothing of `src`. */
export class Memory {
	readonly byKey = new Map<string, Row>();
	readonly byId = new Map<string, Row>();
	readonly byName = new Map<string, Row>();
	/** By field and owner, `User.pins 123`, in the order they are shown. */
	readonly #lists = new Map<string, Edge[]>();

	/** The ids are those the import gave: nothing else is taken from it. */
	constructor(lines: readonly Line[], ids: ReadonlyMap<string, Id>) {
		for (const [at, line] of lines.entries()) {
			if ("edge" in line) this.#addEdge(line, at + 1);
			else this.#addObject(line, ids.get(line.key) as Id, at + 1);
		}
	}

	apply(change: Change): void {
		if ("remove" in change) {
			const row = this.at(change.remove);
			row.removed = true;
			for (const list of this.#listsOf(row)) drop(list, row);
		} else if ("unset" in change) {
			const [from, to] = [this.at(change.from), this.at(change.to)];
			const [there, back] = EDGES[change.unset] as readonly [string, string];
			drop(this.list(`${there} ${from.id}`), to);
			drop(this.list(`${back} ${to.id}`), from);
		} else {
			const pin = this.at(change.place);
			drop(this.list(`Board.pins ${this.at(pin.fields.board).id}`), pin);
			pin.fields.board = change.on;
			const pins = this.list(`Board.pins ${this.at(change.on).id}`);
			const before =
				change.before === undefined ? null : this.at(change.before);
			const at = pins.findIndex(({ to }) => to === before);
			pins.splice(Math.max(0, at), 0, { to: pin, line: null });
		}
	}

	at(key: JsonValue | undefined): Row {
		const row = this.byKey.get(String(key));
		if (row === undefined)
			throw new TypeError(`expected a key but got: ${key}`);
		return row;
	}

	/** What a row names under a reference; null if nothing. */
	reference(row: Row, field: string): Row | null {
		const key = row.fields[field];
		return key === undefined || key === null ? null : this.at(key);
	}

	list(name: string): Edge[] {
		let list = this.#lists.get(name);
		if (list === undefined) {
			list = [];
			this.#lists.set(name, list);
		}
		return list;
	}

	get lists(): readonly string[] {
		return [...this.#lists.keys()];
	}

	has(list: string, row: Row): boolean {
		return this.list(list).some(({ to }) => to === row);
	}

	/** CONTRACT "Errors and identity": secret boards, and all on them, are visible to their owner alone. */
	sees(viewer: Id | null, row: Row): boolean {
		if (row.removed) return false;
		const around =
			row.type === "Pin"
				? this.reference(row, "board")
				: row.type === "Comment"
					? this.reference(row, "pin")
					: null;
		if (around !== null) return this.sees(viewer, around);
		return (
			row.type !== "Board" ||
			row.fields.secret !== true ||
			this.reference(row, "owner")?.id === viewer
		);
	}

	#addObject(
		{ type, key, fields }: Extract<Line, { key: string }>,
		id: Id,
		line: number,
	): void {
		const row: Row = { id, type, fields: { ...fields }, removed: false };
		if (type === "Pin" && fields.owner === undefined) {
			row.fields.owner = this.at(fields.board).fields.owner as string;
		}
		this.byKey.set(key, row);
		this.byId.set(id, row);
		if (type === "User") {
			this.byName.set(String(fields.username).toLowerCase(), row);
		}
		if (type === "Interest") {
			this.byName.set(`#${fields.slug}`, row);
			this.list("Query.interests root").unshift({ to: row, line });
		}
		for (const list of this.#listsOf(row)) {
			if (list === this.#oldestFirst(row)) list.push({ to: row, line });
			else list.unshift({ to: row, line });
		}
	}

	#addEdge(
		{ edge, from, to }: Extract<Line, { edge: string }>,
		line: number,
	): void {
		const [there, back] = EDGES[edge] as readonly [string, string];
		const [source, target] = [this.at(from), this.at(to)];
		if (this.has(`${there} ${source.id}`, target)) return;
		this.list(`${there} ${source.id}`).unshift({ to: target, line });
		this.list(`${back} ${target.id}`).unshift({ to: source, line });
	}

	/** The lists a row stands on because of its references. */
	#listsOf(row: Row): readonly Edge[][] {
		return FOLLOWED.flatMap(([type, reference, list]) => {
			const owner = type === row.type ? this.reference(row, reference) : null;
			return owner === null ? [] : [this.list(`${list} ${owner.id}`)];
		});
	}

	#oldestFirst(row: Row): Edge[] | null {
		const owner = row.type === "Comment" ? this.reference(row, "pin") : null;
		return owner && this.list(`${OLDEST_FIRST} ${owner.id}`);
	}
}

function drop(list: Edge[], row: Row): void {
	const at = list.findIndex(({ to }) => to === row);
	if (at >= 0) list.splice(at, 1);
}
