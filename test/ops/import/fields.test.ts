import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { parse } from "graphql";
import pinsApp from "../../../pins/app.ts";
import {
	type Corkboard,
	openCorkboard,
} from "../../../src/app/openCorkboard.ts";
import { readConfig } from "../../../src/config/config.ts";
import type { Id } from "../../../src/id/ids.ts";
import type { JsonObject, JsonValue } from "../../../src/util/json.ts";
import { importAll } from "../../helpers/importing.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

/** What both ways are given beside the fields: whose the new object is, and on what. */
interface Ways {
	readonly mutation: string;
	readonly input: (around: Around) => JsonObject;
	readonly type: string;
	readonly references: JsonObject;
	readonly fields: Readonly<Record<string, fc.Arbitrary<JsonValue>>>;
}

/** The same three things, made by an import: what mutations call by ids, lines call by keys. */
interface Around {
	readonly user: Id;
	readonly board: Id;
	readonly pin: Id;
}

const SPACE = fc.constantFrom("", "", " ", "\n", "\u00a0 ", "\ufeff");
const padded = (text: fc.Arbitrary<string>) =>
	fc.tuple(SPACE, text, SPACE).map((parts) => parts.join(""));
const odd = fc.constantFrom<JsonValue>(7, true, null, [], {}, ["a"]);

/** Around a limit; and whatever else somebody may send. */
function textOf(max: number): fc.Arbitrary<JsonValue> {
	return fc.oneof(
		padded(fc.string({ unit: "binary", maxLength: 12 })),
		padded(fc.constantFrom("", "a\0b", "\ud83c", "a\ud800b")),
		padded(
			fc
				.tuple(fc.constantFrom("n", "é", "🍞"), fc.integer({ min: -1, max: 1 }))
				.map(([one, more]) => one.repeat(max + more)),
		),
		odd,
	);
}

const webAddress: fc.Arbitrary<JsonValue> = fc.oneof(
	padded(fc.webUrl({ withFragments: true, withQueryParameters: true })),
	padded(
		fc.constantFrom(
			"ftp://example.com",
			"javascript:alert(1)",
			"http:example.com",
			"https://exa mple.com",
			"https://[::1",
			"//example.com",
			"HTTP://EXAMPLE.com:8080",
		),
	),
	fc
		.integer({ min: 2_027, max: 2_029 })
		.map((length) => `https://example.com/${"a".repeat(length)}`),
	textOf(20),
);

const username: fc.Arbitrary<JsonValue> = fc.oneof(
	fc.stringMatching(/^[A-Za-z0-9_]{1,32}$/),
	padded(fc.stringMatching(/^[a-z]{3,8}$/)),
	textOf(30),
);

const email: fc.Arbitrary<JsonValue> = fc.oneof(
	padded(fc.emailAddress()),
	fc.integer({ min: 251, max: 254 }).map((length) => `${"a".repeat(length)}@b`),
	padded(fc.constantFrom("a@b@c", "a b@c", "a@", "@")),
	textOf(254),
);

/** What JSON can spell: a line with any other number would say `null`. */
const number = fc.double({ noNaN: true, noDefaultInfinity: true });

const image: fc.Arbitrary<JsonValue> = fc.oneof(
	fc.record(
		{
			url: webAddress,
			width: fc.oneof(fc.integer(), fc.constant(2 ** 31), number, odd),
			height: fc.oneof(fc.integer({ min: 1, max: 4_000 }), odd),
			alt: textOf(500),
		},
		{ requiredKeys: [] },
	) as fc.Arbitrary<JsonObject>,
	fc.record({
		url: fc.constant("https://example.com/a.jpg"),
		width: fc.integer({ min: -1, max: 3 }),
	}) as fc.Arbitrary<JsonObject>,
	fc.constant({ url: "https://example.com/a.jpg", depth: 3 }),
	odd,
);

const flag = fc.oneof(
	fc.boolean(),
	fc.constantFrom<JsonValue>(null, "true", 1),
);

const WAYS: readonly Ways[] = [
	{
		mutation: "createUser",
		input: () => ({}),
		type: "User",
		references: {},
		fields: {
			username,
			name: textOf(100),
			email,
			bio: textOf(500),
			website: webAddress,
			avatar: image,
		},
	},
	{
		mutation: "createBoard",
		input: () => ({}),
		type: "Board",
		references: { owner: "u:1" },
		fields: {
			name: textOf(100),
			description: textOf(500),
			cover: image,
			secret: flag,
		},
	},
	{
		mutation: "createPin",
		input: ({ board }) => ({ boardId: board }),
		type: "Pin",
		references: { board: "b:1" },
		fields: {
			title: textOf(100),
			details: textOf(1_000),
			link: webAddress,
			image,
		},
	},
	{
		mutation: "addComment",
		input: ({ pin }) => ({ pinId: pin }),
		type: "Comment",
		references: { author: "u:1", pin: "p:1" },
		fields: { text: textOf(2_000) },
	},
];

