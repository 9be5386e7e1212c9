import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { startCorkboardServer } from "../../src/app/startCorkboardServer.ts";
import { readConfig } from "../../src/config/config.ts";
import type { Id } from "../../src/id/ids.ts";
import { createLog } from "../../src/server/log.ts";
import { seededRandom } from "../../src/util/random.ts";
import { client } from "../helpers/client.ts";
import { type Member, made, mutate } from "../helpers/member.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const QUERIES = {
	board:
		"query ($id: ID!) { board(id: $id) { name secret viewerFollows owner { username } pins(first: 5) { totalCount edges { cursor node { id details viewerLikes owner { username } likedBy(first: 2) { totalCount nodes { username } } } } pageInfo { hasNextPage endCursor } } followers(first: 3) { totalCount } } }",
	user: "query ($id: ID!) { user(by: {id: $id}) { username name email boards(first: 5) { totalCount nodes { name pins(first: 2) { nodes { id } } } } followers(first: 3) { totalCount nodes { username } } } }",
	pin: "query ($id: ID!) { pin(id: $id) { details viewerLikes board { name owner { username } } origin { id } comments(first: 3) { totalCount nodes { text author { username } } } } }",
	shared:
		"query ($id: ID!) { board(id: $id) { name owner { username } pins(first: 5) { totalCount edges { cursor node { id details owner { username } likedBy(first: 2) { totalCount nodes { username } } } } pageInfo { hasNextPage endCursor } } followers(first: 3) { totalCount nodes { username } } } }",
	interests:
		"{ interests(first: 5) { nodes { slug pins(first: 3) { totalCount nodes { id } } } } }",
} as const;

