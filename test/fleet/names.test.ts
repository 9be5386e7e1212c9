import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
	Client,
	OpenLoad,
	readTitles,
	signUp,
} from "../attack/promote/load.ts";
import {
	failOver,
	follow,
	type NamedFleet,
	SignUps,
	startNamedFleet,
	takeWrites,
} from "../attack/promote/namedFleet.ts";
import { ask } from "../helpers/mysqlStorage.ts";
import { serve } from "../helpers/program.ts";
import { until } from "../helpers/until.ts";
import { caughtUp } from "../services/mysql.ts";
import type { Server } from "../services/server.ts";

/** So long writes wait for a primary that takes them (`waitMs` of the storage). */
const WAIT_MS = 10_000;

/**
 * Writes and sign-ups that wait for their answers. A request has 10 s, however many
 * wait before it: a machine on which each answer of a server takes a second would
 * get more of them than it can take.
 */
const MOST_WAITING = 4;

/** Loads both processes around a failover, and asserts that nothing that was acknowledged is missing. */
async function survives(
	world: NamedFleet,
	prefix: string,
	failOver: () => Promise<void>,
	/** Whether requests that are on their way may fail, because their connections are cut. */
	isCut = false,
): Promise<void> {
	const { clients } = world;
	const writers = await Promise.all(
		clients.map((client, at) => signUp(client, `${prefix}_writer${at}`)),
	);
	const load = new OpenLoad({
		clients,
		writers,
		reads: 20,
		writes: 10,
		mostWrites: MOST_WAITING,
	});
	const signUps = new SignUps(clients, `${prefix}_user`, 200, MOST_WAITING);
	await until("reads and writes", () => load.acknowledged.length > 10);
	const startedAt = performance.now();
	await failOver();
	const flippedAt = performance.now();
	await until("writes go on", () =>
		load.acknowledged.some(({ at, ms }) => at - ms > flippedAt),
	);
	// On a busy machine a failover takes longer than writes wait for one.
	const isLong = performance.now() - startedAt > WAIT_MS / 2;
	await sleep(1_500);
	await Promise.all([load.end(), signUps.end()]);
	const failures = [...load.failures, ...signUps.failures];
	assert.deepEqual(
		isCut || isLong
			? failures.filter((one) => !one.includes("UNAVAILABLE"))
			: failures,
		[],
	);
	assert.ok(load.acknowledged.length > 20, "it wrote");
	for (const client of clients) {
		const titles = await readTitles(
			[client],
			load.acknowledged.map(({ id }) => id),
		);
		const wrong = load.acknowledged.filter(
			({ id, title }) => titles.get(id) !== title,
		);
		assert.deepEqual(wrong, [], "everything that was acknowledged is shown");
	}
	await until("everything agrees", async () => {
		const { json } = await world.run("verify");
		return json.clean === true;
	});
}

