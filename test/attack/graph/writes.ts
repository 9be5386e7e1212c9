import type { Random } from "../../../src/util/random.ts";
import type { ApiServer } from "./apiServer.ts";
import { objectsOf } from "./checks.ts";
import type { Board, Comment, Pin, Thing, User } from "./model.ts";
import { checkNames } from "./names.ts";
import {
	type Operation,
	type Outcome,
	type Reading,
	Register,
} from "./register.ts";
import {
	check,
	codeOf,
	pickServer,
	processOf,
	type Response,
	type Session,
	send,
} from "./session.ts";

const USER = "__typename id bio username name email";
const BOARD = "__typename id description name secret owner { __typename id }";
const PIN =
	"__typename id link details board { __typename id } owner { __typename id }";
const COMMENT =
	"__typename id text author { __typename id } pin { __typename id }";

/** What payloads select, by the object's field. */
const PAYLOADS: Readonly<Record<string, string>> = {
	user: USER,
	board: BOARD,
	pin: PIN,
	comment: COMMENT,
	interest: "__typename id slug",
	deletedBoardId: "",
	deletedPinId: "",
	deletedCommentId: "",
	deactivatedUserId: "",
};

interface Mutation {
	readonly name: string;
	/** The payload's field. */
	readonly shows: string;
	readonly input: Readonly<Record<string, unknown>>;
	readonly viewer: User | null;
	readonly objects: readonly string[];
	/** Those of the objects it names that the viewer has to see. */
	readonly needs?: readonly Thing[];
	/** Another reason for NOT_FOUND. */
	mayBeMissing?(reading: Reading): boolean;
	/** Enters the write into the model, before it is sent. */
	enter?(operation: Operation): void;
	/** Called with the outcome, before the payload is checked. */
	ended?(operation: Operation, payload: Mutated["payload"]): void;
	/** The operation, if it is in the model already. */
	readonly operation?: Operation;
	/** The operation whose write the payload shows, if it is another one. */
	readonly shown?: Operation;
}

export interface Mutated {
	readonly operation: Operation;
	/** The fields of the payload; null without an answer. */
	readonly payload: Readonly<Record<string, unknown>> | null;
	/** The error's code if it was refused. */
	readonly code: string | null;
}

/** Mutations that hide something from somebody; so does a board that becomes secret. */
const HIDING = /^(?:delete|deactivate|blockUser)/;

/** Mutations of what the viewer need not see: it is the viewer's own, or a visitor sees it (docs/guarantees.md "Between two people"). */
const OF_HIDDEN = /^(?:un|delete|blockUser)/;

let serials = 0;
/** A text that only one create has. */
function newSerial(kind: string): string {
	return `${kind}-${++serials}`;
}

async function mutate(
	session: Session,
	random: Random,
	mutation: Mutation,
	server: ApiServer = pickServer(session, random),
): Promise<Mutated> {
	const { model, timeline, statistics, report } = session;
	const { name, shows, input, viewer, objects, needs = [] } = mutation;
	const operation: Operation = mutation.operation ?? {
		name,
		objects: [...objects, ...(viewer?.id ? [viewer.id] : [])],
		process: "",
		invokedAt: timeline.now(),
		endedAt: Number.POSITIVE_INFINITY,
		outcome: "running",
		detail: `${name} ${JSON.stringify(input)} as ${viewer?.id ?? "nobody"}`,
		hides: HIDING.test(name) || input.secret === true,
	};
	operation.process = processOf(server);
	model.operations.push(operation);
	mutation.enter?.(operation);
	statistics.writes++;
	const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
	const fields = PAYLOADS[shows] ? `${shows} { ${PAYLOADS[shows]} }` : shows;
	const token = name === "createUser" ? " token" : "";
	const response = await send(
		session,
		server,
		viewer,
		`mutation ($input: ${type}!) { ${name}(input: $input) { ${fields}${token} } }`,
		{ input },
		{ after: mutation.shown ?? operation, isImpatient: random.chance(0.1) },
	);
	operation.endedAt = timeline.now();
	if (typeof response === "string") {
		operation.outcome = response === "not sent" ? "refused" : "unknown";
		statistics[operation.outcome]++;
		mutation.ended?.(operation, null);
		return { operation, payload: null, code: null };
	}
	const code = codeOfMutation(name, response);
	operation.outcome = outcomeOf(code);
	if (operation.outcome === "done") statistics.acknowledged++;
	else if (operation.outcome === "unknown") statistics.unknown++;
	else statistics.refused++;
	const payload = (response.data?.[name] ?? null) as Mutated["payload"];
	mutation.ended?.(operation, payload);
	// Before the write itself, which may have deleted the object.
	const { after: _, ...before } = response.reading;
	for (const thing of needs) {
		const visible = model.isVisible(viewer, thing, before);
		if (code === null && visible === "no" && !OF_HIDDEN.test(name)) {
			report({
				kind: "privacy",
				promised: `${thing.kind} ${thing.id} is NOT_FOUND for user ${viewer?.id}`,
				seen: `${operation.detail} succeeded at ${operation.process}`,
				objects: objectsOf(thing, viewer),
			});
		}
	}
	if (
		code === "NOT_FOUND" &&
		needs.length > 0 &&
		!mutation.mayBeMissing?.(before) &&
		needs.every((thing) => model.isVisible(viewer, thing, before) === "yes")
	) {
		report({
			kind: "missing",
			promised: `user ${viewer?.id} sees ${needs.map(({ kind, id }) => `${kind} ${id}`).join(" and ")}`,
			seen: `NOT_FOUND: ${operation.detail} at ${operation.process}`,
			objects: needs.flatMap((thing) => objectsOf(thing, viewer)),
		});
	}
	if (operation.outcome === "done") check(session, viewer, response);
	return { operation, payload, code };
}

