import type { Random } from "../../src/util/random.ts";
import type {
	Answers,
	Board,
	BoardPin,
	OpenPin,
	Page,
	Profile,
} from "./answers.ts";
import type { Kind } from "./documents.ts";
import type { Checks, Expectations } from "./expectations.ts";
import type { Habits } from "./habits.ts";
import type { Person } from "./messages.ts";

/** Characters of a new pin's text. */
const MOST_DETAILS = 400;

/** One request before it is spelled for a server. */
export interface Ask {
	readonly kind: Kind;
	/** The id of what is read, written to, liked or followed. */
	readonly id: string;
	/** Cursor of the page before. */
	readonly after: string | null;
	/** The details of a new pin. */
	readonly details: string | null;
}

/** What a person looks at. */
type Place =
	| {
			readonly at: "profile";
			readonly profile: Profile;
			/** The boards on its latest page. */
			readonly boards: Page<Board>;
	  }
	| {
			readonly at: "board";
			readonly board: string;
			readonly pins: Page<BoardPin>;
			/** How many pages of it were read. */
			readonly pages: number;
	  }
	| {
			readonly at: "pin";
			readonly pin: OpenPin;
			/** From which it was opened; null if it was none. */
			readonly from: Extract<Place, { at: "board" }> | null;
	  };

interface SessionOf {
	readonly person: Person;
	readonly expectations: Expectations;
	readonly habits: Habits;
	readonly random: Random;
	/** Draws whose profile is visited. */
	readonly visited: (person: Person) => string;
	readonly checks: () => Checks;
}

/** A person with an app: each request follows from the answer before. */
export class Session {
	readonly person: Person;
	readonly #of: SessionOf;
	#left: number;
	#place: Place | null = null;
	#ask: Ask | null = null;
	/** Read next: what was just written to. */
	#own: Ask | null = null;
	/** In the list that is scrolled. */
	readonly #seen = new Set<string>();

	constructor(of: SessionOf) {
		this.#of = of;
		this.person = of.person;
		this.#left = of.random.integer(of.habits.least, of.habits.most);
	}

	get isOver(): boolean {
		return this.#left <= 0;
	}

	/** The same until it is answered. */
	get ask(): Ask {
		this.#ask ??= this.#next();
		return this.#ask;
	}

	/** Ends the session: what became of the last request is not known. */
	giveUp(): void {
		this.#left = 0;
	}

	answered<K extends Kind>(kind: K, answer: Answers[K]): void {
		const ask = this.ask;
		this.#ask = null;
		this.#left--;
		this.#takers[kind](answer, ask);
	}