describe("A name that leads to another server, under load", () => {
	let world: NamedFleet;
	before(async () => {
		world = await startNamedFleet();
	});
	after(() => world?.[Symbol.asyncDispose]());

	test("loses nothing and gives no false conflict, whatever connections are left, how far the old server is behind, and when it leads back", async () => {
		const { a, b, name } = world;
		await survives(world, "left", async () => {
			await failOver(a, b);
			name.redirect(b.port);
		});
		await follow(a, b);
		await caughtUp({ primary: b, replica: a });
		await survives(
			world,
			"cut",
			async () => {
				await failOver(b, a);
				name.cut();
				name.redirect(a.port);
				name.restore();
			},
			true,
		);
		await follow(b, a);
		await caughtUp({ primary: a, replica: b });
		await survives(
			world,
			"late",
			async () => {
				// The name leads to the old one for a second more, which is behind from then on.
				await failOver(a, b);
				await follow(a, b, 1);
				name.cut();
				name.restore();
				await sleep(1_000);
				name.redirect(b.port);
			},
			true,
		);
		assert.equal((await world.run("status")).json.healthy, true);
	});

	test("stops writes to a server that lacks what was acknowledged, shows nothing of that, and gives no id twice, until the loss is accepted", async () => {
		const { name, host, clients, run } = world;
		// Where the test before has led the name.
		const [led] = await ask(world.b, "SELECT @@super_read_only AS is_replica");
		const [a, b] = led?.is_replica ? [world.a, world.b] : [world.b, world.a];
		await ask(b, "STOP REPLICA");
		await follow(b, a);
		await caughtUp({ primary: a, replica: b });
		const [first, second] = clients as [Client, Client];
		const writer = await signUp(first, "kept_writer");
		const write = async (client: Client, title: string) => {
			const { made } = (await client.ask(
				"mutation ($input: CreatePinInput!) { made: createPin(input: $input) { pin { id } } }",
				{ input: { boardId: writer.boardId, title } },
				writer.token,
			)) as { readonly made: { readonly pin: { readonly id: string } } };
			return made.pin.id;
		};
		const written = async (client: Client, title: string) => {
			let id = "";
			await until("writes go on", async () => {
				id = await write(client, title).catch(() => "");
				return id !== "";
			});
			return id;
		};
		const isRefused = (client: Client) =>
			assert.rejects(
				write(client, "refused"),
				/takes no writes: a failover has lost some/,
			);
		const leadTo = ({ port }: Server) => {
			name.cut();
			name.redirect(port);
			name.restore();
		};
		const kept = await write(second, "kept");
		await caughtUp({ primary: a, replica: b });
		await ask(b, "STOP REPLICA IO_THREAD");
		const lost: string[] = [];
		for (let n = 0; n < 6; n++) {
			lost.push(await write(clients[n % 2] as Client, `lost ${n}`));
		}
		const { token } = await signUp(first, "lost_user");
		// Both caches have them.
		for (const client of clients) await readTitles([client], lost);
		await takeWrites(b);
		const [before] = await ask(b, "SELECT @@global.gtid_executed AS gtids");

		// Open connections stay where they are.
		await ask(a, "SET GLOBAL super_read_only = ON");
		name.redirect(b.port);
		await until("writes are refused", () =>
			isRefused(first).then(
				() => true,
				() => false,
			),
		);
		await until("nothing that was lost is shown", async () => {
			const shown = await Promise.all(
				clients.map((client) => readTitles([client], lost)),
			);
			return shown.every(({ size }) => size === 0);
		});
		assert.equal((await readTitles([second], [kept])).get(kept), "kept");
		await isRefused(second);
		const status = await run("status");
		assert.equal(status.json.healthy, false);
		assert.match(
			status.json.problems.join(" "),
			/leads to another server, .* lacks transactions .*Nobody writes there.*hosts accept-loss/,
		);
		// A process that has never seen the old server writes nothing either.
		await using late = await serve(world.env);
		using third = new Client(late.url);
		await isRefused(third);
		const [after] = await ask(b, "SELECT @@global.gtid_executed AS gtids");

		// Led back, it has everything.
		await takeWrites(a);
		leadTo(a);
		lost.push(await written(second, "lost after all"));
		const none = await run("hosts", "accept-loss", host, "--dry-run");
		assert.match(none.json.faults.join(" "), /there is nothing to accept/);
		leadTo(b);
		await until("writes are refused", () =>
			isRefused(first).then(
				() => true,
				() => false,
			),
		);
		const dry = await run("hosts", "accept-loss", host, "--dry-run");
		assert.equal(dry.code, 0, JSON.stringify(dry.json));
		const named = dry.json.loss.writes.flatMap(
			({ wrote }: { readonly wrote: readonly string[] }) => wrote,
		);
		assert.ok(lost.every((id) => named.includes(id)));

		const accepted = await run("hosts", "accept-loss", host, "--yes");
		assert.equal(accepted.code, 0, JSON.stringify(accepted.json));
		const given: string[] = [];
		for (const client of [...clients, third]) {
			given.push(await written(client, `after ${given.length}`));
		}
		assert.equal(new Set([kept, ...lost, ...given]).size, 11);
		for (const client of clients) {
			assert.equal((await readTitles([client], lost)).size, 0);
			assert.equal((await readTitles([client], given)).size, given.length);
		}
		await assert.rejects(first.ask("{ viewer { id } }", {}, token));
		const repaired = await run("verify", "--repair");
		const verified = await run("verify");
		assert.equal(
			verified.json.clean,
			true,
			JSON.stringify([repaired.json, verified.json]),
		);
		const { healthy, problems } = (await run("status")).json;
		assert.equal(healthy, true, JSON.stringify(problems));
		assert.deepEqual(after, before, "nobody wrote there before");
	});
});
