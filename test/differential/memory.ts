import type { Id } from "../../src/id/ids.ts";
import type { JsonObject, JsonValue } from "../../src/util/json.ts";

/** A line of an import. */
export type Line =
	| {
			readonly type: string;
			readonly key: string;
			readonly fields: JsonObject;
	  }
	| { readonly edge: string; readonly from: string; readonly to: string };

/** A change after the import. */
export type Change =
	| { readonly remove: string }
	| { readonly unset: string; readonly from: string; readonly to: string }
	/** Moves a pin before another pin of a board, or to the top. */
	| { readonly place: string; readonly on: string; readonly before?: string };

export interface Row {
	readonly id: Id;
	readonly type: string;
	readonly fields: Record<string, JsonValue>;
	removed: boolean;
}

export interface Edge {
	readonly to: Row;
	/** The line of the import that made it; null after a move. */
	readonly line: number | null;
}

/** By edge name: the fields with the lists at both ends. */
const EDGES: Readonly<Record<string, readonly [string, string]>> = {
	followUser: ["User.following", "User.followers"],
	followBoard: ["User.followedBoards", "Board.followers"],
	followInterest: ["User.followedInterests", "Interest.followers"],
	likePin: ["User.likes", "Pin.likedBy"],
	filePin: ["Pin.interests", "Interest.pins"],
	collaborate: ["Board.collaborators", "User.sharedBoards"],
};

/** References, and the field with the derived list. All are newest first, except comments. */
const DERIVED_LISTS: readonly (readonly [
	type: string,
	reference: string,
	list: string,
])[] = [
	["Board", "owner", "User.boards"],
	["Pin", "owner", "User.pins"],
	["Section", "board", "Board.sections"],
	["Pin", "board", "Board.pins"],
	["Pin", "section", "Section.pins"],
	["Pin", "origin", "Pin.repins"],
	["Comment", "pin", "Pin.comments"],
];
const OLDEST_FIRST = "Pin.comments";

/** The graph as maps and arrays, built from the import's lines without code of `src`. */
export class Memory {
	readonly byKey = new Map<string, Row>();
	readonly byId = new Map<string, Row>();
	readonly byName = new Map<string, Row>();
	/** By field and owner (`User.pins 123`), in list order. */
	readonly #lists = new Map<string, Edge[]>();

	/** `ids` are the only result of the real import that is used. */
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
		if (row === undefined) throw new TypeError(`unknown key: ${key}`);
		return row;
	}

	/** The row that a reference names, or null. */
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

	/** The objects of a type that were not removed, the last one of the import first. */
	newest(type: string): readonly Row[] {
		return [...this.byId.values()]
			.filter((row) => row.type === type && !row.removed)
			.toReversed();
	}

	/** The objects of a type with something on this list of theirs, the longest first, then by id. */
	longest(type: string, list: string): readonly Row[] {
		const count = ({ id }: Row) => this.list(`${list} ${id}`).length;
		return [...this.byId.values()]
			.filter((row) => row.type === type && count(row) > 0)
			.toSorted(
				(a, b) => count(b) - count(a) || Number(BigInt(a.id) - BigInt(b.id)),
			);
	}

	get lists(): readonly string[] {
		return [...this.#lists.keys()];
	}

	has(list: string, row: Row): boolean {
		return this.list(list).some(({ to }) => to === row);
	}

	/** A secret board, its pins and their comments are visible to its owner and its collaborators only. */
	sees(viewer: Id | null, row: Row): boolean {
		if (row.removed) return false;
		const parent =
			row.type === "Pin" || row.type === "Section"
				? this.reference(row, "board")
				: row.type === "Comment"
					? this.reference(row, "pin")
					: null;
		if (parent !== null) return this.sees(viewer, parent);
		return (
			row.type !== "Board" ||
			row.fields.secret !== true ||
			this.reference(row, "owner")?.id === viewer ||
			this.collaboratesOn(row, viewer)
		);
	}

	collaboratesOn(board: Row, viewer: Id | null): boolean {
		const user = viewer === null ? undefined : this.byId.get(viewer);
		return (
			user !== undefined && this.has(`Board.collaborators ${board.id}`, user)
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

	/** The derived lists that contain the row. */
	#listsOf(row: Row): readonly Edge[][] {
		return DERIVED_LISTS.flatMap(([type, reference, list]) => {
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
