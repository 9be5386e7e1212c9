import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import type {
	ExplainOutput,
	ExplainStep,
} from "../../src/plan/explain/explainOutput.ts";
import { command } from "../helpers/runCommand.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { startWhole, type WholeServer } from "../helpers/wholeServer.ts";
import { startMysql } from "../services/mysql.ts";

const EXPLAIN = { "corkboard-explain": "1" };

interface Body {
	readonly data?: Readonly<Record<string, never>>;
	readonly extensions?: { readonly explain?: ExplainOutput };
}

/** Creates a user. */
async function signUp(
	server: WholeServer,
	username: string,
): Promise<{ readonly id: string; readonly token: string }> {
	const { text } = await server.ask({
		query: `mutation { createUser(input: {username: "${username}"}) { user { id } token } }`,
	});
	const { user, token } = JSON.parse(text).data.createUser;
	return { id: user.id, token };
}

/** What a client can compare: the status, the headers except time and request id, and the exact body. */
async function comparable(request: ReturnType<WholeServer["ask"]>) {
	const { response, text } = await request;
	const headers = [...response.headers].filter(
		([name]) => !["date", "x-request-id"].includes(name),
	);
	return { status: response.status, headers, text };
}

function all(steps: readonly ExplainStep[]): readonly ExplainStep[] {
	return steps.flatMap((step) => [step, ...all(step.steps)]);
}

/** A server on these databases, with new tables. */
async function startOn(
	database: "SQLite" | "MySQL",
): Promise<WholeServer & AsyncDisposable> {
	const development = { CORKBOARD_MODE: "development" };
	if (database === "SQLite") return startWhole(development);
	await using stack = new AsyncDisposableStack();
	const { url } = stack.use(await startMysql());
	const file = join(stack.use(temporaryFolder()).path, "topology.json");
	const range = { range: [0, 1], primary: url };
	const topology = {
		version: 1,
		shards: [{ ...range, open: true }],
		lookups: [range],
	};
	writeFileSync(file, JSON.stringify(topology));
	const env = {
		...development,
		CORKBOARD_TOPOLOGY: file,
		CORKBOARD_SECRET: "of the test of explain output at least 32 bytes",
	};
	const init = await command(["init"], { env, open: openCorkboard });
	assert.equal(init.code, 0, init.err);
	const server = stack.use(await startWhole(env));
	const resources = stack.move();
	return {
		...server,
		[Symbol.asyncDispose]: () => resources.disposeAsync(),
	};
}

