import type { Random } from "../../../src/util/random.ts";
import type { ApiServer } from "./apiServer.ts";
import { checkAsked, checkPages, hasError, type Page } from "./checks.ts";
import {
	LISTS,
	type ListField,
	type ObjectKind,
	type Thing,
	type User,
} from "./model.ts";
import { folded } from "./names.ts";
import { check, pickServer, type Session, send } from "./session.ts";

/** Fields of each type: one of them names the create of the object. */
export const FIELDS: Readonly<Record<ObjectKind, string>> = {
	User: "__typename id bio username name email viewerFollows",
	Board:
		"__typename id description name secret viewerFollows owner { __typename id }",
	Pin: "__typename id link details viewerLikes board { __typename id } owner { __typename id }",
	Comment: "__typename id text author { __typename id } pin { __typename id }",
	Interest: "__typename id slug",
};

const PAGE_INFO =
	"pageInfo { hasNextPage hasPreviousPage startCursor endCursor }";

const listsOf = (kind: ObjectKind) =>
	Object.entries(LISTS).flatMap(([name, list]) =>
		name.startsWith(`${kind}.`)
			? [{ field: name.slice(kind.length + 1), list }]
			: [],
	);

const ROOTS: Readonly<Record<Thing["kind"], string>> = {
	User: "user",
	Board: "board",
	Pin: "pin",
	Comment: "comment",
};

/** A user whose create has no known outcome has no token, and looks as anybody. */
function withToken(user: User | null): User | null {
	return user?.token ? user : null;
}

/** One object by its root, with the first items of one of its lists. */
export async function readObject(
	session: Session,
	random: Random,
	as: User | null,
	thing: Thing,
	server: ApiServer = pickServer(session, random),
): Promise<void> {
	const viewer = withToken(as);
	const { kind, id } = thing;
	const lists = listsOf(kind);
	const picked =
		lists.length > 0 && random.chance(0.6) ? random.pick(lists) : null;
	const first = random.pick([3, 10, 40]);
	const nested = picked
		? `${picked.field}(first: ${first}) { totalCount nodes { ${FIELDS[picked.list.of]} } ${PAGE_INFO} }`
		: "";
	const root = random.chance(0.7) ? ROOTS[kind] : "node";
	const fields =
		root === "node"
			? `__typename id ... on ${kind} { ${FIELDS[kind]} ${nested} }`
			: `${FIELDS[kind]} ${nested}`;
	const argument = root === "user" ? "by: { id: $id }" : "id: $id";
	session.statistics.reads++;
	const response = await send(
		session,
		server,
		viewer,
		`query ($id: ID!) { shown: ${root}(${argument}) { ${fields} } }`,
		{ id },
	);
	if (typeof response === "string") return;
	check(session, viewer, response);
	if (response.data === null) return;
	checkAsked(session.model, thing, response.data.shown, ["shown"], {
		...session,
		viewer,
		...response,
	});
}

/** Many objects by `nodes`. */
export async function readNodes(
	session: Session,
	random: Random,
	as: User | null,
	things: readonly Thing[],
	server: ApiServer = pickServer(session, random),
): Promise<void> {
	const viewer = withToken(as);
	session.statistics.reads++;
	const fragments = (["User", "Board", "Pin", "Comment"] as const)
		.map((kind) => `... on ${kind} { ${FIELDS[kind]} }`)
		.join(" ");
	const response = await send(
		session,
		server,
		viewer,
		`query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ${fragments} } }`,
		{ ids: things.map(({ id }) => id) },
	);
	if (typeof response === "string") return;
	check(session, viewer, response);
	if (response.data === null) return;
	const nodes = response.data.nodes as readonly unknown[];
	for (const [n, thing] of things.entries()) {
		checkAsked(session.model, thing, nodes[n], ["nodes", n], {
			...session,
			viewer,
			...response,
		});
	}
}

/** The user of a name: a user who is found has it, and who has it is found. */
export async function readUsername(
	session: Session,
	random: Random,
	as: User | null,
	username: string,
	server: ApiServer = pickServer(session, random),
): Promise<void> {
	const viewer = withToken(as);
	const { model, report } = session;
	session.statistics.reads++;
	const spelled = random.chance(0.3) ? username.toUpperCase() : username;
	const response = await send(
		session,
		server,
		viewer,
		`query ($username: String!) { user(by: {username: $username}) { ${FIELDS.User} } }`,
		{ username: spelled },
	);
	if (typeof response === "string") return;
	check(session, viewer, response);
	const { data, reading, errors } = response;
	if (data === null) return;
	const shown = data.user as { readonly id: string; username: string } | null;
	const names = (user: User) =>
		[...user.username.possible(reading, model.freshness)].map(folded);
	if (shown !== null) {
		const user = model.byId(shown.id);
		const called = user?.kind === "User" ? names(user) : [];
		// A former name leads to its user until its release is delivered, and then finds nobody.
		if (
			!called.includes(folded(username)) ||
			folded(shown.username) !== folded(username)
		) {
			report({
				kind: "name",
				promised: `user ${shown.id} is called one of ${called.join(" ")}`,
				seen: `found by ${username} at ${reading.process}: ${JSON.stringify(shown)}`,
				objects: [shown.id],
			});
		}
		return;
	}
	if (hasError(errors, ["user"])) return;
	for (const user of model.users) {
		if (names(user).some((name) => name !== folded(username))) continue;
		if (model.isVisible(viewer, user, reading) !== "yes") continue;
		report({
			kind: "missing",
			promised: `user ${user.id} is found by the name ${username}`,
			seen: `null at ${reading.process}`,
			objects: [user.id ?? ""],
		});
	}
}

