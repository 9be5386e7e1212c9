import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { ReadKind, Storage } from "../../src/storage/storage.ts";
import { startWhole, type WholeServer } from "../helpers/wholeServer.ts";

const MESSAGE = "Cannot read properties of undefined (reading 'hunter2')";

interface Body {
	readonly data: Readonly<Record<string, unknown>> | null;
	readonly errors: readonly {
		readonly message: string;
		readonly path?: readonly string[];
		readonly extensions: Readonly<Record<string, unknown>>;
	}[];
}

/** Methods of the storage port that throw an unexpected error. */
type Broken = Partial<Pick<Storage, "read" | "transact">>;

const rejects = async (): Promise<never> => {
	throw new TypeError(MESSAGE);
};
const throws = (): never => {
	throw new TypeError(MESSAGE);
};

describe("an unexpected error in storage", () => {
	let server: WholeServer;
	let token: string;
	let id: string;
	before(async () => {
		server = await startWhole({ CORKBOARD_MODE: "development" });
		const { text } = await server.ask({
			query:
				'mutation { createUser(input: {username: "ada_made_up"}) { user { id } token } }',
		});
		({
			user: { id },
			token,
		} = JSON.parse(text).data.createUser);
		// The sender is then known without a read of the shard.
		await server.ask(
			{ query: "{ viewer { username } }" },
			{ authorization: `Bearer ${token}` },
		);
	});
	after(() => server[Symbol.asyncDispose]());

	/** Sends a query while these methods are broken. */
	async function broken(verbs: Broken, query: string) {
		const { storage } = server;
		Object.assign(storage, verbs);
		try {
			return await server.ask(
				{ query },
				{ authorization: `Bearer ${token}`, "corkboard-explain": "1" },
			);
		} finally {
			for (const verb of Object.keys(verbs)) {
				Reflect.deleteProperty(storage, verb);
			}
		}
	}

	function breaking(kind: ReadKind, body: () => never | Promise<never>) {
		return function (this: Storage, ...call: Parameters<Storage["read"]>) {
			const { read } = Object.getPrototypeOf(this) as Storage;
			return call[0] === kind ? body() : read.apply(this, call);
		} as Storage["read"];
	}

	const cases: readonly (readonly [string, Broken, string, string])[] = [
		[
			"a read that rejects",
			{ read: breaking("objects", rejects) },
			"node",
			'{ node(id: "ID") { id } viewer { username } }',
		],
		[
			"a scan that throws synchronously",
			{ read: breaking("lists", throws) },
			"interests",
			"{ interests { totalCount } viewer { username } }",
		],
		[
			"a transaction that rejects",
			{ transact: rejects },
			"createBoard",
			'mutation { createBoard(input: {name: "Kitchens"}) { board { id } } }',
		],
	];
	for (const [what, verbs, field, query] of cases) {
		it(`becomes INTERNAL at its field with an errorId, and only the log has the message: ${what}`, async () => {
			const unknown = (BigInt(id) + 1_000n).toString();
			const { response, text } = await broken(
				verbs,
				query.replace("ID", unknown),
			);
			assert.equal(response.status, 200);
			const { data, errors } = JSON.parse(text) as Body;
			assert.equal(data?.[field], null);
			const [error, ...others] = errors;
			assert.deepEqual(others, []);
			assert.deepEqual(
				[error?.message, error?.path, Object.keys(error?.extensions ?? {})],
				["Something went wrong on our side.", [field], ["code", "errorId"]],
			);
			assert.equal(error?.extensions.code, "INTERNAL");
			assert.doesNotMatch(text, /hunter2|TypeError|Cannot read|\.ts\b|stack/);

			const logged = server.lines.filter(
				({ errorId }) => errorId === error?.extensions.errorId,
			);
			assert.equal(logged.length, 1);
			assert.match(JSON.stringify(logged[0]), /TypeError/);
			assert.ok(JSON.stringify(logged[0]).includes("hunter2"));
		});
	}

	it("harms no later request", async () => {
		const { text } = await server.ask(
			{ query: "{ viewer { username } }" },
			{ authorization: `Bearer ${token}` },
		);
		assert.deepEqual(JSON.parse(text), {
			data: { viewer: { username: "ada_made_up" } },
		});
	});
});