	#next(): Ask {
		const own = this.#own;
		this.#own = null;
		if (own !== null) return own;
		switch (this.#place?.at) {
			case undefined:
				return this.#visit();
			case "profile":
				return this.#onProfile(this.#place);
			case "board":
				return this.#onBoard(this.#place);
			case "pin":
				return this.#onPin(this.#place);
		}
	}

	#onProfile({ profile, boards }: Extract<Place, { at: "profile" }>): Ask {
		const { random, person, habits } = this.#of;
		const weights = habits.onProfile;
		const canFollow =
			person.token !== null &&
			!profile.viewerFollows &&
			profile.id !== person.user;
		return this.#choose([
			[
				weights.boards,
				boards.next !== null && askFor("boards", profile.id, boards.next),
			],
			[
				weights.board,
				boards.items.length > 0 &&
					askFor("board", random.pick(boards.items).id),
			],
			[weights.follow, canFollow && askFor("followUser", profile.id)],
			[weights.visit, this.#visit()],
		]);
	}

	#onBoard(place: Extract<Place, { at: "board" }>): Ask {
		const { random, habits } = this.#of;
		const weights = habits.onBoard;
		const { items } = place.pins;
		return this.#choose([
			[weights.page, this.#further(place)],
			[weights.pin, items.length > 0 && askFor("pin", random.pick(items).id)],
			[weights.visit, this.#visit()],
		]);
	}

	#onPin({ pin, from }: Extract<Place, { at: "pin" }>): Ask {
		const { random, person, habits } = this.#of;
		const weights = habits.onPin;
		const isSignedIn = person.token !== null;
		const others = from?.pins.items ?? [];
		const ask = this.#choose([
			[
				weights.like,
				isSignedIn && !pin.viewerLikes && askFor("likePin", pin.id),
			],
			[
				weights.save,
				isSignedIn &&
					person.boards.length > 0 && {
						...askFor("createPin", random.pick(person.boards)),
						details: `Saved ${pin.details}`.slice(0, MOST_DETAILS),
					},
			],
			[weights.pin, others.length > 0 && askFor("pin", random.pick(others).id)],
			[weights.page, from !== null && this.#further(from)],
			[
				weights.person,
				askFor("profile", random.pick([pin.owner, ...pin.likers]).id),
			],
			[weights.visit, this.#visit()],
		]);
		// Back on the board.
		if (ask.kind === "boardPage") this.#place = from;
		return ask;
	}

	/** One of what can be asked, by weight. */
	#choose(asks: readonly (readonly [weight: number, ask: Ask | false])[]): Ask {
		const possible = asks.filter(([, ask]) => ask !== false);
		const total = possible.reduce((sum, [weight]) => sum + weight, 0);
		let left = this.#of.random.fraction() * total;
		const chosen = possible.find(([weight]) => {
			left -= weight;
			return left < 0;
		});
		return (chosen?.[1] || null) ?? this.#visit();
	}

	/** The next page of a board that is scrolled. */
	#further({
		board,
		pins,
		pages,
	}: Extract<Place, { at: "board" }>): Ask | false {
		return (
			pins.next !== null &&
			pages <= this.#of.habits.morePages &&
			askFor("boardPage", board, pins.next)
		);
	}

	#visit(): Ask {
		return askFor("profile", this.#of.visited(this.person));
	}

	readonly #takers: {
		readonly [K in Kind]: (answer: Answers[K], ask: Ask) => void;
	} = {
		profile: (profile) => {
			const { expectations, checks } = this.#of;
			expectations.seeProfile(profile, checks());
			this.#scroll(profile.boards, true);
			this.#place = { at: "profile", profile, boards: profile.boards };
		},
		boards: (boards) => {
			this.#scroll(boards, false);
			if (this.#place?.at === "profile") {
				this.#place = { ...this.#place, boards };
			}
		},
		board: ({ id, pins }) => {
			this.#scroll(pins, true);
			const { expectations, checks } = this.#of;
			expectations.seePins(pins.items, checks());
			expectations.seeBoard(id, pins, checks());
			this.#place = { at: "board", board: id, pins, pages: 1 };
		},
		boardPage: (pins, { id }) => {
			this.#scroll(pins, false);
			const { expectations, checks } = this.#of;
			expectations.seePins(pins.items, checks());
			const pages = this.#place?.at === "board" ? this.#place.pages + 1 : 1;
			this.#place = { at: "board", board: id, pins, pages };
		},
		pin: (pin) => {
			const { expectations, checks } = this.#of;
			expectations.seeOpenPin(pin, checks());
			const from =
				this.#place?.at === "board"
					? this.#place
					: this.#place?.at === "pin"
						? this.#place.from
						: null;
			this.#place = { at: "pin", pin, from };
		},
		likePin: (_, { id }) => {
			const place = this.#place;
			if (place?.at !== "pin") return;
			this.#of.expectations.liked(id, place.pin.likes);
			this.#readOwn(askFor("pin", id));
			this.#place = { ...place, pin: { ...place.pin, viewerLikes: true } };
		},
		createPin: (pin, { id }) => {
			this.#of.expectations.saved(id, pin);
			this.#readOwn(askFor("board", id));
		},
		followUser: (_, { id }) => {
			const place = this.#place;
			if (place?.at !== "profile") return;
			const { profile } = place;
			this.#of.expectations.followed(id, profile.followers);
			this.#readOwn(askFor("profile", id));
			this.#place = { ...place, profile: { ...profile, viewerFollows: true } };
		},
	};

	#readOwn(ask: Ask): void {
		const { random, habits } = this.#of;
		if (random.chance(habits.readsOwn)) this.#own = ask;
	}

	/** No item comes twice, also while others add some. */
	#scroll({ items }: Page<{ readonly id: string }>, isFirst: boolean): void {
		if (isFirst) this.#seen.clear();
		const before = this.#seen.size;
		for (const { id } of items) this.#seen.add(id);
		this.#of
			.checks()
			.look("repeats", this.#seen.size === before + items.length, () =>
				items.map(({ id }) => id).join(" "),
			);
	}
}

function askFor(kind: Kind, id: string, after: string | null = null): Ask {
	return { kind, id, after, details: null };
}