/** Null if the write happened, whatever its payload could not read. */
function codeOfMutation(
	name: string,
	{ errors, data }: Response,
): string | null {
	const error = errors.find(
		({ path }) => path === undefined || path.length <= 1,
	);
	if (error !== undefined) return codeOf(error);
	return data?.[name] === null || data === null ? "none" : null;
}

const REFUSALS = new Set([
	"BAD_USER_INPUT",
	"UNAUTHENTICATED",
	"FORBIDDEN",
	"NOT_FOUND",
	"CONFLICT",
	"TOO_EXPENSIVE",
]);

function outcomeOf(code: string | null): Outcome {
	if (code === null) return "done";
	return REFUSALS.has(code) ? "refused" : "unknown";
}

/** Repeats a create with an idempotency key until its outcome is known, or patience ends. */
async function createOnce(
	session: Session,
	random: Random,
	thing: Thing,
	mutation: Omit<Mutation, "enter">,
	isRepeatable: boolean,
): Promise<Mutated> {
	const { report, model } = session;
	const { create } = thing;
	const attempt = (operation?: Operation) =>
		mutate(session, random, {
			...mutation,
			shown: create,
			...(operation && { operation }),
			ended(own, payload) {
				const shown = payload?.[mutation.shows] as { id?: string } | null;
				const id = shown?.id;
				if (id !== undefined && thing.id !== null && thing.id !== id) {
					report({
						kind: "duplicate",
						promised: `${create.detail} happens once, as ${thing.id}`,
						seen: `a repeat created ${id}`,
						objects: [thing.id, id],
					});
				}
				if (own !== create && own.outcome === "done") {
					create.outcome = "done";
					create.endedAt = Math.min(create.endedAt, own.endedAt);
					if (!wasKnown) {
						create.endedAt = own.endedAt;
						create.process = own.process;
					}
				}
				if (id !== undefined) model.learn(thing, id);
			},
		});
	let wasKnown = true;
	let mutated = await attempt(create);
	for (let n = 0; isRepeatable && n < 3; n++) {
		wasKnown = (create.outcome as Outcome) === "done";
		if ((create.outcome as Outcome) === "refused") break;
		if (wasKnown && !random.chance(0.15)) break;
		const repeat = await attempt();
		if (wasKnown && repeat.code !== null && REFUSED_REPEATS.has(repeat.code)) {
			report({
				kind: "missing",
				promised: `a repeat of ${create.detail} answers as the first`,
				seen: `${repeat.code} at ${repeat.operation.process}`,
				objects: thing.id === null ? [] : [thing.id],
			});
		}
		// A refusal proves nothing of the first request: that may still happen.
		if (repeat.operation.outcome === "refused") break;
		if (repeat.operation.outcome === "done") mutated = repeat;
	}
	return mutated;
}

/** What a repeat of an acknowledged create must not end with. */
const REFUSED_REPEATS = new Set(["CONFLICT", "BAD_USER_INPUT", "FORBIDDEN"]);

