import { type JsonObject, type Random, seededRandom } from "corkboard";
import { DEMO_USERNAME, makePeople, type Person } from "./people.ts";
import { REMARKS } from "./remarks.ts";
import { SUBJECTS, type Subject } from "./subjects.ts";

/** A line of an import (docs/how-to/import-and-verify.md, "Import"). */
export type DemoLine =
	| {
			readonly type: string;
			readonly key: string;
			readonly fields: JsonObject;
	  }
	| { readonly edge: string; readonly from: string; readonly to: string };

interface Board {
	readonly key: string;
	readonly owner: Person;
	readonly subject: Subject;
	readonly name: string;
	readonly secret: boolean;
	readonly pins: number;
	readonly created: number;
}

interface Pin {
	readonly key: string;
	readonly board: Board;
	readonly thing: string;
	readonly fields: JsonObject;
	readonly created: number;
}

const PEOPLE = 300;
const DAY = 86_400_000;
const OPENED = Date.UTC(2025, 0, 6, 9);
const TODAY = Date.UTC(2026, 9, 30, 18);

/**
 * A graph to explore: the same lines for the same seed. A line comes after the
 * lines it refers to, and lists are in the order of their dates, so that "newest
 * first" is true.
 */
export function* demoGraph(seed = 1): Generator<DemoLine> {
	const random = seededRandom(seed);
	const people = makePeople(random, PEOPLE, [OPENED, TODAY - 120 * DAY]);
	const boards = people.flatMap((person) => makeBoards(random, person));
	const pins = makePins(random, boards);
	const open = pins.filter((pin) => !pin.board.secret);

	for (const { slug, name } of SUBJECTS) {
		yield { type: "Interest", key: interestKey(slug), fields: { slug, name } };
	}
	for (const person of people) yield userLine(person);
	for (const board of boards.toSorted(byTime)) {
		yield boardLine(board);
		yield* sectionLines(board);
	}
	for (const pin of pins) {
		yield { type: "Pin", key: pin.key, fields: pin.fields };
	}
	for (const pin of open.filter((pin) => pin.fields.origin === undefined)) {
		yield edge("filePin", pin.key, interestKey(pin.board.subject.slug));
	}
	yield* comments(random, people, open);
	yield* follows(random, people, boards);
	yield* likes(random, people, open);
	yield* collaborations(random, people, boards);
}

/** A few boards are shared, secret ones among them. */
function* collaborations(
	random: Random,
	people: readonly Person[],
	boards: readonly Board[],
): Generator<DemoLine> {
	for (const board of boards) {
		const isDemo = board.owner.username === DEMO_USERNAME;
		const many = random.chance(isDemo ? 0.5 : 0.05) ? random.integer(1, 3) : 0;
		for (const person of distinctDraws(many, () => random.pick(people))) {
			if (person !== board.owner) {
				yield edge("collaborate", board.key, person.key);
			}
		}
	}
}

function* follows(
	random: Random,
	people: readonly Person[],
	boards: readonly Board[],
): Generator<DemoLine> {
	const [demo, ...others] = people;
	if (!demo) return;
	// Popularity does not depend on who joined first, except that the demo user is popular.
	const popular = random.shuffled(others).toSpliced(1, 0, demo);
	const openBoards = random.shuffled(boards.filter((board) => !board.secret));
	for (const person of random.shuffled(people)) {
		const busy = person === demo ? 40 : random.integer(1, 27);
		for (const other of distinctDraws(busy, () =>
			random.pickPopular(popular, 4),
		)) {
			if (other !== person) yield edge("followUser", person.key, other.key);
		}
		const wanted = person === demo ? 12 : random.integer(0, 5);
		for (const board of distinctDraws(wanted, () =>
			random.pickPopular(openBoards, 20),
		)) {
			if (board.owner !== person) {
				yield edge("followBoard", person.key, board.key);
			}
		}
		for (const subject of person.subjects) {
			yield edge("followInterest", person.key, interestKey(subject.slug));
		}
	}
}

function* likes(
	random: Random,
	people: readonly Person[],
	pins: readonly Pin[],
): Generator<DemoLine> {
	const popular = random.shuffled(pins);
	for (const person of random.shuffled(people)) {
		const many = person.username === DEMO_USERNAME ? 60 : random.integer(0, 26);
		for (const pin of distinctDraws(many, () =>
			random.pickPopular(popular, 60),
		)) {
			yield edge("likePin", person.key, pin.key);
		}
	}
}

function* comments(
	random: Random,
	people: readonly Person[],
	pins: readonly Pin[],
): Generator<DemoLine> {
	const popular = random.shuffled(pins);
	const said = Array.from({ length: 1_200 }, () => {
		const pin = random.pickPopular(popular, 60);
		return { pin, created: between(random, pin.created, TODAY) };
	});
	for (const [n, { pin, created }] of said.toSorted(byTime).entries()) {
		yield {
			type: "Comment",
			key: `demo:comment:${n + 1}`,
			fields: {
				author: random.pick(people.filter(joinedBefore(created))).key,
				pin: pin.key,
				text: random
					.pick(REMARKS)
					.replace("{thing}", () => uncapitalized(pin.thing)),
				createdAt: moment(created),
			},
		};
	}
}

