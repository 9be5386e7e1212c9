import { CorkboardError } from "../../src/errors.ts";
import type {
	EdgeEnds,
	Graph,
	NewObject,
	Node,
	Page,
	PageArguments,
	Writes,
} from "../../src/graph/types.ts";
import { compareIds, type Id, packId } from "../../src/id/ids.ts";
import {
	type GivenKey,
	globalListId,
	keyOfContent,
	type Lookup,
	type Mapping,
	type Model,
	normalizeKey,
} from "../../src/model/types.ts";
import type { JsonObject } from "../../src/util/json.ts";

/**
 * A graph in memory, as one viewer sees it, for tests of what stands above
 * `graph/`. It keeps the promises of the ports that resolvers lean on: what a
 * viewer may not see is null, errors stand for their own key, a taken natural
 * key is CONFLICT, a repeated idempotency key answers the first object. Its
 * pages are whole lists, the newest edge first.
 */
export class MemoryGraph implements Graph, Writes {
	readonly model: Model;
	viewer: Id | null = null;
	/** Each call of the graph and of its writes, as text: `objects 1,2`. */
	readonly calls: string[] = [];
	/** Ids whose host does not answer. */
	readonly down = new Set<string>();
	/** Called before each create: somebody else at work at the same moment. */
	beforeCreate: (type: string) => void = () => {};
	readonly #objects = new Map<Id, Node>();
	readonly #edges = new Set<string>();
	readonly #lookups = new Map<string, Id>();
	readonly #repeats = new Map<string, { id: Id; request: string }>();
	#local = 0;

	constructor(model: Model) {
		this.model = model;
	}

	/** Put an object there, recording nothing. */
	add(type: string, data: JsonObject): Id {
		const objectType = this.#type(type);
		this.#local += 1;
		const id = packId({
			shard: 1,
			type: objectType.number,
			local: this.#local,
		});
		this.#claim(type, id, data);
		this.#objects.set(id, { id, type, data });
		return id;
	}

	data(id: Id): JsonObject | undefined {
		return this.#objects.get(id)?.data;
	}

	hasEdge(mapping: string, from: Id, to: Id): boolean {
		return this.#edges.has(`${mapping} ${from} ${to}`);
	}

	/** Both sides of it. */
	addEdge(name: string, from: Id, to: Id): void {
		this.#setEdge(name, from, to, true);
	}

