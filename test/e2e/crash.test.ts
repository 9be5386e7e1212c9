import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { Id } from "../../src/id/ids.ts";
import { createAccessTokens } from "../../src/server/auth/accessTokens.ts";
import { type Client, client } from "../helpers/client.ts";
import { serve } from "../helpers/program.ts";
import { runHere } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";

const SECRET = "of the crash tests with 32 bytes or more";
const USERS = 12;
const PINS = 25;
const CLIENTS = 6;
/** The server is killed when so many mutations were acknowledged, and again. */
const KILLED_AT = [80, 150];

/** What was asked for and acknowledged of one user's like of one pin. */
interface Like {
	readonly user: string;
	readonly pin: string;
	acknowledged: boolean;
	/** Whether a change is asked for that nobody acknowledged: either state is right then. */
	pending: boolean;
}

/** A mutation with an idempotency key: it may be repeated, whatever its outcome. */
interface Once {
	/** What the comment says, or the user is called. */
	readonly name: string;
	readonly token: string | null;
	readonly mutation: string;
	/** What was acknowledged the first time. */
	answer?: unknown;
}

const PAGE = `query ($user: String!, $after: String) {
	user(by: {username: $user}) {
		likes(first: 100, after: $after) {
			totalCount
			nodes { id details }
		}
	}
}`;

describe("a server that is killed in the middle of writes", () => {
	const folder = temporaryFolder();
	after(() => folder[Symbol.dispose]());
	const env = { CORKBOARD_DATA: folder.path, CORKBOARD_SECRET: SECRET };

	it("has everything it acknowledged when it is started again, on both sides, with exact counts", async () => {
		await importGraph();
		const users = range(USERS, (n) => `liker_${n}`);
		const likes: Like[] = range(USERS * PINS, (n) => ({
			user: users[n % USERS] ?? "",
			pin: String(Math.floor(n / USERS)),
			acknowledged: false,
			pending: false,
		}));
		const todo = likes.entries();
		const onces: Once[] = [];

		for (const kills of KILLED_AT) {
			await using server = await serve(env);
			const ids = await idsOf(client(server.url), users);
			let acknowledged = 0;
			const acknowledge = () => {
				if (++acknowledged === kills) server.send("SIGKILL");
			};
			const outcomes = await Promise.allSettled(
				range(CLIENTS, async () => {
					for (const [n, like] of todo) {
						await write(n, like, ids, server.url, onces, acknowledge);
					}
				}),
			);
			assert.equal((await server.ended).signal, "SIGKILL");
			// All of them were cut off: there was more to do.
			for (const { status } of outcomes) assert.equal(status, "rejected");
			assert.ok(acknowledged >= kills);
		}
		const known = likes.filter(({ pending }) => !pending);
		assert.ok(known.filter(({ acknowledged }) => acknowledged).length > 60);
		assert.ok(likes.length - known.length <= KILLED_AT.length * CLIENTS);

		await using server = await serve(env);
		const visitor = client(server.url);
		const stored = await likesOf(visitor, users);
		for (const { user, pin, acknowledged, pending } of likes) {
			if (pending) continue;
			assert.equal(
				stored.has(`${user} ${pin}`),
				acknowledged,
				`${user} likes ${pin}`,
			);
		}
		// The start does not wait for delivery: the outbox worker's first pass brings
		// the other sides of likes that were committed and not yet delivered.
		await until("both sides of all likes to agree", async () =>
			isDeepStrictEqual(await likedBy(visitor), stored),
		);
		const sealed = onces.filter(({ answer }) => answer !== undefined);
		assert.ok(sealed.length > 20);
		for (const { token, mutation, answer } of onces) {
			const again = await client(server.url, token).data(mutation);
			if (answer !== undefined) assert.deepEqual(again, answer);
		}
		const comments = onces.filter(({ token }) => token !== null);
		assert.deepEqual(
			(await commentsOf(visitor)).toSorted(),
			comments.map(({ name }) => name).toSorted(),
		);
		for (const { name, token } of onces) {
			if (token !== null) continue;
			assert.deepEqual(
				await visitor.data(`{ user(by: {username: "${name}"}) { username } }`),
				{ user: { username: name } },
			);
		}

		assert.equal((await server.stop()).code, 0);
		const verified = await runHere(["verify"], { env });
		assert.equal(verified.code, 0, verified.out);
		assert.match(verified.out, /^everything agrees$/m);
		assert.doesNotMatch(verified.out, /pending outbox entries/);
	});

	async function importGraph(): Promise<void> {
		const lines = [
			...range(USERS, (n) => ({
				type: "User",
				key: `u:${n}`,
				fields: { username: `liker_${n}`, name: `Liker ${n}` },
			})),
			{ type: "Board", key: "b", fields: { owner: "u:0", name: "Board" } },
			...range(PINS, (n) => ({
				type: "Pin",
				key: `p:${n}`,
				fields: { board: "b", details: String(n) },
			})),
		];
		const input = lines.map((line) => JSON.stringify(line)).join("\n");
		const { code, err } = await runHere(["import", "-"], { env, input });
		assert.equal(code, 0, err);
	}

	/** Like; every third is unliked again, with every fifth comes a comment, with every seventh a user. */
	async function write(
		n: number,
		like: Like,
		ids: ReadonlyMap<string, string>,
		url: string,
		onces: Once[],
		acknowledge: () => void,
	): Promise<void> {
		const token = await tokens.sign(ids.get(like.user) as Id);
		const as = client(url, token);
		const pin = ids.get(like.pin);
		const change = async (mutation: string, present: boolean) => {
			like.pending = true;
			await as.data(
				`mutation { ${mutation}(input: {pinId: "${pin}"}) { pin { id } } }`,
			);
			like.acknowledged = present;
			like.pending = false;
			acknowledge();
		};
		const create = async (once: Once) => {
			onces.push(once);
			once.answer = await client(url, once.token).data(once.mutation);
			acknowledge();
		};
		await change("likePin", true);
		if (n % 3 === 0) await change("unlikePin", false);
		if (n % 5 === 0) {
			await create({
				name: `comment ${n}`,
				token,
				mutation: `mutation { addComment(input: {pinId: "${pin}", text: "comment ${n}", idempotencyKey: "${n}"}) { comment { id } } }`,
			});
		}
		if (n % 7 === 0) {
			await create({
				name: `newcomer_${n}`,
				token: null,
				mutation: `mutation { createUser(input: {username: "newcomer_${n}", email: "${n}@example.com", idempotencyKey: "${n}"}) { user { id } } }`,
			});
		}
	}
});

