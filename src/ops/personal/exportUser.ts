import { CorkboardError } from "../../errors.ts";
import type { View } from "../../graph/read/view.ts";
import { isActive } from "../../graph/read/visibilityPolicy.ts";
import type { Store } from "../../graph/store/store.ts";
import type { Node, Page } from "../../graph/types.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping, Model, ObjectType } from "../../model/types.ts";
import { isByTime } from "../../storage/order.ts";
import { parseJsonObject } from "../../storage/storedObject.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";
import { namedFields } from "../namedFields.ts";
import { openView } from "./openView.ts";
import { belongsTo, type OwnType, ownTypes, partTypes } from "./ownTypes.ts";

/** An object of the user, or an edge of one. */
export type ExportLine = ExportedObject | ExportedEdge;

export interface ExportedObject {
	readonly type: string;
	readonly id: Id;
	readonly fields: JsonObject;
}

export interface ExportedEdge {
	/** The mapping. */
	readonly edge: string;
	/** The field that lists it. */
	readonly field: string;
	readonly from: Id;
	readonly to: Id;
	/** When it was made; null for a list whose order is arranged. */
	readonly at: string | null;
	/** What the object at its end is called, as the user sees it; null if it has no name. */
	readonly label: string | null;
}

/** Where an export continues. */
export interface ExportPosition {
	/** The part of the export. */
	readonly part: number;
	/** A cursor in the list of that part. */
	readonly after: string | null;
}

interface ExportedPage {
	readonly lines: readonly ExportLine[];
	/** Null at the end. */
	readonly next: ExportPosition | null;
	/** What was read, for people. */
	readonly of: string;
}

export interface ExportContext {
	readonly store: Store;
	/** Whether clients see a field of a type: only such lists are exported. */
	readonly isShown: (type: string, field: string) => boolean;
	readonly userType: string;
	/** The stored key that says since when an account is closed; null: none can be. */
	readonly closedKey: string | null;
}

const PAGE = 100;

/**
 * Everything that is a user's own, page by page: what the user stored, also in
 * fields that the API does not show, and the lists that the user may read, as the
 * user sees them. What others did to it is not the user's: of lists that others
 * fill, only those of the user are exported, not those of the user's objects.
 */
export async function* exportUser(
	context: ExportContext,
	user: Id,
	at: ExportPosition = { part: 0, after: null },
): AsyncGenerator<ExportedPage> {
	const reader = new ExportReader(context, user);
	const parts = reader.parts();
	for (let nth = at.part; nth < parts.length; nth++) {
		const { name, read } = parts[nth] as ExportPart;
		let after = nth === at.part ? at.after : null;
		do {
			const page = await read(after);
			after = page.after;
			const next =
				after !== null
					? { part: nth, after }
					: nth + 1 < parts.length
						? { part: nth + 1, after: null }
						: null;
			yield { lines: page.lines, next, of: name };
		} while (after !== null);
	}
}

interface ExportPart {
	readonly name: string;
	/** Reads a page from a cursor on, or from the beginning. */
	read(after: string | null): Promise<ReadPage>;
}

interface ReadPage {
	readonly lines: readonly ExportLine[];
	/** Null at the end of the part. */
	readonly after: string | null;
}

class ExportReader {
	readonly #context: ExportContext;
	readonly #user: Id;
	readonly #view: View;
	readonly #own: ReadonlyMap<string, OwnType>;
	readonly #parts: ReadonlyMap<string, string>;