function makeBoards(random: Random, person: Person): readonly Board[] {
	const isDemo = person.username === DEMO_USERNAME;
	const plans = person.subjects.flatMap((subject, place) =>
		random
			.shuffled(subject.boards)
			.slice(0, isDemo ? 3 : random.integer(place === 0 ? 1 : 0, 2))
			.map((name) => ({
				subject,
				name,
				secret: !isDemo && random.chance(0.03),
			})),
	);
	if (isDemo) {
		const subject = random.pick(SUBJECTS);
		plans.push({ subject, name: "Surprise party (hush)", secret: true });
	}
	return plans.map((plan, n) => ({
		...plan,
		key: `demo:board:${person.username}:${n + 1}`,
		owner: person,
		// Most boards are small; a few are large enough to page through.
		pins: isDemo
			? random.integer(12, 30)
			: Math.round(1 + 44 * random.fraction() ** 9),
		created: between(random, person.joined, person.joined + 90 * DAY),
	}));
}

function makePins(random: Random, boards: readonly Board[]): readonly Pin[] {
	const slots = boards
		.flatMap((board) =>
			Array.from({ length: board.pins }, () => ({
				board,
				created: between(random, board.created, TODAY),
			})),
		)
		.toSorted(byTime);
	const open = new Map<Subject, Pin[]>(
		SUBJECTS.map((subject) => [subject, []]),
	);
	return slots.map(({ board, created }, n) => {
		const { subject, owner } = board;
		const seen = open.get(subject) ?? [];
		const found = seen.length > 0 && random.chance(0.35);
		const origin = found ? random.pickPopular(seen, 5) : undefined;
		const from = origin?.board.owner === owner ? undefined : origin;
		const pin = {
			key: `demo:pin:${n + 1}`,
			board,
			created,
			...(from ? saved(from) : madeUp(random, subject, n + 1)),
		};
		const placed: Pin = {
			...pin,
			fields: {
				board: board.key,
				...sectionOf(board, n),
				...pin.fields,
				createdAt: moment(created),
			},
		};
		if (!board.secret) seen.push(placed);
		return placed;
	});
}

function saved(origin: Pin): Pick<Pin, "thing" | "fields"> {
	const { title, details, link, image } = origin.fields;
	return {
		thing: origin.thing,
		fields: {
			...(title === undefined ? {} : { title }),
			...(details === undefined ? {} : { details }),
			...(link === undefined ? {} : { link }),
			...(image === undefined ? {} : { image }),
			origin: origin.key,
		},
	};
}

function madeUp(
	random: Random,
	subject: Subject,
	n: number,
): Pick<Pin, "thing" | "fields"> {
	const thing = random.pick(subject.things);
	const path = thing.toLowerCase().replace(/[^a-z]+/g, "-");
	return {
		thing,
		fields: {
			title: thing,
			details: `${thing} ${random.pick(subject.endings)}.`,
			link: `https://example.com/${subject.slug}/${path}-${n}`,
			image: {
				url: `https://example.com/images/${subject.slug}/${path}-${n}.jpg`,
				width: 600,
				height: random.pick([400, 600, 750, 900]),
				alt: thing,
			},
		},
	};
}

function userLine(person: Person): DemoLine {
	const { username, name, bio } = person;
	return {
		type: "User",
		key: person.key,
		fields: {
			username,
			name,
			bio,
			website: `https://example.com/people/${username}`,
			avatar: { url: `https://example.com/images/people/${username}.png` },
			createdAt: moment(person.joined),
			email: `${username}@example.com`,
		},
	};
}

function boardLine(board: Board): DemoLine {
	return {
		type: "Board",
		key: board.key,
		fields: {
			owner: board.owner.key,
			name: board.name,
			description: board.secret
				? "Nobody else can see this one."
				: `${board.owner.name} on ${uncapitalized(board.subject.name)}.`,
			cover: {
				url: `https://example.com/images/${board.subject.slug}/cover.jpg`,
				width: 1_200,
				height: 400,
			},
			secret: board.secret,
			createdAt: moment(board.created),
		},
	};
}

const SECTIONS = ["To try", "Favorites"];

/** Boards that are large enough have sections, for two pins of three. */
function hasSections(board: Board): boolean {
	return board.pins >= 12;
}

function* sectionLines(board: Board): Generator<DemoLine> {
	if (!hasSections(board)) return;
	for (const [n, name] of SECTIONS.entries()) {
		const createdAt = moment(board.created);
		yield {
			type: "Section",
			key: sectionKey(board, n),
			fields: { board: board.key, name, createdAt },
		};
	}
}

function sectionOf(board: Board, pin: number): JsonObject {
	const section = pin % (SECTIONS.length + 1);
	return hasSections(board) && section < SECTIONS.length
		? { section: sectionKey(board, section) }
		: {};
}

function sectionKey(board: Board, section: number): string {
	return `${board.key}:section:${section + 1}`;
}

/** The distinct results of so many draws. */
function distinctDraws<T>(times: number, draw: () => T): ReadonlySet<T> {
	return new Set(Array.from({ length: times }, draw));
}

function between(random: Random, from: number, until: number): number {
	return Math.floor(from + random.fraction() * (until - from));
}

function joinedBefore(moment: number): (person: Person) => boolean {
	return (person) => person.joined <= moment;
}

function byTime(
	a: { readonly created: number },
	b: { readonly created: number },
): number {
	return a.created - b.created;
}

function edge(name: string, from: string, to: string): DemoLine {
	return { edge: name, from, to };
}

function interestKey(slug: string): string {
	return `demo:interest:${slug}`;
}

function moment(milliseconds: number): string {
	return new Date(milliseconds).toISOString();
}

function uncapitalized(text: string): string {
	return text.charAt(0).toLowerCase() + text.slice(1);
}
