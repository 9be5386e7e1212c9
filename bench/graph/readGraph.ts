import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import type { Graph } from "./generate.ts";

interface Line {
	readonly type?: string;
	readonly key?: string;
	readonly fields?: Readonly<Record<string, string>>;
	readonly edge?: string;
	readonly from?: string;
	readonly to?: string;
}

/** The users, boards, pins, likes and follows of an import file; other lines are left out. */
export async function readGraph(file: string): Promise<Graph> {
	const index = new Map<string, number>();
	const users: Graph["users"][number][] = [];
	const boards: Graph["boards"][number][] = [];
	const pins: Graph["pins"][number][] = [];
	const likes = new Map<string, Graph["likes"][number]>();
	const follows = new Map<string, Graph["follows"][number]>();
	const at = (key = "") => {
		const found = index.get(key);
		if (found === undefined) throw new Error(`${file}: ${key} comes too late.`);
		return found;
	};
	for await (const text of createInterface({ input: createReadStream(file) })) {
		const {
			type,
			key = "",
			fields = {},
			edge,
			from,
			to,
		} = JSON.parse(text) as Line;
		if (type === "User") {
			index.set(key, users.length);
			users.push({ username: fields.username ?? "", bio: fields.bio ?? "" });
		} else if (type === "Board") {
			index.set(key, boards.length);
			boards.push({
				owner: at(fields.owner),
				name: fields.name ?? "",
				description: fields.description ?? "",
			});
		} else if (type === "Pin") {
			index.set(key, pins.length);
			pins.push({
				board: at(fields.board),
				details: fields.details ?? "",
				link: fields.link ?? "",
			});
		} else if (edge === "likePin") {
			const like = { user: at(from), pin: at(to) };
			likes.set(`${like.user} ${like.pin}`, like);
		} else if (edge === "followUser") {
			const follow = { from: at(from), to: at(to) };
			follows.set(`${follow.from} ${follow.to}`, follow);
		}
	}
	return {
		users,
		boards,
		pins,
		likes: [...likes.values()],
		follows: [...follows.values()],
	};
}
