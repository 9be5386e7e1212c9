import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { after, before, describe, it } from "node:test";
import { parse } from "graphql";
import { CACHE_CHANNELS, type CacheCall } from "../../src/cache/diagnostics.ts";
import { type Id, unpackId } from "../../src/id/ids.ts";
import { sideOf } from "../differential/world.ts";
import { publishedDuring } from "../helpers/publishedDuring.ts";
import { RoundTrips } from "../helpers/roundTrips.ts";
import { until } from "../helpers/until.ts";
import { type Fleet, openProcess, type Process, startFleet } from "./fleet.ts";
import { makeUser } from "./subjects.ts";

/** Each process reads the outboxes once in a while, whatever it is asked. */
const WATCH = /SELECT shard, local_id, NULL|unpublished writes/;
/** A pool opens another connection when the idle ones are in use at that moment; many writes share what that takes. */
const SESSION = /^\W*(?:SELECT @@version|SET SESSION)/;

/** What a write does in shared caches, but for the fills of its payload. */
const CHANGING: ReadonlySet<CacheCall["verb"]> = new Set(["delete", "publish"]);

/** Requests of a process with all caches, whose link to MySQL is counted. */
describe("round trips to MySQL", () => {
	let fleet: Fleet;
	let link: RoundTrips;
	let writer: Process;
	let other: Process;
	const users: Id[] = [];
	before(async () => {
		fleet = await startFleet();
		const port = fleet.mysql[0]?.port ?? 0;
		link = await RoundTrips.to(port);
		const throughLink = (url: string) =>
			url.replace(`:${port}`, `:${link.port}`);
		const { topology, ...addresses } = fleet.addresses;
		const ranges = <Range extends { readonly primary: string }>(
			all: readonly Range[],
		) =>
			all.map((range) => ({ ...range, primary: throughLink(range.primary) }));
		writer = await openProcess(
			{
				...addresses,
				topology: {
					...topology,
					shards: ranges(topology.shards),
					lookups: ranges(topology.lookups),
				},
			},
			{ channel: true },
		);
		other = await openProcess(fleet.addresses);
		await until("the channel", () => writer.news.at(-1) === "restored");
		for (const shard of [0, 0, 1, 1]) {
			users.push(await makeUser(other, `user_${users.length}`, shard));
		}
	});
	after(async () => {
		await writer?.[Symbol.asyncDispose]();
		await other?.[Symbol.asyncDispose]();
		await link?.[Symbol.asyncDispose]();
		await fleet?.[Symbol.asyncDispose]();
	});

	async function run(
		{ storage, store }: Process,
		viewer: Id,
		text: string,
	): Promise<Record<string, unknown>> {
		const { data, errors } = await sideOf(storage, { store }).plan({
			text,
			document: parse(text),
			operationName: null,
			variables: {},
			viewer,
		});
		assert.deepEqual(errors ?? [], []);
		return data ?? {};
	}

	/** An object that a mutation of another process created. */
	async function made(
		viewer: Id,
		mutation: "createBoard" | "createPin",
		input: string,
	): Promise<Id> {
		const field = mutation === "createBoard" ? "board" : "pin";
		const data = await run(
			other,
			viewer,
			`mutation { ${mutation}(input: {${input}}) { ${field} { id } } }`,
		);
		const payload = data[mutation] as Record<string, { readonly id: Id }>;
		return (payload[field] as { readonly id: Id }).id;
	}

	/** The round trips of one request, those included that follow its response until nothing is left in the outbox. */
	async function roundTripsOf(
		viewer: Id,
		text: string,
	): Promise<readonly string[]> {
		// So that no connection is opened, and what the request reads is cached.
		await writer.view(viewer).readObjects(users);
		const { storage } = other;
		const isDelivered = async () =>
			(await storage.pendingEntries({ olderThanMs: 0, limit: 1 })).length === 0;
		const from = link.queries.length;
		await run(writer, viewer, text);
		await until("an empty outbox", isDelivered);
		return link.queries
			.slice(from)
			.filter((query) => !WATCH.test(query) && !SESSION.test(query));
	}

	async function assertRoundTrips(
		most: number,
		viewer: Id,
		text: string,
	): Promise<void> {
		const queries = await roundTripsOf(viewer, text);
		assert.ok(
			queries.length <= most,
			`${queries.length} round trips:\n\n${queries.join("\n\n")}`,
		);
	}

	const [HERE, TO_HERE, ELSEWHERE, TO_ELSEWHERE] = [0, 1, 2, 3];
	const user = (at = 0) => users[at] as Id;
	const follow = (to: Id) =>
		`mutation { followUser(input: {userId: "${to}"}) { user { id } } }`;
	const like = (pin: Id) =>
		`mutation { likePin(input: {pinId: "${pin}"}) { pin { id } } }`;

	it("followUser across two shards of a host takes at most three, the deletion of its outbox entries included", async () => {
		assert.notEqual(
			unpackId(user(HERE)).shard,
			unpackId(user(ELSEWHERE)).shard,
		);
		// The first opens connections.
		await roundTripsOf(user(HERE), follow(user(ELSEWHERE)));
		await assertRoundTrips(3, user(HERE), follow(user(TO_ELSEWHERE)));
	});

	it("likePin sends one delete and one publication to the shared caches", async () => {
		const board = await made(user(ELSEWHERE), "createBoard", `name: "Garden"`);
		const [first, second] = [
			await made(user(ELSEWHERE), "createPin", `boardId: "${board}"`),
			await made(user(ELSEWHERE), "createPin", `boardId: "${board}"`),
		];
		await roundTripsOf(user(HERE), like(first));
		const calls = await publishedDuring<CacheCall>(
			CACHE_CHANNELS.cacheCall,
			() => roundTripsOf(user(HERE), like(second)),
		);
		const changing = calls.filter(({ verb }) => CHANGING.has(verb));
		assert.deepEqual(
			// Both are answered together.
			changing
				.map(({ layer, verb, keys }) => `${layer} ${verb} ${keys}`)
				.sort(),
			["redis delete 2", "redis publish 2"],
		);
	});

	it("likePin sends its publication behind the delete, on one connection", async () => {
		const board = await made(user(ELSEWHERE), "createBoard", `name: "Orchard"`);
		const pin = await made(user(ELSEWHERE), "createPin", `boardId: "${board}"`);
		const monitor = connect(fleet.redis.port, "127.0.0.1");
		const executed: string[] = [];
		monitor.setEncoding("utf8").on("data", (text: string) => {
			// One line for each command: when, `[0 127.0.0.1:PORT]`, its words.
			for (const line of text.split("\r\n")) {
				const [, from, verb, words = ""] =
					/\[0 ([^\]]+)\] "(\w+)" (.*)/.exec(line) ?? [];
				const isOwn = /likePin/.test(words) && /^(del|eval)$/i.test(`${verb}`);
				if (isOwn) executed.push(`${verb} ${from}`.toLowerCase());
			}
		});
		monitor.write("MONITOR\r\n");
		await once(monitor, "data");
		const sent = () => {
			const at = executed.findIndex((one) => one.startsWith("del"));
			return at < 0 ? [] : executed.slice(at, at + 2);
		};
		try {
			await run(writer, user(HERE), like(pin));
			await until("both", () => sent().length === 2);
		} finally {
			monitor.destroy();
		}
		const [deleted = "", published] = sent();
		assert.equal(published, deleted.replace("del", "eval"));
	});

	it("likePin asks neither Redis nor MySQL for the counts in its payload", async () => {
		const board = await made(user(ELSEWHERE), "createBoard", `name: "Meadow"`);
		const [first, second] = [
			await made(user(ELSEWHERE), "createPin", `boardId: "${board}"`),
			await made(user(ELSEWHERE), "createPin", `boardId: "${board}"`),
		];
		const count = (pin: Id) =>
			`mutation { likePin(input: {pinId: "${pin}"}) { pin { likeCount likedBy(first: 0) { totalCount } } } }`;
		await writer.view(user(HERE)).readObjects([first, second]);
		await roundTripsOf(user(HERE), count(first));
		const calls = await publishedDuring<CacheCall>(
			CACHE_CHANNELS.cacheCall,
			() => assertRoundTrips(3, user(HERE), count(second)),
		);
		assert.deepEqual(
			calls
				.filter(({ layer, verb }) => layer === "redis" && verb !== "ask")
				.map(({ verb, keys }) => `${verb} ${keys}`)
				.sort(),
			["delete 2", "publish 2"],
		);
	});

	it("what likePin changed is read from neither Redis nor MySQL", async () => {
		const board = await made(user(ELSEWHERE), "createBoard", `name: "Orchid"`);
		const pin = await made(user(ELSEWHERE), "createPin", `boardId: "${board}"`);
		const read = `{ pin(id: "${pin}") { viewerLikes likedBy(first: 3) { totalCount nodes { id } } } }`;
		const shown = (process: Process) => run(process, user(HERE), read);
		await shown(writer);
		await run(writer, user(HERE), like(pin));
		await writer.store.outboxDeletions.flush();
		const calls = await publishedDuring<CacheCall>(
			CACHE_CHANNELS.cacheCall,
			() => assertRoundTrips(0, user(HERE), read),
		);
		assert.deepEqual(
			calls.filter(({ layer, verb }) => layer === "redis" && verb === "get"),
			[],
		);
		assert.deepEqual(await shown(writer), await shown(other));
	});

	it("likePin on one shard takes at most three", async () => {
		const board = await made(user(HERE), "createBoard", `name: "Kitchen"`);
		const pins = [
			await made(user(HERE), "createPin", `boardId: "${board}"`),
			await made(user(HERE), "createPin", `boardId: "${board}"`),
		] as const;
		await writer.view(user(HERE)).readObjects(pins);
		await writer.view(user(TO_HERE)).readObjects(pins);
		await roundTripsOf(user(HERE), like(pins[0]));
		await assertRoundTrips(3, user(HERE), like(pins[1]));
	});

	it("createPin takes at most three, its payload included", async () => {
		const board = await made(user(HERE), "createBoard", `name: "Garden"`);
		const create = `mutation { createPin(input: {boardId: "${board}", details: "A pin"}) {
			pin { id details board { name owner { username } } }
		} }`;
		await roundTripsOf(user(HERE), create);
		await assertRoundTrips(3, user(HERE), create);
	});
});
