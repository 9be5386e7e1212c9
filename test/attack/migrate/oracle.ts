import pinsApp from "../../../pins/app.ts";
import { openCorkboard } from "../../../src/app/openCorkboard.ts";
import { readConfig } from "../../../src/config/config.ts";
import { keyFields, type ObjectType } from "../../../src/model/types.ts";
import type { Environment } from "../../helpers/program.ts";
import type { OldApplication, OldRow } from "./oldApplication.ts";

export interface BadRow {
	readonly key: string;
	readonly reason: string;
}

export interface Judgement {
	/** What is not as it should be. */
	readonly findings: readonly string[];
	/** Objects and edges that both sides have. */
	readonly agreed: number;
}

/** What the old database says, read without any code of a migration. */
interface Facts {
	/** By key: the fields, as texts. */
	readonly objects: Map<string, Readonly<Record<string, string>>>;
	/** By edge and both ends: the times of all rows that make it. */
	readonly edges: Map<string, readonly number[]>;
}

/** A few are enough to see what is wrong. */
const SHOWN = 20;

/** Holds the new side against the rows of the old one. Rows that were refused count as they are, if the reason is true. */
export async function judge(
	old: Pick<OldApplication, "rows">,
	env: Environment,
	bad: readonly BadRow[],
	isPlanted: (bad: BadRow) => boolean,
): Promise<Judgement> {
	const expected = await factsOf(old);
	const here = await factsHere(env);
	const refused = new Map(bad.map(({ key, reason }) => [key, reason]));
	const findings: string[] = [];
	let agreed = 0;
	for (const row of bad) {
		if (!isPlanted(row) && !isTrue(row, expected, here)) {
			findings.push(`refused for no reason: ${row.key}: ${row.reason}`);
		}
	}
	for (const [key, fields] of expected.objects) {
		const found = here.objects.get(key);
		if (refused.has(key)) continue;
		if (found === undefined) findings.push(`${key} is missing`);
		else {
			const wrong = Object.keys(fields).filter(
				(name) => fields[name] !== found[name],
			);
			if (wrong.length === 0) agreed++;
			for (const name of wrong) {
				findings.push(
					`${key}.${name}: ${fields[name]} there, ${found[name]} here`,
				);
			}
		}
	}
	for (const key of here.objects.keys()) {
		if (expected.objects.has(key) || refused.has(key)) continue;
		findings.push(`${key} is here and not there`);
	}
	for (const [key, times] of expected.edges) {
		const [at] = here.edges.get(key) ?? [];
		if (refused.has(key)) continue;
		if (at === undefined) findings.push(`${key} is missing`);
		else if (!times.includes(at)) {
			findings.push(`${key}: at ${times.join(" or ")} there, ${at} here`);
		} else agreed++;
	}
	for (const key of here.edges.keys()) {
		if (expected.edges.has(key)) continue;
		// What leads to an object that is deleted shows nowhere.
		const ends = key.split(" ").slice(1);
		if (ends.some((end) => !here.objects.has(end))) continue;
		findings.push(`${key} is here and not there`);
	}
	return {
		agreed,
		findings:
			findings.length <= SHOWN
				? findings
				: [
						...findings.slice(0, SHOWN),
						`and ${findings.length - SHOWN} more like these`,
					],
	};
}

/** Whether a row that was refused refers to what is on neither side, or to itself. */
function isTrue({ key, reason }: BadRow, there: Facts, here: Facts): boolean {
	const [, missing] =
		/^\w+: (?:no row of the mapping has the key )?"([^"]+)"/.exec(reason) ?? [];
	if (missing !== undefined) {
		return !there.objects.has(missing) || !here.objects.has(missing);
	}
	const [, from, to] = key.split(" ");
	return /from and to must differ/.test(reason) && from === to;
}

