import { setTimeout as sleep } from "node:timers/promises";
import { parseStoredId, unpackId } from "../../../src/id/ids.ts";
import { judge } from "./evidence.ts";
import { type FleetOptions, startFleet } from "./fleet.ts";
import { type Client, type LoadReport, OpenLoad, readTitles } from "./load.ts";

export interface OpeningOptions extends Omit<FleetOptions, "shards"> {
	/** How many new shards. */
	readonly opened: number;
	/** A second, over all servers. */
	readonly reads: number;
	readonly writes: number;
	/** How long the load runs before and after. Milliseconds. */
	readonly betweenMs: number;
}

export interface OpeningReport extends LoadReport {
	/** What `shards open` printed. */
	readonly opening: string;
	readonly openingMs: number;
	readonly users: number;
	/** Users whose shard is a new one. */
	readonly placed: number;
	/** Reads of a new user on another server than that which made it. */
	readonly followed: number;
	/** Those and all other reads that gave null for a user or pin that is there. */
	readonly nulls: number;
	readonly lost: readonly string[];
	readonly isBroken: boolean;
}

const SHARDS = 4;
/** New users are drawn for new shards this much more often, so that few of them show much. */
const WEIGHT = 4;
/** From one new user to the next, on each server. Milliseconds. */
const SIGN_UP_MS = 50;
/** So many users have to be made on new shards within so long. */
const PLACED = 100;
const PLACED_MS = 60_000;

/**
 * Opens shards of a second pair under load. Meanwhile users sign up on every
 * server, and each is read on all servers as soon as it is acknowledged: a server
 * that did not know its shard would answer null.
 */
export async function attackOpening(
	options: OpeningOptions,
	say: (line: string) => void,
): Promise<OpeningReport> {
	await using stack = new AsyncDisposableStack();
	const fleet = stack.use(await startFleet({ ...options, shards: SHARDS }));
	const { clients, writers, run } = fleet;
	const pair = await fleet.startPair();
	say(`${options.servers} servers, ${pair.primary.address} is new`);
	const load = new OpenLoad({ ...options, clients, writers });
	stack.defer(() => load.end());

	const shards: number[] = [];
	const failures: string[] = [];
	let followed = 0;
	let nulls = 0;
	let isOver = false;
	stack.defer(() => {
		isOver = true;
	});
	const signUps = clients.map(async (client, server) => {
		for (let nth = 0; !isOver; nth++) {
			try {
				const id = await makeUser(client, `opened_${server}_${nth}`);
				shards.push(unpackId(parseStoredId(id)).shard);
				await Promise.all(
					clients.map(async (each) => {
						followed++;
						if (!(await hasUser(each, id))) nulls++;
					}),
				);
			} catch (thrown) {
				failures.push(`new user: ${(thrown as Error).message}`);
			}
			await sleep(SIGN_UP_MS);
		}
	});
	await sleep(options.betweenMs);
	const began = performance.now();
	const ended = await run(
		...["shards", "open", `${SHARDS}-${SHARDS + options.opened - 1}`],
		...["--primary", pair.primary.url, "--replica", pair.replica.url],
		...["--weight", String(WEIGHT)],
	);
	const openingMs = performance.now() - began;
	if (ended.code !== 0) failures.push(`shards open: ${ended.err}`);
	// Servers look for the tables of opened shards before they use them.
	const countPlaced = () => shards.filter((shard) => shard >= SHARDS).length;
	const until = performance.now() + PLACED_MS;
	while (countPlaced() < PLACED && performance.now() < until) await sleep(100);
	const placed = countPlaced();
	if (placed < PLACED) failures.push(`${placed} users are on new shards`);
	await sleep(options.betweenMs);
	isOver = true;
	await Promise.all(signUps);
	await load.end();

	const { acknowledged } = load;
	const found = await readTitles(
		clients,
		acknowledged.map(({ id }) => id),
	);
	const { lost } = judge(acknowledged, found);
	const report = load.report(failures);
	return {
		...report,
		opening: ended.out + ended.err,
		openingMs,
		users: shards.length,
		placed: countPlaced(),
		followed,
		nulls,
		lost,
		isBroken: report.failed + nulls + lost.length > 0,
	};
}

async function makeUser(client: Client, username: string): Promise<string> {
	const { made } = (await client.ask(
		"mutation ($input: CreateUserInput!) { made: createUser(input: $input) { user { id } } }",
		{ input: { username } },
	)) as { readonly made: { readonly user: { readonly id: string } } };
	return made.user.id;
}

async function hasUser(client: Client, id: string): Promise<boolean> {
	const { node } = (await client.ask(
		"query ($id: ID!) { node(id: $id) { id } }",
		{ id },
	)) as { readonly node: { readonly id: string } | null };
	return node?.id === id;
}