/** Fields of which most are as they should be: else one fault would hide what becomes of the others. */
function someOf(fields: Ways["fields"]): fc.Arbitrary<JsonObject> {
	const good: Readonly<Record<string, string>> = {
		username: "ada_made_up",
		name: "Name",
		text: "Text",
	};
	return fc
		.uniqueArray(fc.constantFrom(...Object.keys(fields)), { maxLength: 2 })
		.chain((wild) =>
			fc.record(
				Object.fromEntries(
					Object.entries(fields).filter(([field]) => wild.includes(field)),
				),
			),
		)
		.map((given) => ({
			...Object.fromEntries(
				Object.entries(good).filter(([field]) => Object.hasOwn(fields, field)),
			),
			...(given as JsonObject),
		}));
}

describe("what a mutation takes and what an import takes", () => {
	const folder = temporaryFolder();
	let corkboard: Corkboard;
	let around: Around;
	let lines = 0;
	before(async () => {
		corkboard = await openCorkboard(
			pinsApp,
			readConfig({ CORKBOARD_DATA: folder.path, CORKBOARD_DEMO: "off" }),
			"readWrite",
		);
		await corkboard.admin.createTables();
		const { bad } = await importAll(corkboard, [
			{ type: "User", key: "u:1", fields: { username: "one", name: "One" } },
			{ type: "Board", key: "b:1", fields: { owner: "u:1", name: "One" } },
			{ type: "Pin", key: "p:1", fields: { board: "b:1" } },
		]);
		assert.deepEqual(bad, []);
		const [user, board, pin] = await Promise.all(
			["u:1", "b:1", "p:1"].map((key) => holderOf("import", key)),
		);
		around = { user, board, pin } as Around;
	});
	after(async () => {
		await corkboard[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	async function holderOf(name: string, key: string): Promise<Id | null> {
		const [row] = await corkboard.storage.read("lookups", [{ name, key }]);
		assert.ok(!(row instanceof Error));
		return row?.id ?? null;
	}

	/** What is stored of it, without what only this one has. Its natural keys are freed, so that the next one can have them. */
	async function taken(type: string, id: Id): Promise<JsonObject> {
		const [text] = await corkboard.storage.read("objects", [id]);
		const { tokens, created_at, ...content } = JSON.parse(String(text));
		for (const [name, token] of Object.entries(tokens ?? {})) {
			const key = String(content[name]).toLowerCase();
			for (const spelled of [key, String(content[name])]) {
				await corkboard.store.storage.compareAndSetLookups([
					{
						name,
						key: spelled,
						expect: { id, token: String(token) },
						next: null,
					},
				]);
			}
		}
		const { stored = [] } = corkboard.model.objects.get(type) ?? {};
		return {
			...Object.fromEntries(stored.map((field) => [field.key, field.default])),
			...content,
		};
	}

	/** What a mutation stored; null if it refused. */
	async function mutated(way: Ways, fields: JsonObject) {
		const { mutation, type } = way;
		const field = type.toLowerCase();
		const name = `${mutation[0]?.toUpperCase()}${mutation.slice(1)}Input`;
		const result = await corkboard.planner.execute({
			document: parse(
				`mutation ($input: ${name}!) { ${mutation}(input: $input) { ${field} { id } } }`,
			),
			variables: { input: { ...fields, ...way.input(around) } },
			context: corkboard.createContext(around.user),
		});
		const { data, errors } = result as {
			data?: Record<string, Record<string, { id: Id }> | null> | null;
			errors?: readonly { extensions: { code?: unknown } }[];
		};
		const [error] = errors ?? [];
		if (error !== undefined) {
			assert.equal(error.extensions.code, "BAD_USER_INPUT", String(error));
			return null;
		}
		return taken(type, data?.[mutation]?.[field]?.id as Id);
	}

	/** What a line stored; null if it was bad. */
	async function imported({ type, references }: Ways, fields: JsonObject) {
		const key = `line ${++lines}`;
		const { report, bad } = await importAll(corkboard, [
			{ type, key, fields: { ...fields, ...references } },
		]);
		assert.equal(report.bad, bad.length);
		if (report.bad > 0) return null;
		return taken(type, (await holderOf("import", key)) as Id);
	}

	for (const way of WAYS) {
		it(`is the same, and stored alike: ${way.mutation}`, async () => {
			let refused = 0;
			let stored = 0;
			await fc.assert(
				fc.asyncProperty(someOf(way.fields), async (fields) => {
					const [one, other] = [
						await mutated(way, fields),
						await imported(way, fields),
					];
					assert.deepEqual(other, one);
					if (one === null) refused++;
					else stored++;
				}),
				{ numRuns: 150 },
			);
			assert.ok(refused > 10, `expected refusals but got: ${refused}`);
			assert.ok(stored > 10, `expected objects but got: ${stored}`);
		});
	}
});
