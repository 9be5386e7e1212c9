import assert from "node:assert/strict";
import { Readable } from "node:stream";
import { after, before, describe, it } from "node:test";
import { getNamedType, isLeafType, isObjectType, parse } from "graphql";
import pinsApp from "../../../pins/app.ts";
import {
	type Corkboard,
	openCorkboard,
} from "../../../src/app/openCorkboard.ts";
import { readConfig } from "../../../src/config/config.ts";
import type { Id } from "../../../src/id/ids.ts";
import { keyFields } from "../../../src/model/types.ts";
import { importLines } from "../../../src/ops/import/importLines.ts";
import { verify } from "../../../src/ops/verify/verify.ts";
import type { JsonObject } from "../../../src/util/json.ts";
import { seededRandom } from "../../../src/util/random.ts";
import { idOf } from "../../helpers/importedGraph.ts";
import { importAll } from "../../helpers/importing.ts";
import { theFieldReaders } from "../../helpers/model.ts";
import { temporaryFolder } from "../../helpers/temporaryFolder.ts";

const deep = (levels: number) => "[".repeat(levels) + "]".repeat(levels);

/** Values as JSON, of which most belong in no field. */
const ODD: readonly string[] = [
	...[
		"null",
		"true",
		"7",
		"-1",
		"1.5",
		"1e999",
		"9007199254740993",
		'""',
		"[]",
	],
	...['{"toString":1}', '{"__proto__":{"url":1}}', '["User"]', '"a\\u0000b"'],
	...['"\\ud800"', '"\\u001b[31mred"', '"\\u202eabc"', deep(50), deep(20_000)],
	...['{"url":"https://example.com/a.png","width":3}', '"https://example.com"'],
	`{"url":${deep(20_000)}}`,
	JSON.stringify("x".repeat(5_000)),
	...[
		"-000720-01-01T00:00:00.000Z",
		"+275760-09-13T00:00:00.000Z",
		"+010000-01-01T00:00:00.000Z",
		"-000001-12-31T23:59:59.999Z",
		"0000-01-01T00:00:00.000Z",
		"9999-12-31T23:59:59.999Z",
		"2038-01-19T03:14:08.000Z",
		"2016-02-29T00:00:00.000Z",
		"2016-02-30T00:00:00.000Z",
		"2016-05-04T10:00:00Z",
		"2016-05-04T24:00:00.000Z",
		"2016-12-31T23:59:60.000Z",
		"2016-05-04 10:00:00",
	].map((date) => JSON.stringify(date)),
];

interface JsonField {
	readonly field: string;
	readonly json: string;
}

/** A line that is good as it is. */
const GOOD: Readonly<Record<string, (n: number) => JsonObject>> = {
	User: (n) => ({ username: `user_${n}`, name: "Name" }),
	Board: () => ({ owner: "u:1", name: "Board" }),
	Section: () => ({ board: "b:1", name: "Section" }),
	Pin: () => ({ board: "b:1", details: "Zoë 🐙" }),
	Comment: () => ({ author: "u:1", pin: "p:1", text: "Text" }),
	Interest: (n) => ({ slug: `interest-${n}`, name: "Interest" }),
};
const TYPES = Object.keys(GOOD);

const BASE = [
	{ type: "User", key: "u:1", fields: { username: "one", name: "One" } },
	{ type: "Board", key: "b:1", fields: { owner: "u:1", name: "One" } },
	{ type: "Pin", key: "p:1", fields: { board: "b:1" } },
];

