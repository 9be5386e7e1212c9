import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
	type GraphQLField,
	type GraphQLInputType,
	type GraphQLSchema,
	getNamedType,
	isInputObjectType,
	isInterfaceType,
	isObjectType,
	printSchema,
} from "graphql";
import { type Id, packId, unpackId } from "../../src/id/ids.ts";
import { type Answer, type Client, client } from "../helpers/client.ts";
import { type ServedHere, serveHere } from "../helpers/demoServer.ts";
import { join as joinServer, type Member, made } from "../helpers/member.ts";
import { theModel } from "../helpers/model.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const { schema, model } = theModel();
/** So many mutations are one request. */
const TOGETHER = 8;
/** Mutations that take several objects, and pass over what is not there. */
const PASSES_OVER: readonly string[] = ["deletePins("];

/** What is there and may not be seen, with who may not. */
interface Hidden {
	readonly what: string;
	readonly type: string;
	readonly id: string;
	readonly by: readonly string[];
	/**
	 * What some of these may do with it all the same: remove what is their own, and
	 * report or block in turn what every visitor sees (docs/guarantees.md "Between two people").
	 */
	readonly may: Readonly<Record<string, readonly string[]>>;
}

/**
 * Two worlds for every hidden object: that it is there and hidden, and that its
 * id names nothing. A viewer who may not see it must get the same answer in both, but
 * for the id they gave themselves.
 */