async function factsOf(old: Pick<OldApplication, "rows">): Promise<Facts> {
	const objects: Facts["objects"] = new Map();
	const edges = new Map<string, number[]>();
	for (const row of await old.rows("users")) {
		objects.set(`User:${row.id}`, {
			username: textOf(row.login),
			name: textOf(row.full_name),
			email: orNull(textOf(row.email)),
			bio: textOf(row.bio),
			createdAt: textOf(row.created_at),
		});
	}
	for (const row of await old.rows("boards")) {
		if (row.deleted_at !== null) continue;
		objects.set(`Board:${row.id}`, {
			name: textOf(row.title),
			owner: `User:${row.user_id}`,
		});
	}
	for (const row of await old.rows("pins")) {
		if (row.deleted_at !== null) continue;
		objects.set(`Pin:${row.id}`, {
			details: orNull(textOf(row.caption)),
			link: orNull(textOf(row.source_url)),
			board: `Board:${row.board_id}`,
			origin: row.copied_from === null ? "null" : `Pin:${row.copied_from}`,
			createdAt: textOf(row.created_at).slice(0, 19),
		});
	}
	const add = (key: string, row: OldRow) => {
		const at = Date.parse(`${textOf(row.created_at).replace(" ", "T")}Z`);
		edges.set(key, [...(edges.get(key) ?? []), at]);
	};
	for (const row of await old.rows("likes")) {
		if (row.likeable_type !== "Pin") continue;
		add(`likePin User:${row.user_id} Pin:${row.likeable_id}`, row);
	}
	for (const row of await old.rows("follows")) {
		add(`followUser User:${row.follower_id} User:${row.followed_id}`, row);
	}
	return { objects, edges };
}

/** The same of the graph, from its tables. */
async function factsHere(env: Environment): Promise<Facts> {
	await using corkboard = await openCorkboard(
		pinsApp,
		readConfig(env),
		"readOnly",
	);
	const { storage, model } = corkboard;
	const keys = new Map<string, string>();
	for (let shard = 0; shard < storage.map.modShards; shard++) {
		for await (const rows of storage.walk("lookups", shard)) {
			for (const { name, key, id } of rows) {
				if (name === "import") keys.set(String(id), key);
			}
		}
	}
	const objects: Facts["objects"] = new Map();
	for (const name of Object.keys(FIELDS)) {
		const type = model.objects.get(name);
		if (type === undefined) throw new Error(`there is no ${name}`);
		for (const shard of storage.map.shards) {
			for await (const rows of storage.walk("objects", shard, name)) {
				for (const { id, data } of rows) {
					const content = JSON.parse(data);
					if (content.active === false) continue;
					const key = keys.get(String(id)) ?? `new:${id}`;
					objects.set(key, fieldsHere(type, content, keys));
				}
			}
		}
	}
	const edges = new Map<string, readonly number[]>();
	for (const name of ["likePin", "followUser"]) {
		const mapping = model.mappings.get(name);
		if (mapping === undefined) throw new Error(`there is no ${name}`);
		const places = new Set(
			storage.map.shards.map((shard) =>
				storage.map.shardOfLists(mapping, shard),
			),
		);
		for (const shard of places) {
			for await (const rows of storage.walk("edges", shard, mapping)) {
				for (const { from, to, sequence, state } of rows) {
					if (state !== 0) continue;
					const ends = [from, to].map(
						(id) => keys.get(String(id)) ?? `new:${id}`,
					);
					edges.set([name, ...ends].join(" "), [Math.floor(sequence / 1_000)]);
				}
			}
		}
	}
	return { objects, edges };
}

/** The fields that the mapping names, as texts. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
	User: ["username", "name", "email", "bio"],
	Board: ["name", "owner"],
	Pin: ["details", "link", "board", "origin"],
};
const ZONES: Readonly<Record<string, string>> = {
	User: "Europe/Berlin",
	Pin: "UTC",
};

function fieldsHere(
	type: ObjectType,
	content: Readonly<Record<string, unknown>>,
	keys: ReadonlyMap<string, string>,
): Readonly<Record<string, string>> {
	const { name, stored, references } = type;
	const texts: Record<string, string> = {};
	for (const { field, key } of [...stored, ...keyFields(type), ...references]) {
		if (FIELDS[name]?.includes(field) !== true) continue;
		const text = String(content[key] ?? null);
		const isReference = references.some((one) => one.field === field);
		texts[field] = isReference ? (keys.get(text) ?? text) : text;
	}
	const zone = ZONES[name];
	if (zone !== undefined) {
		texts.createdAt = clockOf(String(content.created_at ?? null), zone);
	}
	return texts;
}

/** What a clock of this zone showed: `2015-01-01 12:00:00`. */
function clockOf(time: string, timeZone: string): string {
	if (time === "null") return time;
	let format = formats.get(timeZone);
	if (format === undefined) {
		// Sweden writes dates so.
		format = new Intl.DateTimeFormat("sv-SE", {
			timeZone,
			dateStyle: "short",
			timeStyle: "medium",
		});
		formats.set(timeZone, format);
	}
	return format.format(new Date(time));
}

const formats = new Map<string, Intl.DateTimeFormat>();

function textOf(value: OldRow[string] | undefined): string {
	return Buffer.isBuffer(value) ? value.toString() : String(value ?? null);
}

function orNull(text: string): string {
	return text.trim() === "" ? "null" : text;
}
