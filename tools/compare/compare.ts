import { type Random, seededRandom } from "../../src/util/random.ts";
import { type Ask, inBatches, inParallel } from "./ask.ts";
import { COMPARISONS, NAMES_AT_ONCE, namesQuery } from "./documents.ts";
import type { Expectation, ExpectedPin, ExpectedUser } from "./expected.ts";
import { Findings, type Summary } from "./findings.ts";
import { Identities, type Node } from "./identities.ts";
import { compareObjects } from "./lists.ts";
import type { Run } from "./run.ts";
import { bestConnected, walkFollowers } from "./walk.ts";

/**
 * Hold a graph, asked through its public API as anybody may, against the file
 * it was imported from: so many users drawn by the seed with all their lists,
 * all their boards and pins with theirs, as many again of the pins they like or
 * saved from, and the best-connected user's followers page by page.
 */
export async function compare(
	expectation: Expectation,
	ask: Ask,
	{ users, seed }: { readonly users: number; readonly seed: number },
): Promise<Summary> {
	const findings = new Findings();
	const run: Run = {
		expectation,
		findings,
		identities: new Identities(findings),
		ask(query, variables) {
			findings.figures.requests++;
			return ask(query, variables);
		},
	};
	const random = seededRandom(seed);
	const drawn = random.shuffled(expectation.users).slice(0, users);
	const best = bestConnected(run);
	await lookUp(run, best === undefined ? drawn : [best, ...drawn]);
	await compareObjects(run, COMPARISONS.User, drawn);

	const boards = drawn.flatMap((user) => expectation.list("User.boards", user));
	await compareObjects(run, COMPARISONS.Board, boards);

	const own = drawn.flatMap((user) =>
		expectation.list("User.pins", user),
	) as readonly ExpectedPin[];
	await compareObjects(run, COMPARISONS.Pin, own);
	const others = sourcesOf(run, random, drawn, own).slice(0, users);
	await compareObjects(run, COMPARISONS.Pin, others);

	if (best !== undefined) await walkFollowers(run, best);
	const { figures } = findings;
	figures.users = drawn.length;
	figures.boards = boards.length;
	figures.pins = own.length + others.length;
	return findings.summary(seed);
}

/** By name, every second one in capitals: names are unique without regard to case. */
async function lookUp(run: Run, users: readonly ExpectedUser[]): Promise<void> {
	await inParallel(inBatches(users, NAMES_AT_ONCE), async (batch) => {
		const data = await run.ask(
			namesQuery(batch.length),
			Object.fromEntries(
				batch.map(({ username }, n) => [
					`u${n}`,
					n % 2 === 0 ? username : username.toUpperCase(),
				]),
			),
		);
		for (const [n, user] of batch.entries()) {
			const node = data[`u${n}`] as Node | null;
			run.identities.check(`user ${user.username}`, user, node);
		}
	});
}

/** The pins of others that these users like or saved from, which are those that have likes and repins, shuffled. */
function sourcesOf(
	{ expectation }: Run,
	random: Random,
	users: readonly ExpectedUser[],
	own: readonly ExpectedPin[],
): readonly ExpectedPin[] {
	const liked = users.flatMap((user) =>
		expectation.list("User.likes", user),
	) as readonly ExpectedPin[];
	const origins = own.flatMap(({ origin }) => origin ?? []);
	const seen = new Set(own);
	return random.shuffled(
		[...new Set([...liked, ...origins])].filter((pin) => !seen.has(pin)),
	);
}
