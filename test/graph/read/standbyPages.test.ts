import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import { CorkboardError } from "../../../src/errors.ts";
import { scanInOneEpoch } from "../../../src/graph/read/scanInOneEpoch.ts";
import { Store } from "../../../src/graph/store/store.ts";
import { appendEdges } from "../../../src/graph/write/appendEdges.ts";
import { WritePipeline } from "../../../src/graph/write/pipeline.ts";
import { createCursorCodec } from "../../../src/id/cursorCodec.ts";
import type { Id } from "../../../src/id/ids.ts";
import type { Mapping } from "../../../src/model/types.ts";
import { hasSeenAll } from "../../../src/storage/mysql/standbyReads.ts";
import type { Position, Scan, ScanResult } from "../../../src/storage/rows.ts";
import type { Storage } from "../../../src/storage/storage.ts";
import { type Embedded, openEmbedded } from "../../helpers/embedded.ts";
import { theModel } from "../../helpers/model.ts";
import { sharedHeads } from "../../helpers/pagingWorld.ts";
import { readsWith, storageWith } from "../../helpers/storageWith.ts";
import { good, listOf } from "../../helpers/storing.ts";

type Step =
	| { readonly do: "chunk"; readonly size: number }
	| { readonly do: "replicate"; readonly commits: number }
	| { readonly do: "switch"; readonly to: "primary" | "standby" }
	| { readonly do: "page"; readonly process: number; readonly reader: number }
	| { readonly do: "restart"; readonly reader: number }
	/** At once. */
	| {
			readonly do: "pageDuringChunk";
			readonly process: number;
			readonly reader: number;
			readonly size: number;
	  };

const PROCESS = fc.nat(1);
const READER = fc.nat(2);
const SIZE = fc.integer({ min: 1, max: 5 });
const STEPS: fc.Arbitrary<readonly Step[]> = fc.array(
	fc.oneof(
		fc.record({ do: fc.constant("chunk" as const), size: SIZE }),
		fc.record({ do: fc.constant("replicate" as const), commits: SIZE }),
		fc.record({
			do: fc.constant("switch" as const),
			to: fc.constantFrom("primary" as const, "standby" as const),
		}),
		fc.record({
			do: fc.constant("page" as const),
			process: PROCESS,
			reader: READER,
		}),
		fc.record({
			do: fc.constant("page" as const),
			process: PROCESS,
			reader: READER,
		}),
		fc.record({ do: fc.constant("restart" as const), reader: READER }),
		fc.record({
			do: fc.constant("pageDuringChunk" as const),
			process: PROCESS,
			reader: READER,
			size: SIZE,
		}),
	),
	{ minLength: 10, maxLength: 50 },
);

const PAGE = 3;

/** A page that continues within a head makes a deeper one be read, from a standby that has less. */
const DEEPER_HEAD: Step[] = [
	{ do: "chunk", size: 1 },
	{ do: "replicate", commits: 1 },
	{ do: "chunk", size: 4 },
	{ do: "page", process: 0, reader: 2 },
	{ do: "switch", to: "standby" },
	{ do: "page", process: 0, reader: 2 },
];