/** Two servers on one store: one that uses answers again, and one that does not. */
async function startServers() {
	await using opened = new AsyncDisposableStack();
	const folder = opened.use(temporaryFolder());
	const config = readConfig({
		PORT: "0",
		CORKBOARD_DATA: folder.path,
		CORKBOARD_DEMO: "off",
	});
	const corkboard = opened.use(await openCorkboard(pinsApp, config));
	const log = createLog({
		level: "error",
		format: "json",
		destination: { write() {} },
	});
	const urlWith = async (answerCacheBytes: number) => {
		const own = { ...corkboard, config: { ...config, answerCacheBytes } };
		return opened.use(await startCorkboardServer(own, { log })).url;
	};
	const reusing = await urlWith(config.answerCacheBytes);
	const executing = await urlWith(0);
	const resources = opened.move();
	const { feed } = corkboard;
	assert.ok(feed);
	return {
		reusing,
		executing,
		feed,
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

async function post(
	url: string,
	body: string,
	token: string | null = null,
	more: Readonly<Record<string, string>> = {},
) {
	const response = await fetch(`${url}/graphql`, {
		method: "POST",
		headers: {
			"content-type": "application/json",
			...(token === null ? {} : { authorization: `Bearer ${token}` }),
			...more,
		},
		body,
	});
	return { status: response.status, text: await response.text() };
}

async function reusedBy(url: string): Promise<number> {
	const response = await fetch(`${url}/health/ready?verbose`);
	const { requests } = (await response.json()) as {
		requests: { reused: number };
	};
	return requests.reused;
}

/** Sends a request until its answer is used again. Returns it. */
async function warm(url: string, body: string, token: string | null = null) {
	const before = await reusedBy(url);
	for (let n = 0; n < 20; n++) {
		const answer = await post(url, body, token);
		assert.equal(answer.status, 200, answer.text);
		if ((await reusedBy(url)) > before) return answer.text;
	}
	throw new Error(`never used again: ${body}`);
}

const bodyOf = (query: string, id: string) =>
	JSON.stringify({ query, variables: { id } });

interface Person extends Member {
	readonly token: string;
	readonly name: string;
}

let people = 0;

async function person(url: string): Promise<Person> {
	const name = `person${people++}`;
	const { user, token } = await mutate<{
		user: { id: string };
		token: string;
	}>(client(url), "createUser", { username: name }, "user { id } token");
	return { name, id: user.id, token, ...client(url, token) };
}

suite("an answer that is used again", () => {
	let servers: Awaited<ReturnType<typeof startServers>>;
	before(async () => {
		servers = await startServers();
	});
	after(() => servers[Symbol.asyncDispose]());

	/** A board with a pin, their owner, and someone else. */
	async function someBoard() {
		const owner = await person(servers.reusing);
		const other = await person(servers.reusing);
		const boardId = await made(
			owner,
			"createBoard",
			{ name: `of ${owner.name}` },
			"board",
		);
		const pinId = await made(
			owner,
			"createPin",
			{ boardId, details: `pin of ${owner.name}` },
			"pin",
		);
		return { owner, other, boardId, pinId };
	}
	type Scene = Awaited<ReturnType<typeof someBoard>>;

	const CHANGES: Readonly<Record<string, (scene: Scene) => Promise<unknown>>> =
		{
			"its board is made secret": ({ owner, boardId }) =>
				mutate(owner, "updateBoard", { boardId, secret: true }, "board { id }"),
			"its board is deleted": ({ owner, boardId }) =>
				mutate(owner, "deleteBoard", { boardId }, "deletedBoardId"),
			"its owner's account is closed": ({ owner }) =>
				mutate(
					owner,
					"deactivateUser",
					{ userId: owner.id },
					"deactivatedUserId",
				),
		};
	for (const [change, happen] of Object.entries(CHANGES)) {
		for (const viewer of ["nobody", "somebody"] as const) {
			test(`shows ${viewer} nothing once ${change}`, async () => {
				const scene = await someBoard();
				const { owner, other, boardId, pinId } = scene;
				const token = viewer === "nobody" ? null : other.token;
				const bodies = [
					bodyOf(QUERIES.board, boardId),
					bodyOf(QUERIES.pin, pinId),
				];
				for (const body of bodies) {
					const text = await warm(servers.reusing, body, token);
					assert.ok(text.includes(owner.name), text);
				}
				await happen(scene);
				for (const body of bodies) {
					const { text } = await post(servers.reusing, body, token);
					assert.match(text, /^\{"data":\{"(?:board|pin)":null\}\}\n$/);
				}
			});
		}
	}

	test("shows the blocked viewer nothing, and others what it did", async () => {
		const { owner, other, boardId } = await someBoard();
		const body = bodyOf(QUERIES.board, boardId);
		await warm(servers.reusing, body, other.token);
		const shown = await warm(servers.reusing, body);
		await mutate(owner, "blockUser", { userId: other.id }, "user { id }");
		const blocked = await post(servers.reusing, body, other.token);
		assert.equal(blocked.text, '{"data":{"board":null}}\n');
		assert.equal((await post(servers.reusing, body)).text, shown);
		await mutate(owner, "unblockUser", { userId: other.id }, "user { id }");
		const again = await post(servers.reusing, body, other.token);
		assert.ok(again.text.includes(owner.name));
	});

	test("is used for others too, if no list of theirs hides what it shows", async () => {
		const { owner, other, boardId } = await someBoard();
		const { reusing } = servers;
		const body = bodyOf(QUERIES.shared, boardId);
		const third = await person(reusing);
		const shown = await warm(reusing, body, other.token);
		const reusesFor = async (token: string | null) => {
			const before = await reusedBy(reusing);
			const { text } = await post(reusing, body, token);
			assert.equal(text, shown);
			return (await reusedBy(reusing)) > before;
		};
		assert.ok(await reusesFor(null));
		assert.ok(!(await reusesFor(third.token)), "its lists are not known");
		assert.ok(await reusesFor(third.token));
		assert.ok(await reusesFor(owner.token).then(() => reusesFor(owner.token)));
		await mutate(third, "blockUser", { userId: owner.id }, "user { id }");
		const hidden = await post(reusing, body, third.token);
		assert.equal(hidden.text, '{"data":{"board":null}}\n');
		assert.ok(await reusesFor(other.token));
		await mutate(third, "unblockUser", { userId: owner.id }, "user { id }");
		await reusesFor(third.token);
		assert.ok(await reusesFor(third.token));
	});

	test("is for its viewer only, who is refused once the account is closed", async () => {
		const { owner, other, boardId } = await someBoard();
		await mutate(
			owner,
			"updateBoard",
			{ boardId, secret: true },
			"board { id }",
		);
		const body = bodyOf(QUERIES.board, boardId);
		const own = await warm(servers.reusing, body, owner.token);
		assert.ok(own.includes(owner.name));
		for (const token of [null, other.token]) {
			const { text } = await post(servers.reusing, body, token);
			assert.equal(text, '{"data":{"board":null}}\n');
		}
		// A body that spells the key of another's answer.
		for (const forged of [
			`${owner.id} POST ${body}`,
			`POST ${body}`,
			` POST ${body}`,
		]) {
			const { status, text } = await post(servers.reusing, forged);
			assert.equal(status, 400);
			assert.ok(!text.includes(owner.name));
		}
		await mutate(
			owner,
			"deactivateUser",
			{ userId: owner.id },
			"deactivatedUserId",
		);
		const { status } = await post(servers.reusing, body, owner.token);
		assert.equal(status, 401);
	});

	test("is never that of a mutation, nor reported with another's cost", async () => {
		const { owner, boardId } = await someBoard();
		const mutation = JSON.stringify({
			query: `mutation { createPin(input: { boardId: "${boardId}" }) { pin { id } } }`,
		});
		const answers = new Set<string>();
		for (let n = 0; n < 6; n++) {
			answers.add((await post(servers.reusing, mutation, owner.token)).text);
		}
		assert.equal(answers.size, 6);
		const body = bodyOf(QUERIES.board, boardId);
		await warm(servers.reusing, body);
		const cost = { "corkboard-cost": "1" };
		const reported = await post(servers.reusing, body, null, cost);
		assert.match(reported.text, /"cost":\{"requested":\d+,"actual":\d+\}/);
		assert.doesNotMatch((await post(servers.reusing, body)).text, /"cost"/);
	});

	test("is never one with what waits for a home feed, or with why a pin is in it", async () => {
		const { owner, other, pinId } = await someBoard();
		const { feed, reusing } = servers;
		// The feed has a pin whose reason is asked for.
		await mutate(other, "followUser", { userId: owner.id }, "user { id }");
		await mutate(other, "refreshHomeFeed", { userId: other.id }, "added");
		await feed.flush();
		const bodies = [
			"{ viewer { homeFeedWaiting } }",
			"{ viewer { homeFeed(first: 5) { nodes { id homeFeedReason { source } } } } }",
		].map((query) => JSON.stringify({ query }));
		const shown = await post(reusing, bodies[1] ?? "", other.token);
		assert.match(shown.text, new RegExp(`${pinId}.*FOLLOWED_USER`));
		for (const body of bodies) {
			const before = await reusedBy(reusing);
			for (let n = 0; n < 6; n++) {
				const { status } = await post(reusing, body, other.token);
				assert.equal(status, 200);
			}
			assert.equal(await reusedBy(reusing), before, body);
		}
		// The same viewer's answer without them is used again.
		const query = "{ viewer { homeFeed(first: 5) { nodes { id } } } }";
		await warm(reusing, JSON.stringify({ query }), other.token);
	});

	test("ends where a look would add to the viewer's home feed, also for a request with its ETag", async (t) => {
		const { owner, other, boardId } = await someBoard();
		const { feed, reusing } = servers;
		const { pools } = feed.parts;
		const viewer = other.id as Id;
		const query = "{ viewer { homeFeed(first: 50) { nodes { id } } } }";
		const body = JSON.stringify({ query });
		const get = (tag: string) =>
			fetch(`${reusing}/graphql?query=${encodeURIComponent(query)}`, {
				headers: {
					authorization: `Bearer ${other.token}`,
					"apollo-require-preflight": "1",
					"if-none-match": tag,
				},
			});
		/** A pin that waits for the viewer. */
		const offer = async () => {
			const pin = await made(owner, "createPin", { boardId }, "pin");
			const entry = { source: "user" as const, item: pin as Id };
			const from = { origin: pin as Id, via: owner.id as Id, score: 1_000 };
			await pools.add(viewer, [{ ...entry, ...from }], Date.now());
			return pin;
		};
		const refresh = async () => {
			const input = { userId: viewer };
			await mutate(other, "refreshHomeFeed", input, "added");
			await feed.flush();
		};
		/** Both ways have an answer that is good until the next look. */
		const reuse = async () => {
			await warm(reusing, body, other.token);
			const tag = (await get("none")).headers.get("etag") ?? "";
			assert.equal((await get(tag)).status, 304);
			return tag;
		};

		// The viewer follows the owner: nothing is left out of what comes through it.
		await mutate(other, "followUser", { userId: owner.id }, "user { id }");
		await refresh();
		const tag = await reuse();
		const asked = await offer();
		await refresh();
		const changed = await get(tag);
		assert.equal(changed.status, 200);
		assert.match(await changed.text(), new RegExp(asked));
		assert.match((await post(reusing, body, other.token)).text, RegExp(asked));

		// The viewer looks again half a minute later.
		const before = await reuse();
		// Pools keep the time of the last look, too.
		await pools.forget(viewer);
		const waiting = await offer();
		const now = performance.now.bind(performance);
		t.mock.method(performance, "now", () => now() + 31_000);
		const reused = await reusedBy(reusing);
		await get(before);
		assert.equal(await reusedBy(reusing), reused, "a look is no reuse");
		// One that was late has added the pin by now.
		await feed.flush();
		const looked = await get(before);
		assert.equal(looked.status, 200);
		assert.match(await looked.text(), new RegExp(waiting));
		const { text } = await post(reusing, body, other.token);
		assert.match(text, new RegExp(waiting));
	});

	test("is what executing it again returns, in whatever order others write and read", async () => {
		const random = seededRandom(11);
		const { pick } = random;
		const persons: Person[] = [];
		for (let n = 0; n < 3; n++) persons.push(await person(servers.reusing));
		const boards: { id: string; owner: Person }[] = [];
		const pins: { id: string; owner: Person }[] = [];
		for (const owner of persons) {
			const id = await made(owner, "createBoard", { name: "first" }, "board");
			boards.push({ id, owner });
		}
		const write = async () => {
			const by = pick(persons);
			const board = pick(boards);
			const pin = pins.length === 0 ? null : pick(pins);
			const input: readonly (
				| readonly [string, Person, object, string]
				| null
			)[] = [
				[
					"updateBoard",
					board.owner,
					{ boardId: board.id, name: `n${random.integer(0, 99)}` },
					"board { id }",
				],
				[
					"updateBoard",
					board.owner,
					{ boardId: board.id, secret: random.chance(1 / 3) },
					"board { id }",
				],
				["followBoard", by, { boardId: board.id }, "board { id }"],
				["unfollowBoard", by, { boardId: board.id }, "board { id }"],
				["followUser", by, { userId: pick(persons).id }, "user { id }"],
				["blockUser", by, { userId: pick(persons).id }, "user { id }"],
				["unblockUser", by, { userId: pick(persons).id }, "user { id }"],
				[
					"updateUser",
					by,
					{ name: `N${random.integer(0, 99)}` },
					"user { id }",
				],
				pin && ["likePin", by, { pinId: pin.id }, "pin { id }"],
				pin && ["unlikePin", by, { pinId: pin.id }, "pin { id }"],
				pin && [
					"addComment",
					by,
					{ pinId: pin.id, text: "said" },
					"comment { id }",
				],
				pin && [
					"updatePin",
					pin.owner,
					{ pinId: pin.id, details: `d${random.integer(0, 99)}` },
					"pin { id }",
				],
				pin && [
					"movePin",
					pin.owner,
					{
						pinId: pin.id,
						boardId: pick(boards.filter(({ owner }) => owner === pin.owner)).id,
					},
					"pin { id }",
				],
				pin && random.chance(1 / 4)
					? ["deletePin", pin.owner, { pinId: pin.id }, "deletedPinId"]
					: null,
			];
			if (pins.length < 4 || random.chance(1 / 8)) {
				const id = await made(
					board.owner,
					"createPin",
					{ boardId: board.id, details: "new", interests: ["oak"] },
					"pin",
				);
				pins.push({ id, owner: board.owner });
				return;
			}
			const chosen = pick(input);
			if (!chosen) return;
			const [name, as, values, fields] = chosen;
			const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
			// Some are refused: blocked, hidden, one's own.
			await as.post(
				`mutation ($input: ${type}!) { ${name}(input: $input) { ${fields} } }`,
				{ variables: { input: values } },
			);
		};
		const reused = await reusedBy(servers.reusing);
		for (let round = 0; round < 120; round++) {
			await write();
			const token = pick([null, ...persons])?.token ?? null;
			const bodies = [
				bodyOf(QUERIES.board, pick(boards).id),
				bodyOf(QUERIES.shared, pick(boards).id),
				bodyOf(QUERIES.user, pick(persons).id),
				...(pins.length > 0 ? [bodyOf(QUERIES.pin, pick(pins).id)] : []),
				JSON.stringify({ query: QUERIES.interests }),
			];
			for (const body of bodies) {
				const expected = await post(servers.executing, body, token);
				for (let n = 0; n < 3; n++) {
					assert.deepEqual(
						await post(servers.reusing, body, token),
						expected,
						body,
					);
				}
			}
		}
		const count = (await reusedBy(servers.reusing)) - reused;
		assert.ok(count > 120, `${count} were used again`);
		assert.equal(await reusedBy(servers.executing), 0);
	});
});
