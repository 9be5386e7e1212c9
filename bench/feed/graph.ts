import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Id } from "../../src/id/ids.ts";

interface Line {
	readonly type?: string;
	readonly key?: string;
	readonly fields?: Readonly<Record<string, string>>;
	readonly edge?: string;
	readonly from?: string;
	readonly to?: string;
}

/** What the benchmark knows of an imported graph. Users are numbers from 0 on, in the order of the file. */
export interface FeedGraph {
	readonly users: readonly Id[];
	/** A board of each user; null: the user has none. */
	readonly boards: readonly (Id | null)[];
	/** The owner of each pin: a user who is drawn from it pins as often as before. */
	readonly owners: readonly number[];
	/** Whom each user follows. */
	readonly followed: readonly (readonly number[])[];
	/** The followers of each user. */
	readonly followers: readonly (readonly number[])[];
	readonly follows: number;
}

/** `ids`: of the objects by their import key. */
export async function readFeedGraph(
	file: string,
	ids: ReadonlyMap<string, string>,
): Promise<FeedGraph> {
	const numbers = new Map<string, number>();
	const users: Id[] = [];
	const boards: (Id | null)[] = [];
	const ownerOf = new Map<string, number>();
	const owners: number[] = [];
	const followed: number[][] = [];
	const followers: number[][] = [];
	let follows = 0;
	const idOf = (key: string) => {
		const id = ids.get(key);
		if (id === undefined) throw new Error(`${key} was not imported.`);
		return id as Id;
	};
	for await (const text of createInterface({ input: createReadStream(file) })) {
		const line = JSON.parse(text) as Line;
		const { type, key = "", fields = {}, edge } = line;
		if (type === "User") {
			numbers.set(key, users.length);
			users.push(idOf(key));
			boards.push(null);
			followed.push([]);
			followers.push([]);
		} else if (type === "Board") {
			const owner = numbers.get(fields.owner ?? "");
			if (owner === undefined) continue;
			ownerOf.set(key, owner);
			boards[owner] ??= idOf(key);
		} else if (type === "Pin") {
			const owner = ownerOf.get(fields.board ?? "");
			if (owner !== undefined) owners.push(owner);
		} else if (edge === "followUser") {
			const from = numbers.get(line.from ?? "");
			const to = numbers.get(line.to ?? "");
			if (from === undefined || to === undefined) continue;
			followed[from]?.push(to);
			followers[to]?.push(from);
			follows += 1;
		}
	}
	return { users, boards, owners, followed, followers, follows };
}
