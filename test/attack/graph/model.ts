import {
	type Freshness,
	type Operation,
	type Reading,
	Register,
	type Rule,
} from "./register.ts";

/** What a reading may show: certainly true, certainly false, or either. */
export type Tri = "yes" | "no" | "maybe";

export const and = (...parts: readonly Tri[]): Tri =>
	parts.includes("no") ? "no" : parts.includes("maybe") ? "maybe" : "yes";

export type ObjectKind = "User" | "Board" | "Pin" | "Comment" | "Interest";

/** A create that was sent: the object exists once somebody shows it, and has one id. */
interface Created {
	/** In a field that never changes: it names the request that created the object. */
	readonly serial: string;
	readonly create: Operation;
	id: string | null;
	readonly exists: Register<boolean>;
}

export interface User extends Created {
	readonly kind: "User";
	token: string | null;
	readonly username: Register<string>;
	readonly name: Register<string>;
	readonly email: Register<string | null>;
	readonly active: Register<boolean>;
}

export interface Board extends Created {
	readonly kind: "Board";
	readonly owner: User;
	readonly name: Register<string>;
	readonly secret: Register<boolean>;
	/** Pins from top to bottom whose positions are certain, relative to each other. */
	readonly order: string[];
	/** Creates and moves of its pins. */
	readonly positions: Operation[];
}

export interface Pin extends Created {
	readonly kind: "Pin";
	readonly owner: User;
	readonly board: Register<Board>;
	readonly details: Register<string>;
	/** Its create and its moves. */
	readonly positions: Operation[];
}

export interface Comment extends Created {
	readonly kind: "Comment";
	readonly author: User;
	readonly pin: Pin;
}

export interface Interest {
	readonly kind: "Interest";
	readonly slug: string;
	id: string | null;
}

export type Thing = User | Board | Pin | Comment;

/** An edge, with what both of its lists may show. The ends are ids, or an interest's slug. */
export interface Edge {
	readonly mapping: string;
	readonly from: string;
	readonly to: string;
	readonly present: Register<boolean>;
}

/** A list field: which edges it shows, from which end, and how soon. */
export interface ListField {
	readonly mapping: string;
	readonly end: "from" | "to";
	readonly rule: Rule;
	/** What it holds. */
	readonly of: ObjectKind;
	readonly isPrivate?: true;
}

export const LISTS: Readonly<Record<string, ListField>> = {
	"User.boards": list("ownBoard", "from", "delivered", "Board"),
	"User.pins": list("ownPin", "from", "delivered", "Pin"),
	"User.likes": list("likePin", "from", "source", "Pin"),
	"User.following": list("followUser", "from", "source", "User"),
	"User.followers": list("followUser", "to", "delivered", "User"),
	"User.followedBoards": list("followBoard", "from", "source", "Board"),
	"User.followedInterests": list(
		"followInterest",
		"from",
		"source",
		"Interest",
	),
	"User.blockedUsers": {
		...list("blockUser", "from", "source", "User"),
		isPrivate: true,
	},
	"Board.pins": list("placePin", "from", "delivered", "Pin"),
	"Board.followers": list("followBoard", "to", "delivered", "User"),
	"Pin.likedBy": list("likePin", "to", "delivered", "User"),
	"Pin.comments": list("commentPin", "from", "delivered", "Comment"),
	"Pin.interests": list("filePin", "from", "delivered", "Interest"),
	"Interest.pins": list("filePin", "to", "delivered", "Pin"),
	"Interest.followers": list("followInterest", "to", "delivered", "User"),
};

function list(
	mapping: string,
	end: "from" | "to",
	rule: Rule,
	of: ObjectKind,
): ListField {
	return { mapping, end, rule, of };
}

/** What was asked of the graph, and what follows for those who read it. */
export class Model {
	readonly freshness: Freshness;
	readonly users: User[] = [];
	readonly boards: Board[] = [];
	readonly pins: Pin[] = [];
	readonly comments: Comment[] = [];
	readonly interests = new Map<string, Interest>();
	readonly bySerial = new Map<string, Thing>();
	readonly #byId = new Map<string, Thing>();
	readonly #edges = new Map<string, Edge>();
	/** Edges of each list, by mapping, end and id. */
	readonly #lists = new Map<string, Edge[]>();
	/** Creates without an id yet: the edges that come with the object. */
	readonly #awaited = new Map<string, ((id: string) => void)[]>();
	readonly #expected = new Map<string, Thing[]>();
	readonly operations: Operation[] = [];

	constructor(freshness: Freshness) {
		this.freshness = freshness;
	}

	byId(id: string): Thing | undefined {
		return this.#byId.get(id);
	}

	/** Every create has to be added with the operation that asks for it. */
	add(thing: Thing): void {
		this.bySerial.set(thing.serial, thing);
		if (thing.kind === "User") this.users.push(thing);
		else if (thing.kind === "Board") this.boards.push(thing);
		else if (thing.kind === "Pin") this.pins.push(thing);
		else this.comments.push(thing);
	}

	/** Calls it now if the object has an id, else when it gets one. */
	whenKnown(thing: Thing, then: (id: string) => void): void {
		if (thing.id !== null) then(thing.id);
		else {
			const list = this.#awaited.get(thing.serial) ?? [];
			this.#awaited.set(thing.serial, [...list, then]);
		}
	}