	constructor(context: ExportContext, user: Id) {
		const { store, userType, closedKey } = context;
		this.#context = context;
		this.#user = user;
		this.#view = openView(store, user, closedKey);
		const own = ownTypes(store, userType);
		this.#own = new Map(own.map((type) => [type.type.name, type]));
		this.#parts = new Map(
			partTypes(store, own).map(({ type, key }) => [type.name, key]),
		);
	}

	/** The user, the lists of the user, then everything that belongs to the user. */
	parts(): readonly ExportPart[] {
		const { store, userType } = this.#context;
		const lists = (store.model.objects.get(userType)?.mappings ?? []).filter(
			(mapping) => this.#isExported(mapping),
		);
		return [
			{ name: userType, read: () => this.#readUser() },
			...lists.map((mapping) => ({
				name: `${userType}.${mapping.field}`,
				read: (after: string | null) => this.#edges(mapping, this.#user, after),
			})),
			...[...this.#own.values()].flatMap((type) => this.#partsOf(type)),
		];
	}

	#partsOf(type: OwnType): readonly ExportPart[] {
		const { name } = type.type;
		const { list } = type;
		if (list !== null) {
			return [{ name, read: (after) => this.#listed(list, after) }];
		}
		return this.#context.store.storage.map.shards.map((shard) => ({
			name: `${name}, shard ${shard}`,
			read: () => this.#onShard(type, shard),
		}));
	}

	async #readUser(): Promise<ReadPage> {
		const { model } = this.#context.store;
		const [node] = await this.#stored([this.#user]);
		if (node === undefined) {
			throw new CorkboardError(
				"NOT_FOUND",
				`${this.#context.userType} ${this.#user} not found.`,
			);
		}
		return { lines: [objectLine(model, node)], after: null };
	}

	/** A page of the user's objects that a list has. */
	async #listed(list: Mapping, after: string | null): Promise<ReadPage> {
		const page = await this.#page(list, this.#user, after);
		const ids = (page?.nodes ?? []).map((node) => {
			if (node instanceof CorkboardError) throw node;
			return node.id;
		});
		const lines: ExportLine[] = [];
		for (const node of await this.#stored(ids)) {
			lines.push(...(await this.#withLists(node)));
		}
		return { lines, after: page?.hasNextPage ? page.endCursor : null };
	}

	/** The user's objects of a type among all rows of a shard. */
	async #onShard(type: OwnType, shard: number): Promise<ReadPage> {
		const { storage } = this.#context.store;
		const lines: ExportLine[] = [];
		for await (const rows of storage.walk("objects", shard, type.type.name)) {
			for (const { id, data: text } of rows) {
				// Most rows are of others: they are not parsed.
				if (!text.includes(this.#user)) continue;
				const data = parseJsonObject(text);
				const node = data && { id, type: type.type.name, data };
				if (node === null || !isActive(node)) continue;
				if (!belongsTo(type, node.data, this.#user)) continue;
				lines.push(...(await this.#withLists(node)));
			}
		}
		return { lines, after: null };
	}

	/** An object, its parts, and the edges of its lists. */
	async #withLists(node: Node): Promise<readonly ExportLine[]> {
		const { store } = this.#context;
		const type = store.model.objects.get(node.type) as ObjectType;
		const lines: ExportLine[] = [objectLine(store.model, node)];
		for (const mapping of type.mappings) {
			if (this.#isExported(mapping)) {
				for (let after: string | null = null; ; ) {
					const page: ReadPage = await this.#edges(mapping, node.id, after);
					lines.push(...page.lines);
					after = page.after;
					if (after === null) break;
				}
			}
		}
		return lines;
	}

	/** Whether the list of an object of the user is exported with it. */
	#isExported(mapping: Mapping): boolean {
		const { userType } = this.#context;
		const { from, field, inverse } = mapping;
		// What the API does not have is read for decisions only.
		if (from === null || !this.#context.isShown(from, field)) return false;
		if (from === userType) {
			// Its objects are a part of the export by themselves.
			return this.#own.get(mapping.to)?.list !== mapping;
		}
		// Others filled it: it is in their exports.
		return inverse?.kind !== "source";
	}

	/** A page of a list: its edges, or the parts that it leads to. */
	async #edges(
		mapping: Mapping,
		from: Id,
		after: string | null,
	): Promise<ReadPage> {
		const key =
			mapping.inverse?.kind === "reference" ? mapping.inverse.key : null;
		const isPart = key !== null && this.#parts.get(mapping.to) === key;
		const own = key === null ? undefined : this.#own.get(mapping.to);
		const page = await this.#page(mapping, from, after);
		const lines: ExportLine[] = [];
		for (const { node, sequence } of page?.edges ?? []) {
			if (node instanceof CorkboardError) throw node;
			if (isPart) lines.push(...(await this.#withLists(node)));
			// The object is of somebody else, whose export has it.
			else if (own && !belongsTo(own, node.data, this.#user)) continue;
			else lines.push(this.#edge(mapping, from, node, sequence));
		}
		return { lines, after: page?.hasNextPage ? page.endCursor : null };
	}

	#edge(
		mapping: Mapping,
		from: Id,
		node: Node,
		sequence: number,
	): ExportedEdge {
		return {
			edge: mapping.name,
			field: mapping.field,
			from,
			to: node.id,
			at: isByTime(mapping) ? new Date(sequence / 1_000).toISOString() : null,
			label: this.#label(node),
		};
	}

	/** The first text that the object shows to everybody who sees it. */
	#label({ type, data }: Node): string | null {
		const { store } = this.#context;
		const sources = store.model.sources.get(type);
		const stored = store.model.objects.get(type)?.stored ?? [];
		for (const { field, key } of stored) {
			const value: JsonValue | undefined = data[key];
			if (typeof value !== "string" || value === "") continue;
			if (sources?.get(field)?.kind !== "stored") continue;
			if (this.#context.isShown(type, field)) return value;
		}
		return null;
	}

	/** Active objects as they are stored: the user's own, whatever hides them. */
	async #stored(ids: readonly Id[]): Promise<readonly Node[]> {
		const objects = await this.#context.store.readObjects(ids);
		return objects.flatMap((object) => {
			if (object instanceof CorkboardError) throw object;
			return object.node !== null && isActive(object.node) ? [object.node] : [];
		});
	}

	async #page(
		mapping: Mapping,
		from: Id,
		after: string | null,
	): Promise<Page | null> {
		const [page] = await this.#view.readPages(mapping, [from], {
			first: PAGE,
			...(after !== null && { after }),
			fields: {
				edges: true,
				hasNextPage: true,
				hasPreviousPage: false,
				cursors: true,
				totalCount: false,
			},
		});
		if (page instanceof CorkboardError) throw page;
		return page ?? null;
	}
}

function objectLine(model: Model, node: Node): ExportedObject {
	const { type, id } = node;
	return { type, id, fields: namedFields(model, node) };
}