	#setEdge(name: string, from: Id, to: Id, present: boolean): void {
		const change = (edge: string) =>
			present ? this.#edges.add(edge) : this.#edges.delete(edge);
		change(`${name} ${from} ${to}`);
		const inverse = this.model.mappings.get(name)?.inverse ?? null;
		if (inverse === null || inverse.kind === "reference") return;
		change(`${inverse.mapping} ${to} ${from}`);
	}

	async readObjects(
		ids: readonly Id[],
	): Promise<(Node | null | CorkboardError)[]> {
		this.calls.push(`objects ${ids.join()}`);
		return this.#read(ids, (node) => this.#visible(node));
	}

	async readStored(
		ids: readonly Id[],
	): Promise<(Node | null | CorkboardError)[]> {
		this.calls.push(`stored ${ids.join()}`);
		return this.#read(ids, () => true);
	}

	async readPublic(
		ids: readonly Id[],
	): Promise<(Node | null | CorkboardError)[]> {
		this.calls.push(`public ${ids.join()}`);
		return this.#read(ids, (node) => this.#visible(node, null));
	}

	#read(ids: readonly Id[], isShown: (node: Node) => boolean | undefined) {
		return ids.map((id) => {
			if (this.down.has(id)) return unavailable();
			const node = this.#objects.get(id);
			return node && isShown(node) ? node : null;
		});
	}

	async readPages(
		mapping: Mapping,
		froms: readonly Id[],
		_page: PageArguments,
	): Promise<Page[]> {
		this.calls.push(`pages ${mapping.name} ${froms.join()}`);
		return froms.map((from) => {
			const list = `${mapping.name} ${from} `;
			const nodes = [...this.#edges]
				.filter((edge) => edge.startsWith(list))
				.map((edge) => this.#living(edge.slice(list.length) as Id))
				.toReversed();
			return {
				edges: nodes.map((node) => ({ node, cursor: () => "", sequence: 0 })),
				nodes,
				hasNextPage: false,
				hasPreviousPage: false,
				startCursor: null,
				endCursor: null,
				totalCount: null,
			};
		});
	}

	async findByPrefix(
		{ to, prefixKeys }: Mapping,
		text: string,
		first: number,
	): Promise<Node[]> {
		this.calls.push(`prefix ${text}`);
		return [...this.#objects.values()]
			.filter(
				({ type, data }) =>
					type === to &&
					prefixKeys?.some((key) =>
						` ${data[key]}`.toLowerCase().includes(` ${text.toLowerCase()}`),
					),
			)
			.toReversed()
			.slice(0, first);
	}

	async longestLists(mapping: Mapping, first: number): Promise<Node[]> {
		const counts = new Map<Id, number>();
		for (const edge of this.#edges) {
			const [name, from] = edge.split(" ");
			if (name !== mapping.name) continue;
			counts.set(from as Id, (counts.get(from as Id) ?? 0) + 1);
		}
		return [...counts]
			.toSorted(([a, one], [b, other]) => other - one || compareIds(a, b))
			.slice(0, first)
			.map(([id]) => this.#living(id));
	}

	async hasEdges(mapping: Mapping, from: Id, tos: readonly Id[]) {
		this.calls.push(`contains ${mapping.name} ${from} ${tos.join()}`);
		return tos.map((to) =>
			this.down.has(to) ? unavailable() : this.hasEdge(mapping.name, from, to),
		);
	}

	async readEdges(mapping: Mapping, ends: readonly EdgeEnds[]) {
		return ends.map(({ from, to }) =>
			this.hasEdge(mapping.name, from, to)
				? { node: this.#living(to), cursor: () => "", sequence: 0 }
				: null,
		);
	}

	async readGroups(
		mapping: Mapping,
		from: Id,
		groups: readonly Id[],
		limit: number,
	) {
		this.calls.push(`groups ${mapping.name} ${from} ${groups.join()}`);
		const { inverse, groupedBy } = mapping;
		if (inverse?.kind !== "reference" || groupedBy === undefined) {
			throw new Error("expected a mapping that is grouped");
		}
		return groups.map((group) =>
			this.down.has(group)
				? unavailable()
				: [...this.#objects.values()]
						.filter(
							(node) =>
								node.data[inverse.key] === from &&
								node.data[groupedBy.key] === group &&
								this.#visible(node),
						)
						.slice(0, limit),
		);
	}

	async lookUp(lookup: Lookup, given: readonly GivenKey[]) {
		this.calls.push(`lookup ${lookup.name} ${given.join()}`);
		return given.map((key) =>
			typeof key === "string" && this.down.has(key)
				? unavailable()
				: (this.#lookups.get(lookupKey(lookup, normalizeKey(lookup, key))) ??
					null),
		);
	}

	async create(object: Parameters<Writes["create"]>[0]): Promise<Id> {
		const { type, data, idempotency } = object;
		this.beforeCreate(type);
		this.calls.push(`create ${type}`);
		const repeatKey = `${idempotency?.scope} ${idempotency?.key}`;
		const request = JSON.stringify(idempotency?.request);
		const repeat = idempotency && this.#repeats.get(repeatKey);
		if (repeat) {
			if (repeat.request === request) return repeat.id;
			throw new CorkboardError("BAD_USER_INPUT", "another request");
		}
		const id = this.add(type, data);
		if (idempotency) this.#repeats.set(repeatKey, { id, request });
		for (const { mapping, to } of object.links ?? []) {
			this.addEdge(mapping.name, id, this.#linked(to));
		}
		return id;
	}

	/** The object of a link: found by its natural key, or created and put on the lists of all of its type. */
	#linked(to: NonNullable<NewObject["links"]>[number]["to"]): Id {
		if (typeof to === "string") return to;
		const lookup = this.#type(to.type).lookups.find(
			(one) => keyOfContent(one, to.data) !== null,
		);
		if (lookup === undefined) throw new Error(`${to.type} has no natural key`);
		const key = lookupKey(lookup, keyOfContent(lookup, to.data));
		const id = this.#lookups.get(key) ?? this.add(to.type, to.data);
		for (const mapping of this.model.mappings.values()) {
			if (mapping.from !== null || mapping.to !== to.type) continue;
			this.addEdge(mapping.name, globalListId(this.model, mapping), id);
		}
		return id;
	}

	async modify(id: Id, change: (data: JsonObject) => JsonObject | null) {
		this.calls.push(`modify ${id}`);
		const node = this.#living(id);
		const data = change(node.data);
		if (data === null) return;
		this.#claim(node.type, id, data);
		this.#objects.set(id, { ...node, data });
	}

	async remove(id: Id): Promise<void> {
		this.calls.push(`remove ${id}`);
		this.#objects.delete(id);
	}

	async setEdge(mapping: Mapping, from: Id, to: Id, present: boolean) {
		this.calls.push(
			`${present ? "set" : "unset"} ${mapping.name} ${from} ${to}`,
		);
		this.#setEdge(mapping.name, from, to, present);
	}

	async setEdges(
		...[mapping, from, { add, remove }]: Parameters<Writes["setEdges"]>
	) {
		this.calls.push(`edges ${mapping.name} ${from}`);
		for (const to of remove) this.#setEdge(mapping.name, from, to, false);
		for (const { to } of add) {
			this.addEdge(mapping.name, from, this.#linked(to));
		}
	}

	async move(move: Parameters<Writes["move"]>[0]): Promise<void> {
		const { mapping, object, from, before, after, change } = move;
		const where = before ? ` before ${before}` : after ? ` after ${after}` : "";
		this.calls.push(`place ${mapping.name} ${object} on ${from}${where}`);
		if (mapping.inverse?.kind !== "reference") {
			throw new Error("expected a mapping that follows a reference");
		}
		const node = this.#living(object);
		this.#objects.set(object, {
			...node,
			data: {
				...(change?.(node.data) ?? node.data),
				[mapping.inverse.key]: from,
			},
		});
	}

	#visible(node: Node, viewer = this.viewer): boolean {
		const { board_id, pin_id, secret, user_id } = node.data;
		if (
			secret === true &&
			user_id !== viewer &&
			!(viewer && this.hasEdge("collaborate", node.id, viewer))
		) {
			return false;
		}
		return [board_id, pin_id].every((id) => {
			const within = this.#objects.get(id as Id);
			return id === undefined || (within && this.#visible(within, viewer));
		});
	}

	#living(id: Id): Node {
		const node = this.#objects.get(id);
		if (!node) throw new CorkboardError("NOT_FOUND", "no such object");
		return node;
	}

	#claim(type: string, id: Id, data: JsonObject): void {
		const claimed = this.#type(type).lookups.flatMap((lookup) => {
			const key = keyOfContent(lookup, data);
			return key === null ? [] : [lookupKey(lookup, key)];
		});
		for (const key of claimed) {
			if ((this.#lookups.get(key) ?? id) !== id) {
				throw new CorkboardError("CONFLICT", `taken: ${key}`);
			}
		}
		for (const [key, holder] of this.#lookups) {
			if (holder === id) this.#lookups.delete(key);
		}
		for (const key of claimed) this.#lookups.set(key, id);
	}

	#type(name: string) {
		const type = this.model.objects.get(name);
		if (!type) throw new Error(`expected a type but got: ${name}`);
		return type;
	}
}

/** An id that nothing has, of the given type. */
export function absentId(type: number): Id {
	return packId({ shard: 1, type, local: 999_999 });
}

function lookupKey(lookup: Lookup, key: string | null): string {
	return `${lookup.name} ${key}`;
}

function unavailable(): CorkboardError {
	return new CorkboardError("UNAVAILABLE", "the host does not answer");
}
