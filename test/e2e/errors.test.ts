import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { SignJWT } from "jose";
import { packId } from "../../src/id/ids.ts";
import { type Answer, type Client, client } from "../helpers/client.ts";
import { type ServedHere, serveHere } from "../helpers/demoServer.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";

const SECRET = "of the error tests with 32 bytes or more";

describe("over HTTP, errors", () => {
	const folder = temporaryFolder();
	let server: ServedHere;
	let visitor: Client;
	let ada: Client;
	let adasToken: string;
	let ben: Client;
	const ids = {
		ada: "",
		board: "",
		secret: "",
		pin: "",
		hidden: "",
		comment: "",
	};

	before(async () => {
		server = await serveHere({
			CORKBOARD_DATA: folder.path,
			CORKBOARD_SECRET: SECRET,
		});
		visitor = client(server.url);
		const join = async (username: string, email: string) => {
			const { createUser } = await visitor.data<{
				createUser: { user: { id: string }; token: string };
			}>(
				`mutation { createUser(input: {username: "${username}", email: "${email}"}) { user { id } token } }`,
			);
			return createUser;
		};
		const owner = await join("ada_made_up", "ada@example.com");
		ids.ada = owner.user.id;
		adasToken = owner.token;
		ada = client(server.url, adasToken);
		ben = client(
			server.url,
			(await join("ben_made_up", "ben@example.com")).token,
		);
		const make = async (field: string, type: string) => {
			const data = await ada.data<
				Record<string, Record<string, { id: string }>>
			>(`mutation { made: ${field} { ${type} { id } } }`);
			return data.made?.[type]?.id ?? "";
		};
		ids.board = await make('createBoard(input: {name: "Open"})', "board");
		ids.secret = await make(
			'createBoard(input: {name: "Secret", secret: true})',
			"board",
		);
		const pin = (boardId: string) =>
			make(`createPin(input: {boardId: "${boardId}"})`, "pin");
		ids.pin = await pin(ids.board);
		ids.hidden = await pin(ids.secret);
		ids.comment = await make(
			`addComment(input: {pinId: "${ids.pin}", text: "Mine"})`,
			"comment",
		);
	});
	after(async () => {
		await server[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	function signed(
		claims: { readonly sub?: string; readonly exp?: number },
		secret = SECRET,
	): Promise<string> {
		return new SignJWT(claims)
			.setProtectedHeader({ alg: "HS256" })
			.sign(Buffer.from(secret));
	}

	it("an expired, forged, endless, unsigned or unknown token fails the whole request: 401, no data", async () => {
		const now = Math.floor(Date.now() / 1_000);
		const nobody = packId({ shard: 0, type: 3, local: 999_999 });
		const good = await signed({ sub: ids.ada, exp: now + 60 });
		const { data } = await visitor.post("{ viewer { username } }", {
			token: good,
		});
		assert.deepEqual(data, { viewer: { username: "ada_made_up" } });
		const [, payload = ""] = good.split(".");
		const none = Buffer.from('{"alg":"none"}').toString("base64url");
		for (const token of [
			await signed({ sub: ids.ada, exp: now - 60 }),
			await signed({ sub: ids.ada, exp: now + 60 }, `${SECRET}, but another`),
			await signed({ sub: ids.ada }),
			await signed({ exp: now + 60 }),
			await signed({ sub: nobody, exp: now + 60 }),
			await signed({ sub: ids.board, exp: now + 60 }),
			await signed({ sub: "ada_made_up", exp: now + 60 }),
			`${none}.${payload}.`,
			"nonsense",
		]) {
			const answer = await visitor.post("{ interests { totalCount } }", {
				token,
			});
			assert.equal(answer.status, 401, token);
			assert.equal("data" in answer, false);
			assert.deepEqual(
				answer.errors?.map(({ extensions }) => extensions),
				[{ code: "UNAUTHENTICATED" }],
			);
		}
		const basic = await fetch(`${server.url}/graphql`, {
			method: "POST",
			headers: {
				"content-type": "application/json",
				authorization: "Basic YWRhOmFkYQ==",
			},
			body: '{"query":"{ viewer { id } }"}',
		});
		assert.equal(basic.status, 401);
		assert.equal(basic.headers.get("www-authenticate"), "Bearer");
	});

	it("an anonymous request may read and sign up, and nothing else", async () => {
		assert.deepEqual(
			await visitor.data(
				`{ viewer { id } pin(id: "${ids.pin}") { viewerLikes owner { isViewer viewerFollows followsViewer } board { viewerFollows } } }`,
			),
			{
				viewer: null,
				pin: {
					viewerLikes: null,
					owner: { isViewer: false, viewerFollows: null, followsViewer: null },
					board: { viewerFollows: null },
				},
			},
		);
		const { data, errors } = await visitor.post(
			`mutation { likePin(input: {pinId: "${ids.pin}"}) { pin { id } } }`,
		);
		assert.deepEqual(data, { likePin: null });
		assert.deepEqual(errors?.[0]?.path, ["likePin"]);
		assert.equal(errors?.[0]?.extensions.code, "UNAUTHENTICATED");
	});

	it("FORBIDDEN is an object that the viewer may see and not change", async () => {
		for (const mutation of [
			`updateBoard(input: {boardId: "${ids.board}", name: "Mine"}) { board { id } }`,
			`deleteBoard(input: {boardId: "${ids.board}"}) { deletedBoardId }`,
			`createPin(input: {boardId: "${ids.board}"}) { pin { id } }`,
			`repin(input: {pinId: "${ids.pin}", boardId: "${ids.board}"}) { pin { id } }`,
			`updatePin(input: {pinId: "${ids.pin}", details: "x"}) { pin { id } }`,
			`movePin(input: {pinId: "${ids.pin}"}) { pin { id } }`,
			`deletePin(input: {pinId: "${ids.pin}"}) { deletedPinId }`,
			`deleteComment(input: {commentId: "${ids.comment}"}) { deletedCommentId }`,
		]) {
			assert.equal(await ben.code(`mutation { ${mutation} }`), "FORBIDDEN");
		}
	});

	it("a hidden object, one of another type and a missing one are NOT_FOUND in mutations and null in queries", async () => {
		const shard = Number(BigInt(ids.pin) >> 46n);
		const nothing = [
			ids.hidden,
			ids.board,
			packId({ shard, type: 1, local: 999_999 }),
			packId({ shard: 60_000, type: 1, local: 1 }),
			packId({ shard, type: 700, local: 1 }),
			"18446744073709551615",
			"0",
		];
		for (const id of nothing) {
			assert.equal(
				await ben.code(
					`mutation { likePin(input: {pinId: "${id}"}) { pin { id } } }`,
				),
				"NOT_FOUND",
				id,
			);
			assert.deepEqual(await ben.data(`{ pin(id: "${id}") { id } }`), {
				pin: null,
			});
		}
		assert.deepEqual(
			await ben.data("query ($ids: [ID!]!) { nodes(ids: $ids) { id } }", {
				ids: [ids.pin, ids.hidden, ids.secret, ids.pin, "0", ids.comment],
			}),
			{
				nodes: [
					{ id: ids.pin },
					null,
					null,
					{ id: ids.pin },
					null,
					{ id: ids.comment },
				],
			},
		);
		assert.equal(
			await ben.code(
				`mutation { deleteBoard(input: {boardId: "${ids.secret}"}) { deletedBoardId } }`,
			),
			"NOT_FOUND",
		);
	});

	it("a taken username and a taken e-mail address are CONFLICT with the same message", async () => {
		const messages = await Promise.all(
			[
				'{username: "ADA_made_up"}',
				'{username: "ada_two", email: "Ada@Example.com"}',
			].map(async (input) => {
				const { data, errors } = await visitor.post(
					`mutation { createUser(input: ${input}) { token } }`,
				);
				assert.deepEqual(data, { createUser: null });
				assert.equal(errors?.[0]?.extensions.code, "CONFLICT");
				return errors?.[0]?.message;
			}),
		);
		assert.equal(messages[0], messages[1]);
		assert.equal(
			await ben.code(
				'mutation { updateUser(input: {username: "ada_made_up"}) { user { id } } }',
			),
			"CONFLICT",
		);
		// The clash left nothing behind.
		assert.deepEqual(
			await visitor.data('{ user(by: {username: "ada_two"}) { id } }'),
			{ user: null },
		);
	});

	it("TOO_EXPENSIVE rejects before any read or write: 100 by 100 passes, 100 by 100 by 100 does not", async () => {
		const followers = (selection: string) =>
			`followers(first: 100) { nodes { ${selection} } }`;
		assert.deepEqual(
			await visitor.data(
				`{ user(by: {username: "ada_made_up"}) { ${followers(followers("id"))} } }`,
			),
			{ user: { followers: { nodes: [] } } },
		);
		const expensive = followers(followers(followers("id")));
		const answer = await ada.post(
			`mutation { createBoard(input: {name: "Never"}) { board { owner { ${expensive} } } } }`,
		);
		assert.equal(answer.status, 400);
		assert.equal("data" in answer, false);
		assert.deepEqual(
			answer.errors?.map(({ extensions }) => extensions.code),
			["TOO_EXPENSIVE"],
		);
		assert.match(
			answer.errors?.[0]?.message ?? "",
			/costs 2020\d\d\d, over the limit of 60000/,
		);
		assert.deepEqual(
			await ada.data("{ viewer { boards { totalCount nodes { name } } } }"),
			{
				viewer: {
					boards: {
						totalCount: 2,
						nodes: [{ name: "Secret" }, { name: "Open" }],
					},
				},
			},
		);
	});

	it("BAD_USER_INPUT reports invalid input at its path, and the rest of the response is there", async () => {
		const ids101 = Array.from({ length: 101 }, () => `"${ids.pin}"`).join(" ");
		for (const field of [
			'pin(id: "007") { id }',
			'pin(id: "-1") { id }',
			'pin(id: "1e3") { id }',
			'pin(id: "18446744073709551616") { id }',
			'pin(id: "") { id }',
			'user(by: {id: "01"}) { id }',
			`nodes(ids: [${ids101}]) { id }`,
		]) {
			const { data, errors, status } = await visitor.post(
				`{ ok: pin(id: "${ids.pin}") { id } bad: ${field} }`,
			);
			assert.equal(status, 200, field);
			assert.equal(errors?.length, 1, field);
			assert.equal(errors?.[0]?.extensions.code, "BAD_USER_INPUT", field);
			assert.equal(errors?.[0]?.path?.[0], "bad");
			// Query.nodes may not be null, so all of it is.
			assert.deepEqual(
				data,
				field.startsWith("nodes") ? null : { ok: { id: ids.pin }, bad: null },
			);
		}
		for (const mutation of [
			'createUser(input: {username: "x y"}) { token }',
			'createUser(input: {username: "ab"}) { token }',
			'createUser(input: {username: "good_one", email: "no address"}) { token }',
			'createUser(input: {username: "good_one", website: "ftp://example.com"}) { token }',
			`createUser(input: {username: "good_one", bio: "${"x".repeat(501)}"}) { token }`,
			'createUser(input: {username: "good_one", name: "a\\u0000b"}) { token }',
			"updateUser(input: {name: null}) { user { id } }",
			'createBoard(input: {name: "  "}) { board { id } }',
			`followUser(input: {userId: "${ids.ada}"}) { user { id } }`,
			`movePin(input: {pinId: "${ids.pin}", beforePinId: "${ids.pin}", afterPinId: "${ids.pin}"}) { pin { id } }`,
			`createPin(input: {boardId: "${ids.board}", interests: ["Not a slug"]}) { pin { id } }`,
			`addComment(input: {pinId: "${ids.pin}", text: ""}) { comment { id } }`,
		]) {
			assert.equal(
				await ada.code(`mutation { ${mutation} }`),
				"BAD_USER_INPUT",
				mutation,
			);
		}
	});

	it("an id that JSON has rounded is BAD_USER_INPUT, by every way a value comes, and says to send text", async () => {
		const { url } = server;
		// As a client with a BIGINT column writes it; JSON.parse makes 9007199254740992 of it.
		const exact = "9007199254740993";
		const headers = {
			"content-type": "application/json",
			"apollo-require-preflight": "1",
			authorization: `Bearer ${adasToken}`,
		};
		const post = (query: string, variables: string) =>
			fetch(`${url}/graphql`, {
				method: "POST",
				headers,
				body: `{"query":${JSON.stringify(query)},"variables":${variables}}`,
			});
		const pin = "query ($i: ID!) { pin(id: $i) { id } }";
		const requests: (() => Promise<Response>)[] = [
			() => post(pin, `{"i":${exact}}`),
			// A document that the server knows takes another way.
			() => post(pin, `{"i":${exact}}`),
			() => post(pin, `{"i":1${"0".repeat(21)}}`),
			() => post(pin, '{"i":4.5}'),
			() =>
				fetch(
					`${url}/graphql?${new URLSearchParams({ query: pin, variables: `{"i":${exact}}` })}`,
					{ headers },
				),
			() =>
				post(
					"query ($i: [ID!]!) { nodes(ids: $i) { id } }",
					`{"i":["1",${exact}]}`,
				),
			() =>
				post(
					"query ($by: UserByInput!) { user(by: $by) { id } }",
					`{"by":{"id":${exact}}}`,
				),
			() =>
				post(
					"mutation ($i: ID!) { deletePin(input: {pinId: $i}) { deletedPinId } }",
					`{"i":${exact}}`,
				),
			() =>
				post(
					"mutation ($i: UpdateBoardInput!) { updateBoard(input: $i) { board { id } } }",
					`{"i":{"boardId":${exact},"secret":true}}`,
				),
		];
		for (const [nth, request] of requests.entries()) {
			const { errors, data } = (await (await request()).json()) as Answer;
			assert.equal(errors?.length, 1, String(nth));
			assert.equal(errors?.[0]?.extensions.code, "BAD_USER_INPUT");
			assert.match(errors?.[0]?.message ?? "", /Send the id in quotes\./);
			assert.equal(data, undefined);
		}
		// The digits of a document are as they were written.
		assert.deepEqual(
			await ada.data(
				`query ($i: ID! = ${ids.pin}) { a: pin(id: $i) { id } b: pin(id: ${ids.pin}) { id } }`,
			),
			{ a: { id: ids.pin }, b: { id: ids.pin } },
		);
	});

	it("a refused input names each wrong field once, with a sentence for people, and CONFLICT a field only if one was given", async () => {
		const fieldsOf = async (as: typeof visitor, mutation: string) => {
			const { errors } = await as.post(`mutation { ${mutation} }`);
			return errors?.[0]?.extensions.fields;
		};
		assert.deepEqual(
			await fieldsOf(
				visitor,
				'createUser(input: {username: "x y", email: "no", bio: "ok", avatar: {url: "ftp://a", width: 0}}) { token }',
			),
			[
				{
					path: ["input", "username"],
					code: "INVALID",
					min: 3,
					max: 30,
					message: "Use 3 to 30 letters, digits or underscores.",
				},
				{
					path: ["input", "email"],
					code: "INVALID",
					message: "Give an e-mail address, such as ada@example.com.",
				},
				{
					path: ["input", "avatar", "url"],
					code: "INVALID",
					message: "Give an address that begins with http:// or https://.",
				},
				{
					path: ["input", "avatar", "width"],
					code: "INVALID",
					min: 1,
					message: "This must be a positive number of pixels.",
				},
			],
		);
		assert.deepEqual(
			await fieldsOf(
				ada,
				`createPin(input: {boardId: "${ids.board}", interests: ["bread", "Not a slug"], details: "${"x".repeat(1_001)}"}) { pin { id } }`,
			),
			[
				{
					path: ["input", "details"],
					code: "TOO_LONG",
					max: 1_000,
					message: "Use at most 1000 characters.",
				},
				{
					path: ["input", "interests", 1],
					code: "INVALID",
					min: 1,
					max: 100,
					message: "Use 1 to 100 lowercase letters, digits or hyphens.",
				},
			],
		);
		assert.deepEqual(
			await fieldsOf(ada, 'createBoard(input: {name: " "}) { board { id } }'),
			[
				{
					path: ["input", "name"],
					code: "REQUIRED",
					message: "Fill this in.",
				},
			],
		);
		assert.deepEqual(
			await fieldsOf(
				visitor,
				'createUser(input: {username: "ADA_made_up"}) { token }',
			),
			[
				{
					path: ["input", "username"],
					code: "TAKEN",
					message: "This username is taken. Choose another one.",
				},
			],
		);
		assert.equal(
			await fieldsOf(
				visitor,
				'createUser(input: {username: "ADA_made_up", email: "new@example.com"}) { token }',
			),
			undefined,
		);
	});

	it("what does not fit its type is said with all other problems of the input, as a literal, in a variable of the input and in one of a field", async () => {
		const fields = [
			{
				path: ["input", "username"],
				code: "REQUIRED",
				message: "Fill this in.",
			},
			{
				path: ["input", "bio"],
				code: "INVALID",
				type: "String",
				message: "This must be text.",
			},
			{
				path: ["input", "avatar", "url"],
				code: "REQUIRED",
				message: "Fill this in.",
			},
			{
				path: ["input", "avatar", "width"],
				code: "INVALID",
				type: "Int",
				message: "This must be a whole number.",
			},
			{
				path: ["input", "name"],
				code: "TOO_LONG",
				max: 100,
				message: "Use at most 100 characters.",
			},
			{
				path: ["input", "email"],
				code: "INVALID",
				message: "Give an e-mail address, such as ada@example.com.",
			},
		];
		const name = "x".repeat(101);
		const literal = await visitor.post(
			`mutation { createUser(input: {name: "${name}", email: "no", bio: 7, avatar: {width: "wide"}}) { token } }`,
		);
		const avatar = { width: "wide" };
		const variable = await visitor.post(
			"mutation ($input: CreateUserInput!) { createUser(input: $input) { token } }",
			{ variables: { input: { name, email: "no", bio: 7, avatar } } },
		);
		const parts = await visitor.post(
			`mutation ($bio: String, $avatar: ImageInput) {
				createUser(input: {name: "${name}", email: "no", bio: $bio, avatar: $avatar}) { token }
			}`,
			{ variables: { bio: 7, avatar } },
		);
		for (const [answer, code] of [
			[literal, "GRAPHQL_VALIDATION_FAILED"],
			[variable, "BAD_USER_INPUT"],
			[parts, "GRAPHQL_VALIDATION_FAILED"],
		] as const) {
			assert.equal(answer.errors?.[0]?.extensions.code, code);
			assert.deepEqual(answer.errors?.[0]?.extensions.fields, fields);
		}
		const missing = await visitor.post(
			"mutation ($input: CreateUserInput!) { createUser(input: $input) { token } }",
		);
		assert.deepEqual(missing.errors?.[0]?.extensions.fields, [
			{ path: ["input"], code: "REQUIRED", message: "Fill this in." },
		]);
		// An error of a document that has nothing to do with its input names no field.
		const unknown = await visitor.post(
			'mutation { createUser(input: {username: "ab"}) { nothing } }',
		);
		assert.equal(unknown.errors?.[0]?.extensions.fields, undefined);
	});

	it("an input of which exactly one field must be given is refused with none, two or null", async () => {
		for (const by of [
			"{}",
			'{id: "1", username: "ada_made_up"}',
			"{username: null}",
		]) {
			assert.equal(
				await visitor.code(`{ user(by: ${by}) { id } }`),
				"GRAPHQL_VALIDATION_FAILED",
				by,
			);
		}
		for (const by of [
			{},
			{ slug: "bread", id: "1" },
			{ slug: null },
			{ slug: "bread", id: null },
		]) {
			const { data, errors } = await visitor.post(
				"query ($by: InterestByInput!) { interest(by: $by) { id } }",
				{ variables: { by } },
			);
			assert.equal(data, undefined, JSON.stringify(by));
			assert.equal(errors?.[0]?.extensions.code, "BAD_USER_INPUT");
		}
	});

	it("a request without GraphQL or JSON, too large or to an unknown URL gets an error in the same format", async () => {
		const post = (body: string, type = "application/json") =>
			fetch(`${server.url}/graphql`, {
				method: "POST",
				headers: {
					"content-type": type,
					accept: "application/graphql-response+json",
				},
				body,
			});
		const tokens = `{ ${"a: __typename ".repeat(1_000)} }`;
		for (const [response, status, code] of [
			[await post('{"query":'), 400, "BAD_REQUEST"],
			[await post('{"query":"{ nope }"}'), 400, "GRAPHQL_VALIDATION_FAILED"],
			[await post('{"query":"{"}'), 400, "GRAPHQL_PARSE_FAILED"],
			[
				await post(JSON.stringify({ query: tokens })),
				400,
				"GRAPHQL_PARSE_FAILED",
			],
			[await post("{ viewer { id } }", "text/plain"), 415, "BAD_REQUEST"],
			[await post(`"${"x".repeat(1_000_001)}"`), 413, "BAD_REQUEST"],
			[await fetch(`${server.url}/nowhere`), 404, "NOT_FOUND"],
			[
				await fetch(`${server.url}/graphql`, { method: "DELETE" }),
				405,
				"BAD_REQUEST",
			],
		] as const) {
			assert.equal(response.status, status);
			const { errors, ...rest } = (await response.json()) as {
				errors: { message: string; extensions: { code: string } }[];
			};
			assert.deepEqual(rest, {});
			assert.equal(errors.length, 1);
			assert.equal(errors[0]?.extensions.code, code);
			assert.ok(errors[0]?.message);
		}
	});
});