interface WalkedPage {
	readonly totalCount: number;
	readonly nodes: readonly (Readonly<Record<string, unknown>> | null)[];
	readonly pageInfo: {
		readonly hasNextPage: boolean;
		readonly hasPreviousPage: boolean;
		readonly startCursor: string | null;
		readonly endCursor: string | null;
	};
}

const MAX_PAGES = 60;

/** A whole list, page by page, each from any server, forward or backward. */
export async function readPages(
	session: Session,
	random: Random,
	as: User | null,
	parent:
		| Thing
		| { readonly kind: "Interest"; readonly id: string; readonly slug: string },
	field: string,
	options: {
		readonly size?: number;
		readonly isForward?: boolean;
		readonly servers?: readonly ApiServer[];
		readonly pauseMs?: number;
	} = {},
): Promise<"read" | "cut off"> {
	const viewer = withToken(as);
	const { model } = session;
	const list = LISTS[`${parent.kind}.${field}`] as ListField;
	const size = options.size ?? random.pick([1, 2, 3, 5, 20]);
	const isForward = options.isForward ?? random.chance(0.6);
	const pages: Page[] = [];
	let cursor: string | null = null;
	const asked = { viewer, report: session.report };
	for (let n = 0; ; n++) {
		const server: ApiServer = options.servers
			? random.pick(options.servers)
			: pickServer(session, random);
		const range: string = isForward
			? `first: ${size} after: $cursor`
			: `last: ${size} before: $cursor`;
		session.statistics.pages++;
		const response = await send(
			session,
			server,
			viewer,
			`query ($id: ID!, $cursor: String) { node(id: $id) { __typename id ... on ${parent.kind} { ${parent.kind === "Interest" ? "slug" : ""} ${field}(${range}) { totalCount nodes { ${FIELDS[list.of]} } ${PAGE_INFO} } } } }`,
			{ id: parent.id, cursor },
		);
		if (typeof response === "string") return "cut off";
		check(session, viewer, response);
		const { data, errors, reading } = response;
		const node = data?.node as Readonly<Record<string, unknown>> | null;
		const page = node?.[field] as WalkedPage | null | undefined;
		if (!page || errors.length > 0) return "cut off";
		const keys = page.nodes.map((one) =>
			String(list.of === "Interest" ? one?.slug : one?.id),
		);
		if (isForward) pages.push({ keys, reading });
		else pages.unshift({ keys, reading });
		const { pageInfo } = page;
		const more: boolean = isForward
			? pageInfo.hasNextPage
			: pageInfo.hasPreviousPage;
		cursor = isForward ? pageInfo.endCursor : pageInfo.startCursor;
		const isWhole = !more;
		if (isWhole || n >= MAX_PAGES || cursor === null) {
			const key = parent.kind === "Interest" ? parent.slug : (parent.id ?? "");
			checkPages(model, list, key, pages, isWhole, {
				...asked,
				reading,
				errors: [],
			});
			return isWhole ? "read" : "cut off";
		}
	}
}

/** A tree of lists in one request. */
export async function readTree(
	session: Session,
	random: Random,
	as: User | null,
	user: User,
): Promise<void> {
	const viewer = withToken(as);
	session.statistics.reads++;
	const response = await send(
		session,
		pickServer(session, random),
		viewer,
		`query ($id: ID!) {
			user(by: {id: $id}) {
				${FIELDS.User}
				boards(first: 8) { totalCount nodes { ${FIELDS.Board}
					pins(first: 6) { totalCount nodes { ${FIELDS.Pin}
						comments(first: 3) { totalCount nodes { ${FIELDS.Comment} } ${PAGE_INFO} }
						likedBy(first: 3) { totalCount nodes { ${FIELDS.User} } ${PAGE_INFO} }
						interests(first: 3) { nodes { ${FIELDS.Interest} } ${PAGE_INFO} }
					} ${PAGE_INFO} }
				} ${PAGE_INFO} }
				likes(first: 5) { totalCount nodes { ${FIELDS.Pin} } ${PAGE_INFO} }
				followers(first: 5) { totalCount nodes { ${FIELDS.User} } ${PAGE_INFO} }
				following(first: 5) { totalCount nodes { ${FIELDS.User} } ${PAGE_INFO} }
				${viewer === user ? `blockedUsers(first: 5) { totalCount nodes { ${FIELDS.User} } ${PAGE_INFO} }` : ""}
			}
		}`,
		{ id: user.id },
	);
	if (typeof response === "string") return;
	check(session, viewer, response);
	if (response.data === null) return;
	checkAsked(session.model, user, response.data.user, ["user"], {
		...session,
		viewer,
		...response,
	});
}