for (const database of ["SQLite", "MySQL"] as const) {
	it(`explain output on ${database} contains no argument, stored value, id or token`, async () => {
		await using server = await startOn(database);
		const values: string[] = [];
		const value = (text: string) => {
			values.push(text);
			return text;
		};
		const outputs: ExplainOutput[] = [];
		let token = "";
		const ask = async (query: string, variables: object = {}) => {
			const { text } = await server.ask(
				{ query, variables },
				{
					...EXPLAIN,
					...(token === "" ? {} : { authorization: `Bearer ${token}` }),
				},
			);
			const { data, extensions } = JSON.parse(text) as Body;
			assert.ok(extensions?.explain, text);
			outputs.push(extensions.explain);
			return data as Readonly<Record<string, Readonly<Record<string, never>>>>;
		};
		const mutate = async (name: string, input: object, fields: string) => {
			const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
			const data = await ask(
				`mutation ($input: ${type}!) { ${name}(input: $input) { ${fields} } }`,
				{ input },
			);
			return data?.[name] as never;
		};
		const joined: { user: { id: string }; token: string } = await mutate(
			"createUser",
			{
				username: value("grace_made_up"),
				email: value("grace@hidden.example"),
				bio: value("A hidden bio"),
				website: value("https://hidden.example/grace"),
				idempotencyKey: value("key-of-grace-made-up"),
			},
			"user { id } token",
		);
		token = value(joined.token);
		// Fails: the address is taken.
		await mutate(
			"createUser",
			{ username: "other_made_up", email: "grace@hidden.example" },
			"user { id }",
		);
		await mutate(
			"updateUser",
			{ username: value("hopper_made_up"), name: value("Grace Made-Up") },
			"user { id }",
		);
		const { board }: { board: { id: string } } = await mutate(
			"createBoard",
			{ name: value("Secret compilers"), secret: true },
			"board { id }",
		);
		const { pin }: { pin: { id: string } } = await mutate(
			"createPin",
			{
				boardId: board.id,
				details: value("Hidden details"),
				link: value("https://hidden.example/pin"),
				interests: [value("moths-made-up")],
			},
			"pin { id }",
		);
		await mutate("likePin", { pinId: pin.id }, "pin { id }");
		await mutate(
			"addComment",
			{ pinId: pin.id, text: value("A hidden comment") },
			"comment { id }",
		);
		await ask(
			`{ user(by: {username: "hopper_made_up"}) { name email boards { edges { cursor node { name pins { nodes { details comments { nodes { text } } } } } } } }
				interest(by: {slug: "moths-made-up"}) { name pins { totalCount } }
				node(id: "${pin.id}") { id } viewer { likes { nodes { details } } } }`,
		);
		const text = JSON.stringify(outputs);
		for (const value of values) {
			assert.ok(!text.includes(value), `explain output contains ${value}`);
		}
		for (const { id } of [joined.user, board, pin]) {
			assert.ok(
				!text.includes(`"${id}"`),
				`explain output contains the id ${id}`,
			);
		}
		// The operations did write: natural keys were reserved and rows written.
		const steps = outputs.flatMap(({ steps }) => all(steps));
		const verbs = new Set(steps.flatMap(({ write }) => write?.verb ?? []));
		// On one MySQL server nothing is left to deliver.
		const delivered = database === "SQLite" ? ["outbox"] : [];
		assert.deepEqual(
			verbs,
			new Set(["transaction", "reservation", ...delivered]),
		);
		assert.ok(steps.some(({ errors }) => errors[0]?.code === "CONFLICT"));
		// Each statement has its text. Those on lookups, and only those, were on mod shards.
		const statements = outputs.flatMap(({ sql, steps }) =>
			all(steps).flatMap((step) =>
				step.statements.map((one) => ({ one, text: sql[one.sql ?? -1] })),
			),
		);
		for (const { one, text } of statements) {
			assert.ok(text, one.name);
			if (/^(?:begin|commit|rollback|takes writes)$/.test(one.name)) continue;
			assert.equal(one.onModShard ?? false, /\blookups\b/.test(text), text);
		}
		assert.ok(steps.some(({ modShards }) => modShards.length > 0));
		// An id may be spelled out as the number that it is, and a local id as a small one.
		for (const text of outputs.flatMap(({ sql }) => sql)) {
			assert.doesNotMatch(text, /(?<!× )\b\d+\b(?! AS [a-z])/);
		}
	});
}

describe("explain output", () => {
	for (const mode of ["development", "production"] as const) {
		it(`is sent only on request to those who may see it, and changes nothing else of the response: ${mode}`, async () => {
			await using server = await startWhole({
				CORKBOARD_MODE: mode,
				CORKBOARD_OPERATORS: "roles=operator",
			});
			const ada = await signUp(server, "ada_made_up");
			const ben = await signUp(server, "ben_made_up");
			const follow = `mutation { followUser(input: {userId: "${ben.id}"}) { user { followers { nodes { username } } } } }`;
			const expensive =
				"{ interests(first: 100) { nodes { pins(first: 100) { nodes { likedBy(first: 100) { nodes { id } } } } } } }";
			const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
			const requests: readonly (readonly [unknown, Record<string, string>])[] =
				[
					[{ query: '{ user(by: {username: "ada_made_up"}) { name } }' }, {}],
					[{ query: "{ viewer { username } }" }, bearer(ada.token)],
					[{ query: follow }, bearer(ada.token)],
					[{ query: follow }, bearer(ben.token)],
					[{ query: expensive }, bearer(ada.token)],
					[{ query: "{ nothing }" }, bearer(ada.token)],
					[{ query: "{ viewer { username } }" }, bearer("forged")],
					["{", {}],
				];
			// Twice: the state of the caches must not show.
			for (const [body, headers] of [...requests, ...requests]) {
				const plain = await comparable(server.ask(body, headers));
				const asking = await comparable(
					server.ask(body, { ...headers, ...EXPLAIN }),
				);
				if (mode === "production") {
					assert.deepEqual(asking, plain);
				} else {
					const { extensions: _, ...rest } = JSON.parse(asking.text);
					assert.deepEqual(rest, JSON.parse(plain.text));
					assert.equal(asking.status, plain.status);
				}
				assert.equal(JSON.parse(plain.text).extensions, undefined);
			}
		});
	}
});