describe("an import, whatever its lines are", () => {
	const folder = temporaryFolder();
	let corkboard: Corkboard;
	before(async () => {
		corkboard = await openCorkboard(
			pinsApp,
			readConfig({ CORKBOARD_DATA: folder.path, CORKBOARD_DEMO: "off" }),
			"readWrite",
		);
		await corkboard.admin.createTables();
		assert.deepEqual((await importAll(corkboard, BASE)).bad, []);
	});
	after(async () => {
		await corkboard[Symbol.asyncDispose]();
		folder[Symbol.dispose]();
	});

	/** The fields that are stored of a type, and are plain. */
	function storedFields(type: string): readonly string[] {
		const found = corkboard.model.objects.get(type);
		return [...(found?.stored ?? []), ...(found ? keyFields(found) : [])].map(
			({ field }) => field,
		);
	}

	/** An object of a type with an odd value in a field, as text: JSON.stringify would not write all of them. */
	function oddLine(type: string, n: number, odd: JsonField): string {
		const fields = new Map(
			Object.entries(GOOD[type]?.(n) ?? {}).map(([name, value]) => [
				name,
				JSON.stringify(value),
			]),
		);
		fields.set(odd.field, odd.json);
		const members = [...fields].map(([name, value]) => `"${name}":${value}`);
		return `{"type":"${type}","key":"odd:${n}","fields":{${members.join(",")}}}`;
	}

	/** Every field of the type without arguments that is plain, and the plain fields of such objects as images. */
	function plainFields(type: string, depth = 1): string {
		const found = corkboard.schema.getType(type);
		assert.ok(isObjectType(found));
		return Object.values(found.getFields())
			.filter(({ args }) => args.length === 0)
			.flatMap(({ name, type }) => {
				const named = getNamedType(type);
				if (isLeafType(named)) return [name];
				const isPlain =
					depth > 0 &&
					isObjectType(named) &&
					!corkboard.model.objects.has(named.name) &&
					!named.name.endsWith("Connection");
				const inside = isPlain ? plainFields(named.name, depth - 1) : "";
				return inside === "" ? [] : [`${name} { ${inside} }`];
			})
			.join(" ");
	}

	it("takes no value that the API cannot give out or that verify calls damage", async () => {
		const lines = TYPES.flatMap((type) =>
			storedFields(type).flatMap((field) =>
				ODD.map((json) => ({ type, field, json })),
			),
		).map(({ type, ...odd }, n) => ({
			type,
			field: odd.field,
			key: `odd:${n}`,
			text: oddLine(type, n, odd),
		}));
		const { report } = await importAll(
			corkboard,
			lines.map(({ text }) => text),
		);
		assert.equal(report.lines, lines.length);
		assert.ok(report.bad > 100, `${report.bad} of ${lines.length} were bad`);
		let shown = 0;
		for (const type of TYPES) {
			const stored: { readonly id: Id; readonly field: string }[] = [];
			for (const { key, field, ...line } of lines) {
				const id = line.type === type ? await idOf(corkboard, key) : null;
				if (id !== null) stored.push({ id, field });
			}
			assert.ok(stored.length > 10, `${stored.length} of ${type} were stored`);
			const document = parse(
				`query ($ids: [ID!]!) { nodes(ids: $ids) { ... on ${type} { ${plainFields(type)} } } }`,
			);
			for (let at = 0; at < stored.length; at += 50) {
				const some = stored.slice(at, at + 50);
				const { data, errors } = await corkboard.planner.execute({
					document,
					variables: { ids: some.map(({ id }) => id) },
					context: corkboard.createContext(await idOf(corkboard, "u:1")),
				});
				assert.deepEqual(errors ?? [], []);
				const { nodes } = data as { nodes: readonly (JsonObject | null)[] };
				const hidden = some.filter((_, n) => nodes[n] === null);
				// Nobody sees a deactivated user.
				assert.ok(
					hidden.every(({ field }) => field === "deactivatedAt"),
					JSON.stringify(hidden),
				);
				shown += some.length;
			}
		}
		assert.ok(shown > 150, `${shown} objects were shown`);
		const { damage } = await verify(corkboard.store);
		assert.deepEqual(damage, []);
	});

	it("counts each of 100,000 odd lines once: as imported, existing, or bad with its number", async () => {
		const LINES = 100_000;
		const { integer, pick } = seededRandom(44);
		const below = (end: number) => integer(0, end - 1);
		const seeds = [
			...BASE.map((line) => JSON.stringify(line)),
			'{"edge":"followUser","from":"u:1","to":"u:2"}',
			'{"edge":"likePin","from":"u:1","to":"p:1"}',
		].map((line) => Buffer.from(line));
		const inserted = ["\x1b[2J", "\r", "\0", '"', "{", "\ufeff", "\ud83d", "é"]
			.map((text) => Buffer.from(text))
			.concat(Buffer.from([0xff]), Buffer.from([0xc3]), Buffer.from([0x80]));
		let rare = 0;
		function oddBytes(): Buffer {
			// Long values are few: this is about many lines.
			const odd = () =>
				++rare % 500 === 0
					? pick(ODD)
					: pick(ODD.filter((one) => one.length < 200));
			const kind = below(4);
			if (kind === 0) {
				const type = pick(TYPES);
				const field = pick(storedFields(type));
				return Buffer.from(oddLine(type, below(50), { field, json: odd() }));
			}
			if (kind === 1) {
				const member = pick([
					"type",
					"key",
					"fields",
					"edge",
					"from",
					"__proto__",
				]);
				return Buffer.from(`{"type":"User","${member}":${odd()}}`);
			}
			const line = Buffer.from(pick(seeds));
			for (let n = below(4); n >= 0; n--) {
				line[below(line.length)] = below(256);
			}
			const at = below(line.length);
			return kind === 2
				? line
				: Buffer.concat([
						line.subarray(0, at),
						pick(inserted),
						line.subarray(at),
					]);
		}
		const lineFeed = Buffer.from("\n");
		// No byte but the last is the end of a line, and no line is blank.
		const texts = Array.from({ length: LINES }, () => {
			const bytes = oddBytes().map((byte) => (byte === 0x0a ? 0x20 : byte));
			return Buffer.concat([bytes, lineFeed]);
		});
		const chunks: Buffer[] = [];
		for (let at = 0; at < texts.length; at += 1_000) {
			chunks.push(Buffer.concat(texts.slice(at, at + 1_000)));
		}
		const numbers: number[] = [];
		const report = await importLines(corkboard.store, Readable.from(chunks), {
			fields: theFieldReaders(),
			onBadLine(number, reason) {
				assert.ok(reason.length < 1_000, reason);
				numbers.push(number);
			},
		});
		assert.equal(report.status, "finished");
		assert.equal(report.lines, LINES);
		assert.equal(new Set(numbers).size, report.bad);
		assert.ok(numbers.every((number) => number >= 1 && number <= LINES));
		const created = [report.objects, report.edges]
			.flatMap((counts) => Object.values(counts))
			.reduce((total, count) => total + count, 0);
		assert.equal(created + report.existing + report.bad, LINES);
		assert.ok(created + report.existing > 1_000);
		assert.deepEqual((await verify(corkboard.store)).damage, []);
	});
});
