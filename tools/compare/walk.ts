import { type Page, WALK_QUERY } from "./documents.ts";
import type { ExpectedUser } from "./expected.ts";
import type { Node } from "./identities.ts";
import { compareItems } from "./lists.ts";
import type { Run } from "./run.ts";

const PAGE_SIZE = 50;

/** The user with the most followers; of several, the first. */
export function bestConnected({ expectation }: Run): ExpectedUser | undefined {
	let best: ExpectedUser | undefined;
	let most = -1;
	for (const user of expectation.users) {
		const { length } = expectation.list("User.followers", user);
		if (length > most) [best, most] = [user, length];
	}
	return best;
}

/** Page through a user's followers to the end and back: everybody is met once, in order, and pages are full until the last. */
export async function walkFollowers(
	run: Run,
	user: ExpectedUser,
): Promise<void> {
	const expected = run.expectation.list("User.followers", user);
	const id = run.identities.idOf(user);
	if (id === undefined) return;
	const { walked } = run.findings.figures;
	walked.username = user.username;
	walked.followers = expected.length;

	const forward = await walk(run, id, expected.length, "forward");
	walked.pagesForward = forward.length;
	const met = forward.flatMap(({ nodes }) => nodes);
	comparePages(run, user, expected.length, "forward", forward);
	compareItems(run, `followers of ${user.key} paged forward`, expected, met);

	const backward = await walk(run, id, expected.length, "backward");
	walked.pagesBackward = backward.length;
	const metBack = backward.toReversed().flatMap(({ nodes }) => nodes);
	comparePages(run, user, expected.length, "backward", backward);
	compareItems(
		run,
		`followers of ${user.key} paged backward`,
		expected,
		metBack,
	);
	for (const [way, all] of [
		["forward", met],
		["backward", metBack],
	] as const) {
		run.findings.same(
			`followers of ${user.key} paged ${way}: met more than once`,
			0,
			repeated(all),
		);
	}
}

/** A server that always promises another page is not followed past the one that is too many. */
async function walk(
	run: Run,
	id: string,
	followers: number,
	way: "forward" | "backward",
): Promise<readonly Page[]> {
	const pages: Page[] = [];
	let cursor: string | null = null;
	while (pages.length <= Math.ceil(followers / PAGE_SIZE)) {
		const variables =
			way === "forward"
				? { id, first: PAGE_SIZE, after: cursor }
				: { id, last: PAGE_SIZE, before: cursor };
		const { user } = await run.ask(WALK_QUERY, variables);
		const page = (user as { readonly followers: Page }).followers;
		pages.push(page);
		run.findings.figures.pages++;
		const { pageInfo } = page;
		const goesOn =
			way === "forward" ? pageInfo.hasNextPage : pageInfo.hasPreviousPage;
		if (!goesOn) break;
		cursor = way === "forward" ? pageInfo.endCursor : pageInfo.startCursor;
	}
	return pages;
}

function comparePages(
	run: Run,
	user: ExpectedUser,
	followers: number,
	way: "forward" | "backward",
	pages: readonly Page[],
): void {
	for (const [at, { nodes, pageInfo, totalCount }] of pages.entries()) {
		const where = `followers of ${user.key} paged ${way}, page ${at + 1}`;
		const left = followers - at * PAGE_SIZE;
		const { hasNextPage, hasPreviousPage } = pageInfo;
		const [ahead, behind] =
			way === "forward"
				? [hasNextPage, hasPreviousPage]
				: [hasPreviousPage, hasNextPage];
		const { findings } = run;
		findings.same(`${where}: length`, Math.min(left, PAGE_SIZE), nodes.length);
		findings.same(`${where}: more ahead`, left > PAGE_SIZE, ahead);
		findings.same(`${where}: more behind`, at > 0, behind);
		findings.same(`${where}: totalCount`, followers, totalCount);
	}
}

function repeated(nodes: readonly (Node | null)[]): number {
	return nodes.length - new Set(nodes.map((node) => node?.id)).size;
}