	/** The id of an object, from its payload or from wherever it was seen first. */
	learn(thing: Thing, id: string): void {
		if (thing.id !== null) return;
		thing.id = id;
		this.#byId.set(id, thing);
		for (const then of this.#awaited.get(thing.serial) ?? []) then(id);
		this.#awaited.delete(thing.serial);
	}

	interest(slug: string): Interest {
		const known = this.interests.get(slug);
		if (known !== undefined) return known;
		const interest: Interest = { kind: "Interest", slug, id: null };
		this.interests.set(slug, interest);
		return interest;
	}

	edge(mapping: string, from: string, to: string): Edge {
		const key = `${mapping} ${from} ${to}`;
		const known = this.#edges.get(key);
		if (known !== undefined) return known;
		const edge: Edge = { mapping, from, to, present: new Register(false) };
		this.#edges.set(key, edge);
		for (const [end, id] of [
			["from", from],
			["to", to],
		] as const) {
			const name = `${mapping} ${end} ${id}`;
			const edges = this.#lists.get(name);
			if (edges === undefined) this.#lists.set(name, [edge]);
			else edges.push(edge);
		}
		return edge;
	}

	/** All edges that were ever asked for in a list. */
	edgesOf({ mapping, end }: ListField, id: string): readonly Edge[] {
		return this.#lists.get(`${mapping} ${end} ${id}`) ?? [];
	}

	isPresent(edge: Edge, rule: Rule, reading: Reading): Tri {
		return triOf(edge.present.possible(reading, this.freshness, rule));
	}

	/** Creates of unknown outcome whose objects, if they exist, are in the list. */
	unresolved({ mapping, end }: ListField, id: string): number {
		return (this.#expected.get(`${mapping} ${end} ${id}`) ?? []).filter(
			(thing) => thing.id === null && thing.create.outcome !== "refused",
		).length;
	}

	/** The edge that comes with an object: from `from`, or to `to`, whichever is not the object. */
	edgeOfNew(
		thing: Thing,
		mapping: string,
		other: { readonly from: string } | { readonly to: string },
	): void {
		const list = "from" in other ? `from ${other.from}` : `to ${other.to}`;
		const name = `${mapping} ${list}`;
		this.#expected.set(name, [...(this.#expected.get(name) ?? []), thing]);
		this.whenKnown(thing, (id) => {
			const edge =
				"from" in other
					? this.edge(mapping, other.from, id)
					: this.edge(mapping, id, other.to);
			edge.present.write(true, thing.create);
		});
	}

	/** Whether an edge is at one place of the list in all of these readings, and between them. */
	isUnmoved(edge: Edge, rule: Rule, readings: readonly Reading[]): boolean {
		const first = Math.min(...readings.map(({ from }) => from));
		const last = Math.max(...readings.map(({ to }) => to));
		const pin = edge.mapping === "placePin" ? this.byId(edge.to) : undefined;
		const operations = [
			...edge.present.writes.map(({ operation }) => operation),
			...(pin?.kind === "Pin" ? pin.positions : []),
		];
		return operations.every(
			(operation) =>
				operation.outcome === "refused" ||
				operation.invokedAt > last ||
				readings.every(
					(reading) => this.freshness.freshBy(operation, rule, reading) < first,
				),
		);
	}

	/** Whether a viewer sees an object; null is an anonymous viewer. */
	isVisible(viewer: User | null, thing: Thing, reading: Reading): Tri {
		const exists = triOf(thing.exists.possible(reading, this.freshness));
		if (exists === "no") return "no";
		switch (thing.kind) {
			case "User":
				return and(exists, this.#isAccountVisible(viewer, thing, reading));
			case "Board":
				return and(
					exists,
					this.#isOwnerVisible(viewer, thing.owner, reading),
					thing.owner === viewer
						? "yes"
						: not(triOf(thing.secret.possible(reading, this.freshness))),
				);
			case "Pin": {
				const boards = [...thing.board.possible(reading, this.freshness)];
				const visible = boards.map((board) =>
					this.isVisible(viewer, board, reading),
				);
				return and(
					exists,
					visible.every((one) => one === "yes")
						? "yes"
						: visible.every((one) => one === "no")
							? "no"
							: "maybe",
				);
			}
			case "Comment":
				return and(
					exists,
					this.isVisible(viewer, thing.pin, reading),
					this.#isOwnerVisible(viewer, thing.author, reading),
				);
		}
	}

	#isAccountVisible(viewer: User | null, user: User, reading: Reading): Tri {
		return and(
			triOf(user.active.possible(reading, this.freshness)),
			viewer === null || viewer === user
				? "yes"
				: not(this.#blocks(user, viewer, "delivered", reading)),
		);
	}

	/** For what belongs to the owner. */
	#isOwnerVisible(viewer: User | null, owner: User, reading: Reading): Tri {
		return and(
			triOf(owner.exists.possible(reading, this.freshness)),
			this.#isAccountVisible(viewer, owner, reading),
			viewer === null || viewer === owner
				? "yes"
				: not(this.#blocks(viewer, owner, "source", reading)),
		);
	}

	#blocks(one: User, other: User, rule: Rule, reading: Reading): Tri {
		if (one.id === null || other.id === null) return "no";
		const key = `blockUser ${one.id} ${other.id}`;
		const edge = this.#edges.get(key);
		return edge === undefined ? "no" : this.isPresent(edge, rule, reading);
	}
}

export function triOf(values: ReadonlySet<boolean>): Tri {
	if (values.size !== 1) return "maybe";
	return values.has(true) ? "yes" : "no";
}

function not(one: Tri): Tri {
	return one === "yes" ? "no" : one === "no" ? "yes" : "maybe";
}
