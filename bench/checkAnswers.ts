import { QUERY_NAMES, type QueryName, textOf } from "./queries.ts";
import { spellRequest } from "./requests.ts";
import { flavorOf, VARIANTS, type VariantName } from "./variants.ts";
import type { World } from "./world.ts";

const ASKED = 25;
const LIMIT_MS = 20_000;

/**
 * Asks every variant the same and throws if answers differ. Ids are compared
 * as the objects they name; cursors are left out, because each server has its
 * own. Answers the average size of Corkboard's responses, for the canned bytes.
 */
export async function checkAnswers(
	world: World,
	variants: readonly VariantName[],
	signal: AbortSignal,
): Promise<Readonly<Record<QueryName, number>>> {
	const expected = new Map<string, { variant: VariantName; answer: string }>();
	const bytes: Record<QueryName, number> = {
		q1: 300,
		q2: 6_000,
		q3: 10_000,
		q4: 10_000,
	};
	for (const variant of variants) {
		if (variant === "canned") continue;
		const { port } = await world.serverOf(variant);
		for (const query of QUERY_NAMES) {
			signal.throwIfAborted();
			let total = 0;
			const ids = world.pools[query].ids.slice(0, ASKED);
			for (const row of ids) {
				const text = await ask(
					port,
					variant,
					query,
					idOfRow(world, variant, query, row),
				);
				total += Buffer.byteLength(text);
				const answer = JSON.stringify(
					normalized((JSON.parse(text) as { data: unknown }).data, (id) =>
						world.keyOf(variant, id),
					),
				);
				const question = `${query} of ${row}`;
				const first = expected.get(question);
				if (first === undefined) expected.set(question, { variant, answer });
				else if (first.answer !== answer) {
					throw new Error(
						`${variant} and ${first.variant} answer ${question} differently:\n${answer.slice(0, 1_500)}\n${first.answer.slice(0, 1_500)}`,
					);
				}
			}
			if (VARIANTS[variant].server.kind === "corkboard") {
				bytes[query] = Math.round(total / ids.length);
			}
		}
	}
	return bytes;
}

/** Pools name rows of the relational schema. */
export function idOfRow(
	world: World,
	variant: VariantName,
	query: QueryName,
	row: number,
): string {
	const letter = query === "q1" ? "p" : query === "q2" ? "b" : "u";
	return world.idOf(variant, `${letter}:${row}`);
}

async function ask(
	port: number,
	variant: VariantName,
	query: QueryName,
	id: string,
): Promise<string> {
	const { way } = VARIANTS[variant];
	const question = {
		text: textOf(flavorOf(variant), query),
		variables: { id },
	};
	return askOnce(port, spellRequest(question, way), variant);
}

/** Sends a spelled request, and answers the text. Throws if there are errors in it. */
export async function askOnce(
	port: number,
	spelled: string,
	server: string,
): Promise<string> {
	// As it goes over the wire, taken apart again for fetch.
	const [head = "", body = ""] = spelled.split("\r\n\r\n");
	const [start = "", ...lines] = head.split("\r\n");
	const [method = "", path] = start.split(" ");
	const response = await fetch(`http://127.0.0.1:${port}${path}`, {
		method,
		headers: lines
			.map((line): [string, string] => {
				const [name = "", value = ""] = line.split(": ");
				return [name, value];
			})
			.filter(([name]) => name !== "host" && name !== "content-length"),
		...(method === "POST" && { body }),
		signal: AbortSignal.timeout(LIMIT_MS),
	});
	const text = await response.text();
	if (!response.ok || text.includes('"errors":')) {
		throw new Error(
			`${server} answered ${response.status} to ${body.slice(0, 500)}: ${text.slice(0, 1_000)}`,
		);
	}
	return text;
}

/** One shape for all: the peers have `likeCount`, and PostGraphile a row between an edge and its user. */
export function normalized(
	value: unknown,
	keyOf: (id: string) => string,
): unknown {
	if (Array.isArray(value)) return value.map((item) => normalized(item, keyOf));
	if (typeof value !== "object" || value === null) return value;
	const fields = new Map(
		Object.entries(value).filter(
			([name]) => name !== "cursor" && name !== "endCursor",
		),
	);
	const user = fields.get("user");
	if (fields.size === 1 && isRow(user) && "username" in user) {
		return normalized(user, keyOf);
	}
	const likedBy = fields.get("likedBy");
	if (isRow(likedBy) && "totalCount" in likedBy) {
		const { totalCount, ...rest } = likedBy;
		fields.set("likeCount", totalCount);
		fields.set("likedBy", rest);
	}
	return Object.fromEntries(
		[...fields]
			.map(([name, field]): [string, unknown] => [
				name,
				name === "id" ? keyOf(String(field)) : normalized(field, keyOf),
			])
			.sort(([a], [b]) => (a < b ? -1 : 1)),
	);
}

function isRow(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null;
}