function newCreate(
	session: Session,
	name: string,
	detail: string,
	objects: readonly (string | null)[] = [],
): Operation {
	return {
		name,
		objects: objects.filter((id) => id !== null),
		process: "",
		invokedAt: session.timeline.now(),
		endedAt: Number.POSITIVE_INFINITY,
		outcome: "running",
		detail,
	};
}

function existence(create: Operation): Register<boolean> {
	const exists = new Register(false);
	exists.write(true, create);
	return exists;
}

export async function createUser(
	session: Session,
	random: Random,
	username: string,
	email: string | null,
): Promise<User | null> {
	const { model, report } = session;
	const serial = newSerial("user");
	const isRepeatable = random.chance(0.7);
	const input = {
		username,
		name: `name of ${serial}`,
		bio: serial,
		...(email !== null && { email }),
		...(isRepeatable && { idempotencyKey: `key of ${serial}` }),
	};
	const create = newCreate(session, "createUser", JSON.stringify(input));
	const user: User = {
		kind: "User",
		serial,
		create,
		id: null,
		exists: existence(create),
		token: null,
		username: new Register(""),
		name: new Register(""),
		email: new Register<string | null>(null),
		active: new Register(true),
	};
	user.username.write(username, create);
	user.name.write(input.name, create);
	user.email.write(email, create);
	model.add(user);
	const { payload } = await createOnce(
		session,
		random,
		user,
		{ name: "createUser", shows: "user", input, viewer: null, objects: [] },
		isRepeatable,
	);
	user.token = (payload?.token as string | null | undefined) ?? null;
	checkNames(model, user, report);
	return user.token === null || user.id === null ? null : user;
}

export async function createBoard(
	session: Session,
	random: Random,
	owner: User,
): Promise<Board | null> {
	const { model } = session;
	const serial = newSerial("board");
	const isRepeatable = random.chance(0.5);
	const secret = random.chance(0.2);
	const input = {
		name: `board ${serial}`,
		description: serial,
		secret,
		...(isRepeatable && { idempotencyKey: `key of ${serial}` }),
	};
	const create = newCreate(session, "createBoard", JSON.stringify(input), [
		owner.id,
	]);
	const board: Board = {
		kind: "Board",
		serial,
		create,
		id: null,
		exists: existence(create),
		owner,
		name: new Register(input.name),
		secret: new Register(secret),
		order: [],
		positions: [],
	};
	model.add(board);
	model.edgeOfNew(board, "ownBoard", { from: owner.id ?? "" });
	await createOnce(
		session,
		random,
		board,
		{ name: "createBoard", shows: "board", input, viewer: owner, objects: [] },
		isRepeatable,
	);
	return create.outcome === "done" ? board : null;
}

export async function createPin(
	session: Session,
	random: Random,
	board: Board,
	slugs: readonly string[],
	isRepeatable = random.chance(0.5),
): Promise<Pin | null> {
	const { model, timeline } = session;
	const { owner } = board;
	const serial = `https://example.com/${newSerial("pin")}`;
	const input = {
		boardId: board.id,
		details: `pin ${serial}`,
		link: serial,
		interests: slugs,
		...(isRepeatable && { idempotencyKey: `key of ${serial}` }),
	};
	const create = newCreate(session, "createPin", JSON.stringify(input), [
		board.id,
		owner.id,
	]);
	const pin: Pin = {
		kind: "Pin",
		serial,
		create,
		id: null,
		exists: existence(create),
		owner,
		board: new Register(board),
		details: new Register(input.details),
		positions: [create],
	};
	board.positions.push(create);
	model.add(pin);
	model.edgeOfNew(pin, "ownPin", { from: owner.id ?? "" });
	model.edgeOfNew(pin, "placePin", { from: board.id ?? "" });
	for (const slug of slugs) {
		model.interest(slug);
		model.edgeOfNew(pin, "filePin", { to: slug });
	}
	await createOnce(
		session,
		random,
		pin,
		{
			name: "createPin",
			shows: "pin",
			input,
			viewer: owner,
			objects: [board.id ?? ""],
			needs: [board],
		},
		isRepeatable,
	);
	if (create.outcome !== "done" || pin.id === null) return null;
	// Its place is on top, unless it gets there later, by a delivery.
	if (
		timeline.isQuiet(create.invokedAt - 5_000, create.endedAt) &&
		!timeline.wasBusy(create.invokedAt - 5_000) &&
		isAlone(board, create)
	) {
		board.order.unshift(pin.id);
	}
	return pin;
}

