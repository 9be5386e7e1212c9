import { CorkboardError } from "../../src/errors.ts";
import type {
	Graph,
	Node,
	Page,
	PageArguments,
	PageFields,
} from "../../src/graph/types.ts";
import { type Id, packId, unpackId } from "../../src/id/ids.ts";
import type { Mapping, Model } from "../../src/model/types.ts";
import type { CallOptions } from "../../src/trace.ts";
import type { JsonObject } from "../../src/util/json.ts";
import { andThen, type MaybePromise } from "../../src/util/maybePromise.ts";

/**
 * A graph of arrays and Maps, for tests of the plan: lists have pages, objects
 * can be hidden or their hosts be down. Every call is written down, those of
 * one tick together, and like the loaders of the real one it answers all of a
 * tick at once.
 */
export class ListGraph implements Graph {
	readonly model: Model;
	readonly viewer: Id | null = null;
	/** The calls of each tick: `pages likePin 2`, `objects 3`. */
	readonly ticks: string[][] = [];
	/** The fields that each call of `readPages` asked for. */
	readonly pageFields: PageFields[] = [];
	readonly hidden = new Set<Id>();
	readonly down = new Set<Id>();
	/** Whether everything is in memory: then calls answer at once, and no tick is written down. */
	isInMemory = false;
	/** Answers wait for this besides, in tests of what comes late. */
	held: Promise<void> = Promise.resolve();
	/** Thrown by the next call. */
	bug: Error | null = null;
	readonly #objects = new Map<Id, Node>();
	readonly #lists = new Map<string, { to: Id; sequence: number }[]>();
	#tick: string[] | null = null;
	#local = 0;
	#sequence = 1_700_000_000_000_000;

	constructor(model: Model) {
		this.model = model;
	}

	add(type: string, data: JsonObject = {}): Id {
		const number = this.model.objects.get(type)?.number;
		if (number === undefined) throw new Error(`no type ${type}`);
		this.#local += 1;
		const id = packId({ shard: 1, type: number, local: this.#local });
		this.#objects.set(id, { id, type, data });
		return id;
	}

	/** The object is read anew, with other data. */
	change(id: Id, data: JsonObject): void {
		const { type } = this.#objects.get(id) as Node;
		this.#objects.set(id, { id, type, data });
	}

	/** Put an edge on top of a list. */
	link(mapping: string, from: Id, to: Id): void {
		const key = `${mapping} ${from}`;
		this.#sequence += 1_500_000;
		const list = this.#lists.get(key) ?? [];
		this.#lists.set(key, [{ to, sequence: this.#sequence }, ...list]);
	}

	readObjects(ids: readonly Id[], call?: CallOptions) {
		return andThen(this.#called(`objects ${ids.length}`, call, ids), () =>
			ids.map((id) => this.#see(id)),
		);
	}

	/** No query reads by these. */
	readStored(): never {
		throw new Error("nothing is read as stored");
	}

	readPublic(): never {
		throw new Error("nothing is read as a visitor sees it");
	}

	findByPrefix(): Node[] {
		return [];
	}

	longestLists(): Node[] {
		return [];
	}

	readPages(
		mapping: Mapping,
		froms: readonly Id[],
		page: PageArguments,
		call?: CallOptions,
	) {
		this.pageFields.push(page.fields);
		const what = `pages ${mapping.name} ${froms.length}`;
		return andThen(this.#called(what, call, froms), () =>
			froms.map((from) => this.#page(mapping, from, page)),
		);
	}

	hasEdges(): Promise<never> {
		throw new Error("the plan asks for no edge");
	}

	readEdges(): Promise<never> {
		throw new Error("the plan reads no edge");
	}

	readGroups(): Promise<never> {
		throw new Error("the plan reads no group");
	}

	lookUp(): Promise<never> {
		throw new Error("the plan looks nothing up");
	}

	#see(id: Id): Node | null | CorkboardError {
		if (this.down.has(id)) {
			return new CorkboardError("UNAVAILABLE", "The host does not answer.");
		}
		return this.hidden.has(id) ? null : (this.#objects.get(id) ?? null);
	}

	#page(
		mapping: Mapping,
		from: Id,
		{ first, last, after, before, fields }: PageArguments,
	): Page | CorkboardError {
		const list = this.#lists.get(`${mapping.name} ${from}`) ?? [];
		const seen = list.flatMap((edge) => {
			const node = this.#see(edge.to);
			return node === null ? [] : [{ ...edge, node }];
		});
		const place = (cursor: string | undefined, otherwise: number) =>
			cursor === undefined
				? otherwise
				: seen.findIndex(({ to }) => `at ${to}` === cursor);
		const start = place(after, -1) + 1;
		const end = place(before, seen.length);
		if ((after !== undefined && start === 0) || end < 0) {
			return new CorkboardError("BAD_USER_INPUT", "No cursor of this list.");
		}
		const range = seen.slice(start, end);
		const taken =
			last === undefined
				? range.slice(0, first)
				: range.slice(Math.max(0, range.length - last));
		const at = last === undefined ? start : end - taken.length;
		return {
			edges: fields.edges
				? taken.map(({ node, sequence, to }) => ({
						node,
						sequence,
						cursor: () => `at ${to}`,
					}))
				: [],
			nodes: fields.edges ? taken.map(({ node }) => node) : [],
			hasNextPage: at + taken.length < seen.length,
			hasPreviousPage: at > 0,
			startCursor: taken[0] ? `at ${taken[0].to}` : null,
			endCursor: taken.length > 0 ? `at ${taken.at(-1)?.to}` : null,
			totalCount: list.length,
		};
	}

	#called(
		what: string,
		call: CallOptions | undefined,
		ids: readonly Id[],
	): MaybePromise<void> {
		if (this.isInMemory) return;
		return this.#wait(what, call, ids);
	}

	async #wait(
		what: string,
		call: CallOptions | undefined,
		ids: readonly Id[],
	): Promise<void> {
		if (this.bug !== null) throw this.bug;
		if (this.#tick === null) {
			this.#tick = [];
			this.ticks.push(this.#tick);
		}
		this.#tick.push(what);
		call?.trace?.cache("process", 0, ids.length);
		call?.trace?.statement({
			name: what.startsWith("objects") ? "objects" : "edges",
			host: "memory",
			shard: unpackId(ids[0] as Id).shard,
			rows: ids.length,
			ms: 0.1,
		});
		await new Promise((resolve) => setImmediate(resolve));
		this.#tick = null;
		await this.held;
	}
}