const tokens = createAccessTokens([Buffer.from(SECRET)], 3_600);

/** Users by name, pins by what they say. */
async function idsOf(
	visitor: Client,
	users: readonly string[],
): Promise<ReadonlyMap<string, string>> {
	const ids = new Map<string, string>();
	for (const username of users) {
		const { user } = await visitor.data<{ user: { id: string } }>(
			"query ($username: String!) { user(by: {username: $username}) { id } }",
			{ username },
		);
		ids.set(username, user.id);
	}
	for (const { id, details } of await pinsOf<{ details: string }>(
		visitor,
		"details",
	)) {
		ids.set(details, id);
	}
	return ids;
}

async function pinsOf<T>(visitor: Client, fields: string) {
	const { user } = await visitor.data<{
		user: { pins: { nodes: (T & { readonly id: string })[] } };
	}>(
		`{ user(by: {username: "liker_0"}) { pins(first: 100) { nodes { id ${fields} } } } }`,
	);
	assert.equal(user.pins.nodes.length, PINS);
	return user.pins.nodes;
}

/** "user pin" for each like in the users' own lists. */
async function likesOf(
	visitor: Client,
	users: readonly string[],
): Promise<ReadonlySet<string>> {
	const stored = new Set<string>();
	for (const user of users) {
		const { user: found } = await visitor.data<{
			user: { likes: { totalCount: number; nodes: { details: string }[] } };
		}>(PAGE, { user });
		assert.equal(found.likes.totalCount, found.likes.nodes.length);
		for (const { details } of found.likes.nodes) {
			stored.add(`${user} ${details}`);
		}
	}
	return stored;
}

/** The same, from the pins' lists. */
async function likedBy(visitor: Client): Promise<ReadonlySet<string>> {
	const stored = new Set<string>();
	for (const { details, likedBy } of await pinsOf<{
		details: string;
		likedBy: { totalCount: number; nodes: { username: string }[] };
	}>(
		visitor,
		"details likedBy(first: 100) { totalCount nodes { username } }",
	)) {
		assert.equal(likedBy.totalCount, likedBy.nodes.length);
		for (const { username } of likedBy.nodes) {
			stored.add(`${username} ${details}`);
		}
	}
	return stored;
}

async function commentsOf(visitor: Client): Promise<readonly string[]> {
	const pins = await pinsOf<{ comments: { nodes: { text: string }[] } }>(
		visitor,
		"comments(first: 100) { nodes { text } }",
	);
	return pins.flatMap(({ comments }) => comments.nodes.map(({ text }) => text));
}

function range<T>(length: number, of: (n: number) => T): T[] {
	return Array.from({ length }, (_, n) => of(n));
}