export async function addComment(
	session: Session,
	random: Random,
	author: User,
	pin: Pin,
): Promise<Comment | null> {
	const { model } = session;
	const serial = newSerial("comment");
	const isRepeatable = random.chance(0.5);
	const input = {
		pinId: pin.id,
		text: serial,
		...(isRepeatable && { idempotencyKey: `key of ${serial}` }),
	};
	const create = newCreate(session, "addComment", JSON.stringify(input), [
		pin.id,
		author.id,
	]);
	const comment: Comment = {
		kind: "Comment",
		serial,
		create,
		id: null,
		exists: existence(create),
		author,
		pin,
	};
	model.add(comment);
	model.edgeOfNew(comment, "commentPin", { from: pin.id ?? "" });
	await createOnce(
		session,
		random,
		comment,
		{
			name: "addComment",
			shows: "comment",
			input,
			viewer: author,
			objects: [pin.id ?? ""],
			needs: [pin],
		},
		isRepeatable,
	);
	return create.outcome === "done" ? comment : null;
}

export async function renameUser(
	session: Session,
	random: Random,
	user: User,
	change: {
		readonly username?: string;
		readonly email?: string | null;
		readonly name?: string;
	},
	server?: ApiServer,
): Promise<Mutated> {
	const mutated = await mutate(
		session,
		random,
		{
			name: "updateUser",
			shows: "user",
			input: change,
			viewer: user,
			objects: [],
			enter(operation) {
				if (change.username !== undefined) {
					user.username.write(change.username, operation);
				}
				if (change.email !== undefined)
					user.email.write(change.email, operation);
				if (change.name !== undefined) user.name.write(change.name, operation);
			},
		},
		server,
	);
	checkNames(session.model, user, session.report);
	return mutated;
}

export function deactivateUser(
	session: Session,
	random: Random,
	user: User,
): Promise<Mutated> {
	return mutate(session, random, {
		name: "deactivateUser",
		shows: "deactivatedUserId",
		input: { userId: user.id },
		viewer: user,
		objects: [],
		enter: (operation) => user.active.write(false, operation),
	});
}

export function updateBoard(
	session: Session,
	random: Random,
	board: Board,
	change: { readonly name?: string; readonly secret?: boolean },
): Promise<Mutated> {
	return mutate(session, random, {
		name: "updateBoard",
		shows: "board",
		input: { boardId: board.id, ...change },
		viewer: board.owner,
		objects: [board.id ?? ""],
		needs: [board],
		enter(operation) {
			if (change.name !== undefined) board.name.write(change.name, operation);
			if (change.secret !== undefined) {
				board.secret.write(change.secret, operation);
			}
		},
	});
}

export function updatePin(
	session: Session,
	random: Random,
	pin: Pin,
	details: string,
): Promise<Mutated> {
	return mutate(session, random, {
		name: "updatePin",
		shows: "pin",
		input: { pinId: pin.id, details },
		viewer: pin.owner,
		objects: [pin.id ?? ""],
		needs: [pin],
		enter: (operation) => pin.details.write(details, operation),
	});
}

export function remove(
	session: Session,
	random: Random,
	thing: Board | Pin | Comment,
): Promise<Mutated> {
	const { model } = session;
	return mutate(session, random, {
		name: `delete${thing.kind}`,
		shows: `deleted${thing.kind}Id`,
		input: { [`${thing.kind.toLowerCase()}Id`]: thing.id },
		viewer: thing.kind === "Comment" ? thing.author : thing.owner,
		objects: [thing.id ?? ""],
		needs: [thing],
		enter(operation) {
			thing.exists.write(false, operation);
			const leave = (mapping: string, from: string | null) =>
				model
					.edge(mapping, from ?? "", thing.id ?? "")
					.present.write(false, operation);
			if (thing.kind === "Board") leave("ownBoard", thing.owner.id);
			if (thing.kind === "Comment") leave("commentPin", thing.pin.id);
			if (thing.kind === "Pin") {
				leave("ownPin", thing.owner.id);
				for (const board of boardsOf(thing)) leave("placePin", board.id);
			}
		},
	});
}