/** docs/consistency.md, "9. Standby reads". */
describe("pages of a list that grows, from a primary and a standby that is behind", () => {
	let graph: Embedded;
	let mapping: Mapping;
	let pins: readonly Id[];
	let users = 0;

	before(async () => {
		graph = await openEmbedded();
		mapping = graph.mapping("showPin");
		const owner = await newUser();
		const board = await graph.writes.create({
			type: "Board",
			data: { owner, name: "Pins" },
		});
		pins = await Promise.all(
			Array.from({ length: 60 }, () =>
				graph.writes.create({
					type: "Pin",
					data: { owner, board, image: { url: "https://example.com/a" } },
				}),
			),
		);
	});
	after(() => graph[Symbol.asyncDispose]());

	const newUser = () =>
		graph.writes.create({
			type: "User",
			data: { username: `reader_${users++}` },
		});

	it("skip and repeat nothing, and leave nothing stale in any cache, in random interleavings", async () => {
		let served = 0;
		let refused = 0;
		await fc.assert(
			fc.asyncProperty(STEPS, async (steps) => {
				const from = await newUser();
				/** What the primary had after each commit. */
				const states: ScanResult[] = [await whole(graph.storage, from)];
				let applied = 0;
				let isSwitched = false;
				const redis = sharedHeads();
				const stores: Store[] = [];
				const storage = withStandby(graph.storage, (scan) => {
					if (!isSwitched || !scan.mayBeStale || scan.from !== from)
						return null;
					const result = scanState(states[applied] as ScanResult, scan);
					if (!hasSeenAll(scan, result)) {
						refused += 1;
						return new CorkboardError("UNAVAILABLE", "It is behind.");
					}
					served += 1;
					return { ...result, isStale: true };
				});
				const { model, domain } = theModel();
				for (let n = 0; n < 2; n++) {
					const store = new Store({
						model,
						domain,
						storage,
						cursors: createCursorCodec(Buffer.alloc(32, 1)),
						cacheBytes: 1_000_000,
						shared: {
							objects: null,
							heads: redis.cache,
							async publish(keys) {
								for (const other of stores)
									other.caches.applyInvalidations(keys);
								return true;
							},
							publishBehindDeletes: () => null,
							untilPublished: async () => true,
							generationOf: () => 0,
						},
					});
					stores.push(store);
				}
				let next = 0;
				const addChunk = async (size: number) => {
					const some = pins.slice(next, next + size);
					next += size;
					const pipeline = new WritePipeline(stores[0] as Store);
					await appendEdges(pipeline, mapping, from, some);
					states.push(await whole(graph.storage, from));
				};
				/** What each reader has seen, over pages. */
				const sessions: Position[][] = [[], [], []];
				const seen: Position[][] = [...sessions];
				const page = async (process: number, reader: number) => {
					const session = sessions[reader] as Position[];
					const last = session.at(-1);
					const [result] = await scanInOneEpoch(
						stores[process] as Store,
						[
							{
								mapping,
								from,
								backward: false,
								limit: PAGE,
								...(last && { after: { ...last, epoch: 0 } }),
							},
						],
						undefined,
					);
					// Nobody answers with what this reader has seen: it asks again later.
					if (result instanceof CorkboardError) return;
					session.push(...good(result).edges);
				};
				for (const step of steps) {
					if (step.do === "chunk") await addChunk(step.size);
					if (step.do === "replicate") {
						applied = Math.min(states.length - 1, applied + step.commits);
					}
					if (step.do === "switch") isSwitched = step.to === "standby";
					if (step.do === "page") await page(step.process, step.reader);
					if (step.do === "restart") {
						const session: Position[] = [];
						sessions[step.reader] = session;
						seen.push(session);
					}
					if (step.do === "pageDuringChunk") {
						await Promise.all([
							page(step.process, step.reader),
							addChunk(step.size),
						]);
					}
				}
				const list = await listOf(graph.storage, mapping, from);
				for (const session of seen) {
					const start = list.tos.indexOf(session[0]?.to as Id);
					assert.deepEqual(
						session.map(({ to }) => to),
						session.length === 0
							? []
							: list.tos.slice(start, start + session.length),
					);
				}
				// In the process, and in Redis as a process finds it that has nothing yet.
				isSwitched = false;
				for (const store of stores) {
					const head = store.cachedHead(mapping, from);
					if (head === undefined) continue;
					assert.equal(head.count, list.count);
					assert.deepEqual(
						head.slice().map(({ to }) => to),
						list.tos.slice(0, head.size),
					);
					store.caches.invalidateAll();
				}
				const [head] = await (stores[1] as Store).readHeads(
					[{ mapping, from }],
					4,
				);
				assert.ok(head !== undefined && !(head instanceof CorkboardError));
				assert.equal(head.count, list.count);
				assert.deepEqual(
					head.slice().map(({ to }) => to),
					list.tos.slice(0, head.size),
				);
			}),
			{ numRuns: 60, examples: [[DEEPER_HEAD]] },
		);
		assert.ok(served > 0 && refused > 0, `${served} ${refused}`);
	});

	async function whole(storage: Storage, from: Id): Promise<ScanResult> {
		const [all] = await storage.read("lists", [
			{ mapping, from, backward: false, limit: 1_000 },
		]);
		return good(all);
	}
});

/** As a list that was newest first in that state answers the scan. */
function scanState({ edges, list }: ScanResult, scan: Scan): ScanResult {
	const { after, before, backward, limit } = scan;
	const some = edges.filter(
		(edge) =>
			(after === undefined || edge.sequence < after.sequence) &&
			(before === undefined || edge.sequence > before.sequence),
	);
	if (backward) some.reverse();
	return { edges: some.slice(0, limit), list };
}

/** Scans that `answer` leaves are answered by the storage. */
function withStandby(
	storage: Storage,
	answer: (scan: Scan) => ScanResult | CorkboardError | null,
): Storage {
	const read = readsWith(storage, {
		async lists(scans) {
			const answers = scans.map(answer);
			const read = await storage.read("lists", scans);
			return answers.map((one, at) => one ?? (read[at] as ScanResult));
		},
	});
	return storageWith(storage, { read });
}