describe("an object hidden from the viewer", () => {
	const folder = temporaryFolder();
	let server: ServedHere;
	let ada: Member;
	let eve: Member;
	let bob: Member;
	let viewers: Readonly<Record<string, Client>>;
	let hidden: readonly Hidden[];

	before(async () => {
		server = await serveHere({ CORKBOARD_DATA: folder.path });
		const { url } = server;
		ada = await joinServer(url, "ada_hides");
		eve = await joinServer(url, "eve_is_blocked");
		bob = await joinServer(url, "bob_stays");
		const gone = await joinServer(url, "gone_away");
		const carol = await joinServer(url, "carol_blocks");
		const board = (who: Member, more: object = {}) =>
			made(who, "createBoard", { name: "board", ...more }, "board");
		const pin = (who: Member, boardId: string) =>
			made(
				who,
				"createPin",
				{ boardId, details: "pin", interests: ["hiding"] },
				"pin",
			);
		const comment = (who: Member, pinId: string) =>
			made(who, "addComment", { pinId, text: "said" }, "comment");
		const open = await board(bob);
		const shown = await pin(bob, open);

		const secret = await board(ada, { secret: true });
		const secretPin = await pin(ada, secret);
		const inSection = { boardId: secret, name: "section" };
		const secretSection = await made(
			ada,
			"createSection",
			inSection,
			"section",
		);
		const removed = await board(ada);
		const removedPin = await pin(ada, removed);
		const removedComment = await comment(ada, shown);
		const deletedPin = await pin(ada, await board(ada));
		const things = async (who: Member) => {
			const itsBoard = await board(who);
			const itsPin = await pin(who, itsBoard);
			const itsComment = await comment(who, shown);
			const under = await comment(bob, itsPin);
			const repin = await made(
				bob,
				"repin",
				{ pinId: itsPin, boardId: open },
				"pin",
			);
			// Every list of others that may lead there.
			await made(bob, "likePin", { pinId: itsPin }, "pin");
			await made(bob, "followBoard", { boardId: itsBoard }, "board");
			await made(bob, "followUser", { userId: who.id }, "user");
			await made(who, "followUser", { userId: bob.id }, "user");
			await made(who, "likePin", { pinId: shown }, "pin");
			await made(who, "followBoard", { boardId: open }, "board");
			return { itsBoard, itsPin, itsComment, under, repin };
		};
		const ofGone = await things(gone);
		const ofCarol = await things(carol);
		const ofEve = await things(eve);
		const secretComment = await comment(ada, secretPin);
		// Likes and follows from when it could be seen.
		const turned = await board(ada);
		const turnedPin = await pin(ada, turned);
		const turnedComment = await comment(bob, turnedPin);
		await made(bob, "likePin", { pinId: turnedPin }, "pin");
		await made(bob, "followBoard", { boardId: turned }, "board");
		await made(bob, "repin", { pinId: turnedPin, boardId: open }, "pin");
		await made(ada, "updateBoard", { boardId: turned, secret: true }, "board");

		// Shared with somebody else, and shared with bob until it was not.
		const shared = await board(ada, { secret: true });
		const sharedPin = await pin(ada, shared);
		const add = { boardId: shared, userId: carol.id };
		await made(ada, "addCollaborator", add, "board");
		await pin(carol, shared);
		const ended = await board(ada, { secret: true });
		const endedUser = { boardId: ended, userId: bob.id };
		await made(ada, "addCollaborator", endedUser, "board");
		const endedPin = await pin(bob, ended);
		const endedSave = await made(
			bob,
			"repin",
			{ pinId: shown, boardId: ended },
			"pin",
		);
		await made(ada, "removeCollaborator", endedUser, "board");

		await ada.data(
			`mutation { a: deleteBoard(input: {boardId: "${removed}"}) { deletedBoardId } b: deleteComment(input: {commentId: "${removedComment}"}) { deletedCommentId } c: deletePin(input: {pinId: "${deletedPin}"}) { deletedPinId } }`,
		);
		await made(carol, "blockUser", { userId: eve.id }, "user");
		await gone.data(
			`mutation { deactivateUser(input: {userId: "${gone.id}"}) { deactivatedUserId } }`,
		);

		viewers = { visitor: client(url), bob, eve, carol };
		const all = ["visitor", "bob", "eve"];
		const one = (
			what: string,
			type: string,
			id: string,
			by: readonly string[] = all,
			may: Hidden["may"] = {},
		): Hidden => ({ what, type, id, by, may });
		const of = (
			what: string,
			it: Awaited<ReturnType<typeof things>>,
			by: readonly string[],
			/** By type, and for bob's comment under the pin. */
			may: Readonly<Record<string, Hidden["may"]>>,
		) => [
			one(`the board of ${what}`, "Board", it.itsBoard, by, may.Board),
			one(`the pin of ${what}`, "Pin", it.itsPin, by, may.Pin),
			one(`the comment of ${what}`, "Comment", it.itsComment, by, may.Comment),
			one(
				`bob's comment on the pin of ${what}`,
				"Comment",
				it.under,
				by,
				may.under,
			),
		];
		const everywhere = (may: Hidden["may"]) => ({
			Board: may,
			Pin: may,
			Comment: may,
			under: may,
		});
		hidden = [
			one("a secret board", "Board", secret),
			one("a pin on a secret board", "Pin", secretPin),
			one("a section of a secret board", "Section", secretSection),
			one("a comment on a secret board", "Comment", secretComment),
			one("a board that became secret", "Board", turned, all, {
				bob: ["unfollowBoard.boardId"],
			}),
			one("a pin on a board that became secret", "Pin", turnedPin, all, {
				bob: ["unlikePin.pinId"],
			}),
			one("a comment of one's own there", "Comment", turnedComment, all, {
				bob: ["deleteComment.commentId"],
			}),
			one("a secret board of others", "Board", shared),
			one("a pin on a secret board of others", "Pin", sharedPin),
			one("a secret board that is no longer shared", "Board", ended),
			one("a pin of one's own there", "Pin", endedPin, all, {
				bob: ["deletePin.pinId"],
			}),
			one("what one saved there", "Pin", endedSave, all, {
				bob: ["deletePin.pinId"],
			}),
			one("a deleted board", "Board", removed),
			one("a pin on a deleted board", "Pin", removedPin),
			one("a deleted pin", "Pin", deletedPin),
			one("a deleted comment", "Comment", removedComment),
			one("a user who left", "User", gone.id, [...all, "carol"], {
				bob: ["unfollowUser.userId"],
			}),
			...of("a user who left", ofGone, [...all, "carol"], {
				Board: { bob: ["unfollowBoard.boardId"] },
				Pin: { bob: ["unlikePin.pinId"] },
				// It is on bob's pin.
				Comment: { bob: ["deleteComment.commentId"] },
				under: { bob: ["deleteComment.commentId"] },
			}),
			one("a user who blocks the viewer", "User", carol.id, ["eve"], {
				eve: ["blockUser.userId", "report.subjectId"],
			}),
			...of("a user who blocks the viewer", ofCarol, ["eve"], {
				...everywhere({ eve: ["report.subjectId"] }),
			}),
			...of("a user blocked by the viewer", ofEve, ["carol"], {
				...everywhere({ carol: ["report.subjectId"] }),
			}),
		];
	});
	after(async () => {
		await server[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	/** An id of the same kind and shard that names nothing. */
	function nothingLike(id: string): string {
		return packId({ ...unpackId(id as Id), local: 68_000_000_000 });
	}

	/**
	 * The answer and what it is said to cost, with the id that was asked for taken
	 * out of it. The id is a variable: thousands are asked for with few documents.
	 */
	async function ask(as: Client, query: string, id: string): Promise<Answer> {
		const named = query.startsWith("mutation") ? query : `query ${query}`;
		const answer = await as.post(named.replace(/^\w+/, "$&($id: ID!)"), {
			cost: true,
			variables: { id },
		});
		return JSON.parse(JSON.stringify(answer).replaceAll(id, "THE ID"));
	}

	/** Asks as everybody who may not see it. Returns their answers. */
	async function isTheSame(
		one: Hidden,
		query: string,
		by = one.by,
	): Promise<Readonly<Record<string, Answer>>> {
		const answers: Record<string, Answer> = {};
		for (const name of by) {
			const viewer = viewers[name] as Client;
			const there = await ask(viewer, query, one.id);
			const nowhere = await ask(viewer, query, nothingLike(one.id));
			assert.deepEqual(there, nowhere, `${one.what}, for ${name}: ${query}`);
			answers[name] = there;
		}
		return answers;
	}

	it("is null by every root field with an id, like an id of another type", async () => {
		const roots = Object.values(schema.getQueryType()?.getFields() ?? {});
		const byInput = (type: GraphQLInputType) => {
			const named = getNamedType(type);
			return isInputObjectType(named) && "id" in named.getFields();
		};
		const takingIds = roots.filter(({ args }) =>
			args.some(({ type }) => /ID/.test(String(type)) || byInput(type)),
		);
		assert.deepEqual(takingIds.map(({ name }) => name).toSorted(), [
			"board",
			"comment",
			"interest",
			"node",
			"nodes",
			"pin",
			"user",
		]);
		for (const one of hidden) {
			for (const { name, args } of takingIds) {
				const query =
					name === "nodes"
						? "{ nodes(ids: [$id, $id]) { id __typename } }"
						: `{ ${name}(${args[0]?.name === "by" ? "by: {id: $id}" : "id: $id"}) { id __typename } }`;
				await isTheSame(one, query);
				const viewer = viewers[one.by[0] as string] as Client;
				const { data } = (await ask(viewer, query, one.id)) as {
					data: Record<string, unknown>;
				};
				assert.deepEqual(data[name], name === "nodes" ? [null, null] : null);
			}
		}
	});

	it("is NOT_FOUND, with the same message, in every mutation and argument with an id", async () => {
		const asked: { readonly name: string; readonly field: string }[] = [];
		for (const field of mutationsOf(schema)) {
			for (const { name: argument, isList } of idsIn(schema, field)) {
				const name = `${field.name}.${argument}`;
				const id = isList ? "[$id]" : "$id";
				const input = `{${argument}: ${id} ${await othersOf(name)}}`;
				asked.push({
					name,
					field: `${field.name}(input: ${input}) { __typename }`,
				});
			}
		}
		for (const one of hidden) {
			for (const name of one.by) {
				const own = one.may[name] ?? [];
				const others = asked.filter(({ name }) => !own.includes(name));
				assert.equal(others.length, asked.length - own.length);
				for (let from = 0; from < others.length; from += TOGETHER) {
					const fields = others
						.slice(from, from + TOGETHER)
						.map(({ field }, n) => `m${n}: ${field}`);
					const query = `mutation { ${fields.join(" ")} }`;
					const answers = await isTheSame(one, query, [name]);
					// What else the inputs name is bob's.
					if (name !== "bob") continue;
					assert.deepEqual(
						answers.bob?.errors?.map(({ path, extensions: { code } }) => ({
							path,
							code,
						})),
						fields.flatMap((field, n) =>
							PASSES_OVER.some((name) => field.includes(name))
								? []
								: [{ path: [`m${n}`], code: "NOT_FOUND" }],
						),
						`${one.what}: ${query}`,
					);
				}
			}
		}
		// Whatever names an object by its id, now and in times to come.
		const inputs = [
			...printSchema(schema).matchAll(/^input (\w+)Input \{\n([^}]*)\}/gm),
		].flatMap(([, name = "", fields = ""]) =>
			[...fields.matchAll(/^ {2}(\w+): \[?ID\b.*$/gm)].map(
				([, field]) => `${name[0]?.toLowerCase()}${name.slice(1)}.${field}`,
			),
		);
		// These are inputs of queries, whose roots are looked at above.
		const others = ["userBy.id", "interestBy.id"];
		assert.deepEqual(
			asked.map(({ name }) => name).toSorted(),
			inputs.filter((one) => !others.includes(one)).toSorted(),
		);
	});

	/** The other fields an input needs, so that it is the id which is looked at. */
	async function othersOf(argument: string): Promise<string> {
		const mine = `"${await bobs()}"`;
		const others: Readonly<Record<string, string>> = {
			"addComment.pinId": 'text: "x"',
			"addCollaborator.boardId": `userId: "${eve.id}"`,
			"addCollaborator.userId": `boardId: ${mine}`,
			"removeCollaborator.boardId": `userId: "${eve.id}"`,
			"removeCollaborator.userId": `boardId: ${mine}`,
			"report.subjectId": "reason: SPAM",
			"createSection.boardId": 'name: "x"',
			"updateSection.sectionId": 'name: "x"',
			"moveSection.beforeSectionId": `sectionId: "${await bobsSection()}"`,
			"moveSection.afterSectionId": `sectionId: "${await bobsSection()}"`,
			"moveBoard.beforeBoardId": `boardId: ${mine}`,
			"moveBoard.afterBoardId": `boardId: ${mine}`,
			"createPin.sectionId": `boardId: ${mine}`,
			"repin.sectionId": `boardId: ${mine} pinId: "${await bobsPin()}"`,
			"movePin.sectionId": `pinId: "${await bobsPin()}"`,
			"updateComment.commentId": 'text: "x"',
			"repin.pinId": `boardId: ${mine}`,
			"repin.boardId": `pinId: "${await bobsPin()}"`,
			"movePins.boardId": `pinIds: ["${await bobsPin()}"]`,
			"movePins.sectionId": `pinIds: ["${await bobsPin()}"]`,
			"movePin.boardId": `pinId: "${await bobsPin()}"`,
			"movePin.beforePinId": `pinId: "${await bobsPin()}"`,
			"movePin.afterPinId": `pinId: "${await bobsPin()}"`,
			"updateBoard.boardId": 'name: "x"',
			"updatePin.pinId": 'details: "x"',
		};
		return others[argument] ?? "";
	}
	let kept:
		| Promise<{ board: string; pin: string; section: string }>
		| undefined;
	const own = () => {
		kept ??= (async () => {
			const board = await made(bob, "createBoard", { name: "own" }, "board");
			return {
				board,
				pin: await made(bob, "createPin", { boardId: board }, "pin"),
				section: await made(
					bob,
					"createSection",
					{ boardId: board, name: "own" },
					"section",
				),
			};
		})();
		return kept;
	};
	const bobs = async () => (await own()).board;
	const bobsPin = async () => (await own()).pin;
	const bobsSection = async () => (await own()).section;

	it("is in no list, reference or payload of a visible object", async () => {
		for (const [name, viewer] of Object.entries(viewers)) {
			const forbidden = new Map(
				hidden
					.filter(({ by }) => by.includes(name))
					.map(({ id, what }) => [id, what]),
			);
			const { met, fields } = await walk(viewer, [bob.id, eve.id]);
			for (const id of met) {
				assert.equal(forbidden.get(id), undefined, `${name} met it`);
			}
			assert.ok(met.size > 5, `${name} met ${met.size}`);
			// Every field of every type that leads to objects was gone along.
			assert.deepEqual(
				leadingFields(schema).filter((field) => !fields.has(field)),
				[],
			);
		}
	});

	it("changes no count that the viewer reads: of secret boards, and of users who block it", async () => {
		const counts = [...model.objects.keys()].flatMap((name) => {
			const type = schema.getType(name);
			const fields = isObjectType(type) ? Object.keys(type.getFields()) : [];
			const found = fields.filter((field) => field.endsWith("Count"));
			return found.length === 0
				? []
				: `... on ${name} { ${found.map((field) => `${name}_${field}: ${field}`).join(" ")} }`;
		});
		assert.ok(counts.length >= 5, counts.join(" "));
		const ofInterest = counts.find((one) => one.startsWith("... on Interest"));
		const { eve: blocked, carol } = viewers as Readonly<Record<string, Client>>;
		const open = await own();
		const seen = [ada.id, bob.id, open.board, open.pin, open.section];
		const query = `query ($ids: [ID!]!) { nodes(ids: $ids) { id ${counts.join(" ")} } interests(first: 100) { nodes { ${ofInterest} } } }`;
		const read = async () => {
			const answers: unknown[] = [];
			for (const as of [client(server.url), blocked as Client]) {
				answers.push(await as.data(query, { ids: seen }));
			}
			return answers;
		};
		const before = await read();
		const secret = { name: "uncounted", secret: true };
		const boardId = await made(ada, "createBoard", secret, "board");
		const filed = { boardId, interests: ["hiding"] };
		const pinId = await made(ada, "createPin", filed, "pin");
		await made(ada, "repin", { pinId: open.pin, boardId }, "pin");
		await made(ada, "likePin", { pinId }, "pin");
		await made(ada, "followBoard", { boardId }, "board");
		await made(ada, "addComment", { pinId, text: "unheard" }, "comment");
		assert.deepEqual(await read(), before);
		// A block takes nothing out of counts, and puts nothing in.
		await made(ada, "blockUser", { userId: bob.id }, "user");
		const again = await read();
		await made(ada, "unblockUser", { userId: bob.id }, "user");
		assert.deepEqual(again, before);
		const { nodes } = await (carol as Client).data<{ nodes: unknown[] }>(
			query,
			{ ids: [ada.id] },
		);
		const [user] = nodes as readonly Record<string, unknown>[];
		assert.deepEqual(
			[user?.User_pinCount, user?.User_boardCount],
			[null, null],
		);
	});

	it("is not found by the beginning of a name", async () => {
		for (const [name, viewer] of Object.entries(viewers)) {
			const forbidden = hidden.filter(({ by }) => by.includes(name));
			let found = 0;
			for (const startsWith of ["ada", "bob", "carol", "eve"]) {
				const { users } = await viewer.data<{
					users: { nodes: readonly ({ id: string } | null)[] };
				}>(
					`{ users(startsWith: "${startsWith}", first: 100) { nodes { id } } }`,
				);
				for (const node of users.nodes) {
					const one = forbidden.find(({ id }) => id === node?.id);
					assert.equal(one?.what, undefined, `${name} found it`);
				}
				found += users.nodes.length;
			}
			assert.ok(found > 0, `${name} found nobody`);
		}
	});

	it("has the same worst-case cost as a missing object", async () => {
		for (const one of hidden) {
			const deep = (depth: number): string =>
				depth === 0
					? "id"
					: `... on Board { pins(first: 100) { nodes { id repins(first: 100) { nodes { board { ${deep(depth - 1)} } } } } } } ... on Pin { repins(first: 100) { nodes { likedBy(first: 100) { nodes { likes(first: 100) { nodes { id } } } } } } } ... on User { followers(first: 100) { nodes { followers(first: 100) { nodes { followers(first: 100) { nodes { id } } } } } } }`;
			await isTheSame(one, `{ node(id: $id) { id ${deep(1)} } }`);
		}
	});

	it("has the same actual cost as a missing object: alone, and beside its possible owner", async () => {
		for (const one of hidden) {
			await isTheSame(one, "{ node(id: $id) { id } }");
			for (const name of ["ada_hides", "bob_stays", "eve_is_blocked"]) {
				await isTheSame(
					one,
					`{ node(id: $id) { id } user(by: {username: "${name}"}) { id boards { nodes { id } } } }`,
				);
			}
			await isTheSame(
				one,
				`{ again: node(id: $id) { id } nodes(ids: [$id, "${bob.id}"]) { id } }`,
			);
		}
	});

	it("is not revealed by the viewer's state of others: likes, follows and e-mail", async () => {
		for (const name of ["bob", "eve"]) {
			const viewer = viewers[name] as Client;
			for (const one of hidden.filter(({ by }) => by.includes(name))) {
				const query = `{ node(id: $id) { ... on User { viewerFollows followsViewer email blockedUsers { totalCount } homeFeed { totalCount nodes { id } } } ... on Board { viewerFollows viewerCanPin viewerCanUpdate viewerCanDelete owner { id } } ... on Pin { viewerLikes viewerHasSaved viewerSaves { nodes { id } } viewerCanUpdate viewerCanDelete origin { id } } ... on Section { viewerCanUpdate viewerCanDelete } ... on Comment { viewerCanUpdate viewerCanDelete } } }`;
				const { status, data } = (await ask(viewer, query, one.id)) as Answer;
				assert.deepEqual(
					{ status, data },
					{ status: 200, data: { node: null } },
				);
			}
		}
	});

	it("is in no public response: block lists and home feeds are private", async () => {
		const control = async (query: string) => {
			const response = await fetch(
				`${server.url}/graphql?query=${encodeURIComponent(query)}`,
				{ headers: { "apollo-require-preflight": "1" } },
			);
			assert.equal(response.status, 200);
			return response.headers.get("cache-control");
		};
		const list = (field: string) =>
			`{ user(by: {username: "carol_blocks"}) { ${field} { totalCount } } }`;
		assert.equal(await control(list("followers")), "public, max-age=10");
		assert.equal(await control(list("blockedUsers")), "private, no-cache");
		assert.equal(await control(list("homeFeed")), "private, no-cache");
	});

	it("is visible to those it is shared with: a secret board and its pins", async () => {
		const { carol } = viewers as { readonly carol: Client };
		const shared = hidden.filter(({ what }) => /of others$/.test(what));
		for (const { id, what } of shared) {
			assert.deepEqual(
				await carol.data(`{ node(id: "${id}") { id } }`),
				{ node: { id } },
				what,
			);
		}
		const { viewer } = await carol.data<{ viewer: { sharedBoards: unknown } }>(
			"{ viewer { sharedBoards { nodes { viewerCanPin pins { totalCount } } } } }",
		);
		assert.deepEqual(viewer.sharedBoards, {
			nodes: [{ viewerCanPin: true, pins: { totalCount: 2 } }],
		});
	});

	it("is no save of the viewer's: a pin on a board that it does not see any more", async () => {
		const { hiddenSave, pinId } = {
			hiddenSave: hidden.find(({ what }) => what === "what one saved there"),
			pinId: (
				await bob.data<{ viewer: { pins: { nodes: { id: string }[] } } }>(
					"{ viewer { pins(last: 1) { nodes { id } } } }",
				)
			).viewer.pins.nodes[0]?.id,
		};
		assert.ok(hiddenSave);
		const saves = `{ pin(id: "${pinId}") { viewerHasSaved viewerSaves { nodes { id } } } }`;
		assert.deepEqual(await bob.data(saves), {
			pin: { viewerHasSaved: false, viewerSaves: { nodes: [] } },
		});
		// No matter who sees it: nobody else's saves are the viewer's.
		assert.deepEqual(await ada.data(saves), {
			pin: { viewerHasSaved: false, viewerSaves: { nodes: [] } },
		});
		const own = await made(bob, "createBoard", { name: "saves" }, "board");
		const save = await made(bob, "repin", { pinId, boardId: own }, "pin");
		assert.deepEqual(await bob.data(saves), {
			pin: { viewerHasSaved: true, viewerSaves: { nodes: [{ id: save }] } },
		});
		assert.deepEqual(
			await bob.data(
				`mutation { deletePin(input: {pinId: "${save}"}) { origin { id viewerHasSaved } } }`,
			),
			{ deletePin: { origin: { id: pinId, viewerHasSaved: false } } },
		);
	});

	it("is arranged and deleted by the owner of its board, no matter who pinned it, but not changed or taken away", async () => {
		const { carol } = viewers as { readonly carol: Client };
		const secret = { name: "shared", secret: true };
		const boardId = await made(ada, "createBoard", secret, "board");
		const elsewhere = await made(ada, "createBoard", { name: "else" }, "board");
		const { viewer } = await carol.data<{ viewer: { id: string } }>(
			"{ viewer { id } }",
		);
		const add = { boardId, userId: viewer.id };
		await made(ada, "addCollaborator", add, "board");
		const section = { boardId, name: "s" };
		const sectionId = await made(ada, "createSection", section, "section");
		const [adas, carols] = [
			await made(ada, "createPin", { boardId }, "pin"),
			(
				await carol.data<{ createPin: { pin: { id: string } } }>(
					`mutation { createPin(input: {boardId: "${boardId}"}) { pin { id } } }`,
				)
			).createPin.pin.id,
		];
		const rights = (pinId: string) =>
			`{ pin(id: "${pinId}") { viewerCanUpdate viewerCanDelete } }`;
		const mutations = (pinId: string, neighbor: string) => [
			`updatePin(input: {pinId: "${pinId}", details: "x"}) { pin { id } }`,
			`movePin(input: {pinId: "${pinId}", afterPinId: "${neighbor}"}) { pin { id } }`,
			`movePin(input: {pinId: "${pinId}", sectionId: "${sectionId}"}) { pin { id } }`,
			`movePin(input: {pinId: "${pinId}", boardId: "${elsewhere}"}) { pin { id } }`,
			`deletePin(input: {pinId: "${pinId}"}) { deletedPinId }`,
		];
		const codes = async (as: Client, pinId: string, neighbor: string) => {
			const found: unknown[] = [];
			for (const text of mutations(pinId, neighbor)) {
				const { errors = [] } = await as.post(`mutation { ${text} }`);
				found.push(errors[0]?.extensions.code ?? "done");
			}
			return found;
		};
		const no = "FORBIDDEN";
		assert.deepEqual(await carol.data(rights(adas)), {
			pin: { viewerCanUpdate: false, viewerCanDelete: false },
		});
		assert.deepEqual(await codes(carol, adas, carols), [no, no, no, no, no]);
		const never = Array(5).fill("NOT_FOUND");
		assert.deepEqual(await codes(bob, carols, adas), never);
		assert.deepEqual(await ada.data(rights(carols)), {
			pin: { viewerCanUpdate: false, viewerCanDelete: true },
		});
		assert.deepEqual(await codes(ada, carols, adas), [
			no,
			"done",
			"done",
			no,
			"done",
		]);
		assert.deepEqual(await carol.data(rights(carols)), { pin: null });
		assert.deepEqual(await codes(carol, carols, adas), never);
	});

	it("is visible again after unblocking, and a blocked user is visible enough to unblock", async () => {
		const { carol } = viewers as { readonly carol: Client };
		const blocked =
			"{ viewer { blockedUsers { totalCount nodes { username } } } }";
		assert.deepEqual(await carol.data(blocked), {
			viewer: {
				blockedUsers: {
					totalCount: 1,
					nodes: [{ username: "eve_is_blocked" }],
				},
			},
		});
		const seen = async () => {
			const { user } = await eve.data<{ user: unknown }>(
				'{ user(by: {username: "carol_blocks"}) { boards { nodes { name } } } }',
			);
			return user;
		};
		assert.equal(await seen(), null);
		for (const repeated of [1, 2]) {
			await made(carol, "unblockUser", { userId: eve.id }, "user");
			assert.deepEqual(
				await seen(),
				{ boards: { nodes: [{ name: "board" }] } },
				String(repeated),
			);
		}
		await made(carol, "blockUser", { userId: eve.id }, "user");
		assert.equal(await seen(), null);
	});

	it("is no viewer after its account is closed: its token gets 401", async () => {
		const leaver = await joinServer(server.url, "leaves_too");
		assert.equal(
			await leaver.code(
				`mutation { deactivateUser(input: {userId: "${bob.id}"}) { deactivatedUserId } }`,
			),
			"FORBIDDEN",
		);
		assert.deepEqual(
			await leaver.data(
				`mutation { deactivateUser(input: {userId: "${leaver.id}"}) { deactivatedUserId } }`,
			),
			{ deactivateUser: { deactivatedUserId: leaver.id } },
		);
		const answer = await leaver.post("{ viewer { id } }");
		assert.deepEqual(
			[answer.status, answer.errors?.map(({ extensions }) => extensions.code)],
			[401, ["UNAUTHENTICATED"]],
		);
	});

	it("keeps its username after its account is closed, and cannot be found by it", async () => {
		for (const username of ["gone_away", "never_there"]) {
			assert.deepEqual(
				await (viewers.bob as Client).data(
					`{ user(by: {username: "${username}"}) { id } }`,
				),
				{ user: null },
			);
		}
		// docs/guarantees.md: a username in use is reported, no matter who has it.
		assert.equal(
			await (viewers.visitor as Client).code(
				'mutation { createUser(input: {username: "gone_away"}) { token } }',
			),
			"CONFLICT",
		);
	});
});

function mutationsOf(of: GraphQLSchema) {
	return Object.values(of.getMutationType()?.getFields() ?? {});
}

/** The fields of a mutation's input that name an object. */
function idsIn(
	of: GraphQLSchema,
	{ args }: GraphQLField<unknown, unknown>,
): readonly { readonly name: string; readonly isList: boolean }[] {
	const type = of.getType(getNamedType(args[0]?.type ?? null)?.name ?? "");
	const fields = type && "getFields" in type ? type.getFields() : {};
	return Object.values(fields)
		.filter((field) => /ID/.test(String(field.type)))
		.map(({ name, type }) => ({ name, isList: String(type).startsWith("[") }));
}

/** `Type.field` of each that leads to an object: references, connections, payloads. */
function leadingFields(of: GraphQLSchema): string[] {
	return [...model.objects.keys()].flatMap((name) => {
		const type = of.getType(name);
		if (!isObjectType(type)) return [];
		return Object.values(type.getFields())
			.filter((field) => leads(of, field))
			.map((field) => `${name}.${field.name}`);
	});
}

function leads(of: GraphQLSchema, field: GraphQLField<unknown, unknown>) {
	const type = getNamedType(field.type);
	return (
		isInterfaceType(of.getType(type.name)) ||
		model.objects.has(type.name) ||
		(isObjectType(type) && Object.hasOwn(type.getFields(), "nodes"))
	);
}

/** Everything that can be reached from some objects, by every field that leads on. */
async function walk(as: Client, from: readonly string[]) {
	const met = new Set<string>();
	const fields = new Set<string>();
	const waiting = [...from];
	const note = (value: unknown): void => {
		if (typeof value !== "object" || value === null) return;
		const { id } = value as { id?: string };
		if (id !== undefined && !met.has(id)) {
			met.add(id);
			waiting.push(id);
		}
		for (const inner of Object.values(value)) note(inner);
	};
	note(await as.data("{ viewer { id } interests { nodes { id } } }"));
	const selections = [...model.objects.keys()].map((name) => {
		const type = schema.getType(name);
		if (!isObjectType(type)) return "";
		const leading = Object.values(type.getFields()).filter((field) =>
			leads(schema, field),
		);
		const selected = leading.map((field) => {
			fields.add(`${name}.${field.name}`);
			const { name: inside } = getNamedType(field.type);
			const inner = inside.endsWith("Connection")
				? "nodes { id } edges { node { id } }"
				: model.objects.has(inside) || isInterfaceType(schema.getType(inside))
					? "id"
					: "nodes { id }";
			return `${name}_${field.name}: ${field.name} { ${inner} }`;
		});
		return `... on ${name} { id ${selected.join(" ")} }`;
	});
	const done = new Set<string>();
	for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
		if (done.has(id)) continue;
		done.add(id);
		note(
			await as.data(
				`query ($id: ID!) { node(id: $id) { ${selections.join(" ")} } }`,
				{
					id,
				},
			),
		);
	}
	return { met, fields };
}