function boardsOf(pin: Pin): ReadonlySet<Board> {
	return new Set([
		pin.board.initial,
		...pin.board.writes
			.filter(({ operation }) => operation.outcome !== "refused")
			.map(({ value }) => value),
	]);
}

/** Beside another pin of the board, or to its top. */
export async function movePin(
	session: Session,
	random: Random,
	pin: Pin,
	board: Board,
	beside: { readonly side: "before" | "after"; readonly pin: Pin } | null,
	server?: ApiServer,
): Promise<Mutated> {
	const { model } = session;
	const id = pin.id ?? "";
	const mutated = await mutate(
		session,
		random,
		{
			name: "movePin",
			shows: "pin",
			input: {
				pinId: pin.id,
				boardId: board.id,
				...(beside && { [`${beside.side}PinId`]: beside.pin.id }),
			},
			viewer: pin.owner,
			objects: [id, board.id ?? "", ...(beside ? [beside.pin.id ?? ""] : [])],
			needs: [pin, board],
			// The neighbor may be on the board only once that is delivered.
			mayBeMissing: (reading) =>
				beside !== null &&
				(model.isVisible(pin.owner, beside.pin, reading) !== "yes" ||
					model.isPresent(
						model.edge("placePin", board.id ?? "", beside.pin.id ?? ""),
						"delivered",
						reading,
					) !== "yes"),
			enter(operation) {
				pin.positions.push(operation);
				board.positions.push(operation);
				for (const old of boardsOf(pin)) {
					if (old !== board) {
						model
							.edge("placePin", old.id ?? "", id)
							.present.write(false, operation);
					}
				}
				model
					.edge("placePin", board.id ?? "", id)
					.present.write(true, operation);
				pin.board.write(board, operation);
				// Its place is unknown until it is acknowledged.
				for (const one of boardsOf(pin)) leaveOrder(one, id);
			},
		},
		server,
	);
	const { operation } = mutated;
	const isCertain =
		isAlone(board, operation) &&
		pin.positions.every(
			({ outcome }) => outcome === "done" || outcome === "refused",
		);
	if (operation.outcome === "done" && isCertain) {
		const at = beside === null ? 0 : board.order.indexOf(beside.pin.id ?? "");
		if (at >= 0) {
			board.order.splice(at + (beside?.side === "after" ? 1 : 0), 0, id);
		}
	}
	return mutated;
}

/** Whether no other change of the board's order was under way at the same time. */
function isAlone(board: Board, operation: Operation): boolean {
	return board.positions.every(
		(other) =>
			other === operation ||
			other.outcome === "refused" ||
			other.endedAt < operation.invokedAt ||
			other.invokedAt > operation.endedAt,
	);
}

function leaveOrder(board: Board, id: string): void {
	const at = board.order.indexOf(id);
	if (at >= 0) board.order.splice(at, 1);
}

/** What each edge mutation names, and the mapping that it changes. */
const EDGES = {
	likePin: ["likePin", "pin", true],
	unlikePin: ["likePin", "pin", false],
	followUser: ["followUser", "user", true],
	unfollowUser: ["followUser", "user", false],
	followBoard: ["followBoard", "board", true],
	unfollowBoard: ["followBoard", "board", false],
	blockUser: ["blockUser", "user", true],
	unblockUser: ["blockUser", "user", false],
} as const;

export type EdgeMutation = keyof typeof EDGES;

export function setEdge(
	session: Session,
	random: Random,
	name: EdgeMutation,
	viewer: User,
	to: User | Board | Pin,
): Promise<Mutated> {
	const [mapping, field, present] = EDGES[name];
	return mutate(session, random, {
		name,
		shows: field,
		input: { [`${field}Id`]: to.id },
		viewer,
		objects: [to.id ?? ""],
		needs: [to],
		enter: (operation) =>
			session.model
				.edge(mapping, viewer.id ?? "", to.id ?? "")
				.present.write(present, operation),
	});
}

export function followInterest(
	session: Session,
	random: Random,
	viewer: User,
	slug: string,
	present: boolean,
): Promise<Mutated> | null {
	const { id } = session.model.interest(slug);
	if (id === null) return null;
	return mutate(session, random, {
		name: present ? "followInterest" : "unfollowInterest",
		shows: "interest",
		input: { interestId: id },
		viewer,
		objects: [slug],
		enter: (operation) =>
			session.model
				.edge("followInterest", viewer.id ?? "", slug)
				.present.write(present, operation),
	});
}
