import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { feedUser } from "../../src/feed/jobs/feedUser.ts";
import type { Id } from "../../src/id/ids.ts";
import type { Progress } from "../progress.ts";
import { countDue, type FeedFleet, visitAll } from "./fleet.ts";
import { FeedClient } from "./http.ts";
import { drained, serve } from "./lag.ts";
import type { Options } from "./options.ts";
import { type Measurement, percentile } from "./results.ts";

const PIN = "id details owner { username } board { name }";
export const HOME_PAGE = `{ viewer { homeFeed(first: 20) { nodes { ${PIN} } } } }`;
const BOARD_PAGE = `query ($id: ID!) { board(id: $id) { pins(first: 20) { nodes { ${PIN} } } } }`;

/** Users who follow many, and have a board, so that both pages have something to show. */
export function lookersOf(
	{ graph: { users, boards, followed } }: FeedFleet,
	count: number,
): readonly number[] {
	return users
		.map((_, user) => user)
		.filter((user) => boards[user] !== null)
		.toSorted((a, b) => (followed[b]?.length ?? 0) - (followed[a]?.length ?? 0))
		.slice(0, count);
}

/** A board page, a home page whose look adds pins, and one whose look is held, of the same users in turns. */
export async function measurePages(
	fleet: FeedFleet,
	options: Options,
	progress: Progress,
): Promise<readonly Measurement[]> {
	const { users, boards } = fleet.graph;
	const lookers = lookersOf(fleet, options.lookers);
	await fillPools(fleet, lookers);
	await using server = await serve(fleet);
	using client = new FeedClient(server.port);
	const ms = {
		board: [] as number[],
		adds: [] as number[],
		held: [] as number[],
	};
	let shown = 0;
	const timed = async (
		kind: keyof typeof ms,
		user: number,
		query: string,
		variables = {},
	): Promise<unknown> => {
		const at = performance.now();
		const data = await client.ask(users[user] as Id, query, variables);
		ms[kind].push(performance.now() - at);
		return data;
	};
	// The code, the connections, and what all users share.
	for (const user of lookers.slice(0, 20)) {
		await timed("board", user, BOARD_PAGE, { id: boards[user] });
		await timed("held", user, HOME_PAGE);
	}
	for (const kind of Object.values(ms)) kind.length = 0;
	for (const user of lookers.slice(20)) {
		const board = { id: boards[user] };
		await timed("board", user, BOARD_PAGE, board);
		const page = (await timed("adds", user, HOME_PAGE)) as {
			readonly viewer: {
				readonly homeFeed: { readonly nodes: readonly unknown[] };
			};
		};
		shown += page.viewer.homeFeed.nodes.length;
		await timed("held", user, HOME_PAGE);
		await timed("board", user, BOARD_PAGE, board);
	}
	const boardP50 = percentile(ms.board, 0.5);
	const line = (name: string, numbers: readonly number[]): Measurement => ({
		part: "page",
		name,
		values: {
			"p50 ms": percentile(numbers, 0.5),
			"p99 ms": percentile(numbers, 0.99),
			"p50 of a board": percentile(numbers, 0.5) / boardP50,
			"more ms than a board": percentile(numbers, 0.5) - boardP50,
		},
	});
	progress.say(
		`pages: board ${boardP50.toFixed(1)} ms, home ${percentile(ms.held, 0.5).toFixed(1)} ms, with a look ${percentile(ms.adds, 0.5).toFixed(1)} ms; ${(shown / Math.max(1, ms.adds.length)).toFixed(1)} pins a look's page`,
	);
	return [
		line("board page", ms.board),
		line("home page, its look held", ms.held),
		line("home page, its look adds pins", ms.adds),
	];
}

/** Rebuilds the pools of some users by jobs, as if they had looked a minute ago. */
export async function fillPools(
	fleet: FeedFleet,
	lookers: readonly number[],
): Promise<void> {
	await using corkboard = await openCorkboard(pinsApp, readConfig(fleet.env));
	const { feed, queues } = corkboard;
	if (feed === null || queues === null) throw new Error("There are no pools.");
	const users = lookers.map((user) => fleet.graph.users[user] as Id);
	await visitAll(feed.parts.pools, users);
	await using _worker = await corkboard.startWorker({
		queues: null,
		concurrency: 20,
	});
	await queues.jobs.enqueueAll(
		feedUser,
		users.map((user) => ({ body: { do: "rebuild" as const, user } })),
	);
	await drained(() => countDue(queues, 100));
}
