import { askOnce } from "../checkAnswers.ts";
import type { World } from "../world.ts";
import { type Answers, READERS } from "./answers.ts";
import type { Kind } from "./documents.ts";
import type { Person } from "./messages.ts";
import type { Ask } from "./session.ts";
import { requestOf } from "./spell.ts";
import type { Contender, System } from "./systems.ts";

/** What is compared: so many profiles, and what is behind each. */
const PROFILES = 25;

export const SUFFIX = " # in no file";

/**
 * Walks through the same profiles, boards and pins on all servers, and throws
 * where people see something else; then writes the same on all, and compares
 * again. Returns how many answers were compared.
 */
export async function checkAgreement(
	world: World,
	contenders: readonly Contender[],
	people: ReadonlyMap<System["crowd"], readonly Person[]>,
): Promise<number> {
	let compared = 0;
	const written = new Set<System["crowd"]>();
	for (const isAfter of [false, true]) {
		const seen = new Map<string, string>();
		for (const contender of contenders) {
			const { system } = contender;
			const own = people.get(system.crowd) ?? [];
			if (isAfter && !written.has(system.crowd)) {
				written.add(system.crowd);
				await writeEach(contender, own);
			}
			for (const [question, answer] of await look(world, contender, own)) {
				const first = seen.get(question);
				if (first === undefined) seen.set(question, answer);
				else if (first !== answer) {
					throw new Error(
						`${contender.title} shows another ${question}:\n${answer.slice(0, 1_500)}\n${first.slice(0, 1_500)}`,
					);
				} else compared++;
			}
		}
	}
	return compared;
}

/** By question: what a person sees, with the rows that ids name. */
async function look(
	world: World,
	contender: Contender,
	people: readonly Person[],
): Promise<ReadonlyMap<string, string>> {
	const { variant } = contender.system;
	const rowOf = (id: string) => {
		const row = world.keyOf(variant, id);
		// Servers number new pins as they like.
		return Number(row) <= world.graph.pins.length ? row : "new";
	};
	const seen = new Map<string, string>();
	for (let n = 0; n < PROFILES; n++) {
		const person = people[n % people.length] as Person;
		const stranger = people.at(-1 - (n % people.length)) as Person;
		const asked = async <K extends Kind>(
			who: Person,
			kind: K,
			id: string,
			after: string | null = null,
		): Promise<Answers[K]> => {
			const answer = await askOf(contender, who, {
				kind,
				id,
				after,
				details: null,
			});
			const rows = JSON.stringify(answer, (name, value) => {
				if (name === "id") return rowOf(value);
				return name === "next" ? value !== null : value;
			});
			seen.set(
				`${kind} ${rowOf(id)}${after === null ? "" : ", continued"} for ${rowOf(who.user)}`,
				rows,
			);
			return answer as Answers[K];
		};
		for (const [who, whose] of [
			[person, people[(n * 7 + 1) % people.length] as Person],
			[person, person],
			[stranger, person],
		] as const) {
			const { id, boards } = await asked(who, "profile", whose.user);
			if (boards.next !== null) await asked(who, "boards", id, boards.next);
			for (const { id } of boards.items.slice(0, 2)) {
				const { pins } = await asked(who, "board", id);
				if (pins.next !== null) await asked(who, "boardPage", id, pins.next);
				const [pin] = pins.items;
				if (pin !== undefined) await asked(who, "pin", pin.id);
			}
		}
	}
	return seen;
}

/** A like, a new pin and a follow of each of some people. */
async function writeEach(
	contender: Contender,
	people: readonly Person[],
): Promise<void> {
	const writers = people.slice(0, PROFILES).filter(({ token }) => token);
	for (const [n, person] of writers.entries()) {
		const other = people[(n * 7 + 1) % people.length] as Person;
		const write = (kind: Kind, id: string, details: string | null = null) =>
			askOf(contender, person, { kind, id, after: null, details });
		const ask = { id: other.user, after: null, details: null };
		const profile = (await askOf(contender, person, {
			...ask,
			kind: "profile",
		})) as Answers["profile"];
		if (!profile.viewerFollows && other !== person) {
			await write("followUser", other.user);
		}
		const [pin] = profile.boards.items.flatMap(({ pins }) => pins);
		if (pin !== undefined) {
			const { viewerLikes } = (await askOf(contender, person, {
				...ask,
				kind: "pin",
				id: pin.id,
			})) as Answers["pin"];
			if (!viewerLikes) await write("likePin", pin.id);
		}
		const [board] = person.boards;
		if (board !== undefined) {
			await write("createPin", board, `Number ${n} before all`);
		}
	}
}

async function askOf(
	{ system, way, title }: Contender,
	person: Person,
	ask: Ask,
): Promise<Answers[Kind]> {
	const spelled = requestOf(ask, person, {
		flavor: system.flavor,
		way,
		suffix: system.isOurs ? SUFFIX : "",
	});
	const text = await askOnce(system.server.port, spelled, title);
	const { data } = JSON.parse(text) as { readonly data: unknown };
	return READERS[ask.kind](data);
}
