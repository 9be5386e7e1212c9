import { CorkboardError } from "../errors.ts";
import type { Id } from "../id/ids.ts";
import type { Mapping, Model, Reference } from "../model/types.ts";
import type { JsonObject } from "../util/json.ts";
import { RELATED, type Source, Sources } from "./sources.ts";

/** A home feed of an app: which lists of its schema it reads and writes. */
export interface FeedDefinition {
	/** The mapping from users to the items in their feeds. `place: FEEDS` lets it lie apart. */
	readonly list: string;
	/** The reference from an item to the user who made it. Nobody is shown their own. */
	readonly owner: string;
	/** The reference from an item to the one that it was made from: the two are shown once. */
	readonly origin?: string;
	/** What users follow. What is stored names each by its place in this list: add others at the end, and remove none. */
	readonly from: readonly FollowedSource[];
	/** Items near those that a user likes, or makes others from. Without it there are none. */
	readonly related?: RelatedSource;
	/** How many of some items come from these sources; `related` is one of them. Without it: of all alike. */
	readonly rates?: readonly Rate[];
}

/** Some users or things that users follow, and that have items. */
export interface FollowedSource {
	readonly name: Source;
	/** The mapping from users to those that they follow. */
	readonly follow: string;
	/**
	 * The mapping from these to their items. If it follows a reference of the
	 * items, a new item is pushed to the followers; else those who look read it.
	 */
	readonly items: string;
}

/** Where related items are found. */
export interface RelatedSource {
	/** The mapping from users to items that they like. */
	readonly liked?: string;
	/** The mapping from an item to those that were made from it. */
	readonly copies?: string;
	/** The mapping to items that stand together. It follows a reference of the items. */
	readonly together: string;
}

/** These sources give so many items of the sum of all rates. */
export interface Rate {
	readonly sources: readonly Source[];
	readonly rate: number;
}

/** A source that users follow, in the model. */
export interface Followed {
	readonly source: Source;
	readonly follow: Mapping;
	/** Its inverse: from what is followed to its followers. Null if nothing is pushed. */
	readonly followers: Mapping | null;
	readonly items: Mapping;
	/** The stored key by which an item names what it belongs to. Null if nothing is pushed. */
	readonly key: string | null;
}

export interface Related {
	readonly liked: Mapping | null;
	readonly copies: Mapping | null;
	readonly together: Mapping;
	/** The stored key by which an item names what it stands on. */
	readonly key: string;
}

/** The feed of an app, bound to its model. */
export class FeedModel {
	readonly list: Mapping;
	readonly sources: Sources;
	readonly followed: readonly Followed[];
	/** Those that push: an item names what it belongs to. */
	readonly pushing: readonly Followed[];
	readonly related: Related | null;
	readonly rates: readonly Rate[];
	readonly #owner: Reference;
	readonly #origin: Reference | null;
	/** Null if items have no time. */
	readonly #createdAtKey: string | null;

	/** Throws BAD_MODEL if the definition names what the model does not have, or what does not fit. */
	constructor(
		model: Model,
		definition: FeedDefinition,
		createdAtField: string | null,
	) {
		const find = new FeedFinder(model);
		const { list, from, related, rates } = definition;
		this.list = find.mapping("list", list, {});
		const item = find.type(this.list.to);
		const [user, type] = [this.list.from as string, item.name];
		this.#owner = find.reference("owner", type, definition.owner, user);
		this.#origin =
			definition.origin === undefined
				? null
				: find.reference("origin", type, definition.origin, type);
		this.#createdAtKey =
			item.stored.find(({ field }) => field === createdAtField)?.key ?? null;
		this.followed = from.map(({ name, follow, items }, at): Followed => {
			if (name === RELATED) {
				throw wrong(`from[${at}].name`, `must not be ${RELATED}`);
			}
			const follows = find.mapping(`from[${at}].follow`, follow, {
				from: user,
			});
			const found = find.mapping(`from[${at}].items`, items, {
				from: follows.to,
				to: type,
			});
			if (found.orderedBy !== undefined) {
				throw wrong(
					`from[${at}].items`,
					`names ${items}, which is ordered by ${found.orderedBy.field}: a feed takes the newest items`,
				);
			}
			const key = keyOf(found);
			return {
				source: name,
				follow: follows,
				followers:
					key === null ? null : find.inverse(`from[${at}].follow`, follows),
				items: found,
				key,
			};
		});
		const names = from.map(({ name }) => name);
		const targets = this.followed.map(({ follow: { to } }) => to);
		const twice = targets.find((to, at) => targets.indexOf(to) !== at);
		if (twice !== undefined) {
			throw wrong("from", `follows ${twice} twice: one source for each type`);
		}
		if (names.length === 0) throw wrong("from", "must name what users follow");
		if (new Set(names).size < names.length) {
			throw wrong("from", `names a source twice: ${names.join(", ")}`);
		}
		this.pushing = this.followed.filter(({ key }) => key !== null);
		this.sources = new Sources(names);
		this.related = related ? find.related(related, user, type) : null;
		this.rates =
			rates ??
			[...names, ...(related ? [RELATED] : [])].map((source) => ({
				sources: [source],
				rate: 1,
			}));
		const unknown = this.rates
			.flatMap(({ sources }) => sources)
			.find((source) => !this.sources.names.includes(source));
		if (unknown !== undefined) {
			throw wrong("rates", `names ${unknown}, which is no source of it`);
		}
	}

	/** The type of items. */
	get item(): string {
		return this.list.to;
	}

	/** The type of those who have feeds. */
	get user(): string {
		return this.list.from as string;
	}

	/** Throws a TypeError for a source that nobody follows. */
	followedBy(source: Source): Followed {
		const found = this.followed.find((one) => one.source === source);
		if (found !== undefined) return found;
		throw new TypeError(`Nobody follows the source ${source}.`);
	}

	ownerOf(data: JsonObject): Id | null {
		return idAt(data, this.#owner.key);
	}

	originOf(data: JsonObject): Id | null {
		return this.#origin === null ? null : idAt(data, this.#origin.key);
	}

	/** When an item was made. Milliseconds since 1970; NaN if nothing says so. */
	createdAtOf(data: JsonObject): number {
		const key = this.#createdAtKey;
		return key === null ? Number.NaN : Date.parse(String(data[key] ?? ""));
	}

	/** What an item belongs to and is pushed from. */
	producersOf(
		data: JsonObject,
	): readonly { readonly source: Source; readonly via: Id }[] {
		return this.pushing.flatMap(({ source, key }) => {
			const via = key === null ? null : idAt(data, key);
			return via === null ? [] : [{ source, via }];
		});
	}
}

/** The id that is stored under a key. */
export function idAt(data: JsonObject, key: string): Id | null {
	const value = data[key];
	return typeof value === "string" ? (value as Id) : null;
}

/** What a definition names, in the model. All throw BAD_MODEL. */
class FeedFinder {
	readonly #model: Model;

	constructor(model: Model) {
		this.#model = model;
	}

	type(name: string) {
		const found = this.#model.objects.get(name);
		if (found === undefined) throw wrong("list", `has no type ${name}`);
		return found;
	}

	mapping(
		path: string,
		name: string,
		{ from, to }: { readonly from?: string; readonly to?: string },
	): Mapping {
		const found = this.#model.mappings.get(name);
		if (found === undefined) {
			throw wrong(
				path,
				`names the mapping ${name}, which the schema does not have`,
			);
		}
		if (
			found.from === null ||
			(from !== undefined && found.from !== from) ||
			(to !== undefined && found.to !== to)
		) {
			throw wrong(
				path,
				`must be a mapping${from === undefined ? " of a type" : ` from ${from}`}${to === undefined ? "" : ` to ${to}`}; ${name} leads from ${found.from ?? "the whole graph"} to ${found.to}`,
			);
		}
		return found;
	}

	/** The mapping from what is followed to those who follow it. */
	inverse(path: string, { name, inverse }: Mapping): Mapping {
		if (inverse === null || inverse.kind === "reference") {
			throw wrong(
				path,
				`names ${name}, which needs an inverse: a new item is pushed to its followers`,
			);
		}
		return this.mapping(path, inverse.mapping, {});
	}

	reference(
		path: string,
		type: string,
		field: string,
		target: string,
	): Reference {
		const found = this.type(type).references.find(
			(one) => one.field === field && one.target === target,
		);
		if (found !== undefined) return found;
		throw wrong(
			path,
			`names ${type}.${field}, which is no @reference to ${target}`,
		);
	}

	related(
		{ liked, copies, together }: RelatedSource,
		user: string,
		item: string,
	): Related {
		const list = this.mapping("related.together", together, { to: item });
		const key = keyOf(list);
		if (key === null) {
			throw wrong(
				"related.together",
				`names ${together}, which follows no @reference of ${item}`,
			);
		}
		return {
			liked:
				liked === undefined
					? null
					: this.mapping("related.liked", liked, { from: user, to: item }),
			copies:
				copies === undefined
					? null
					: this.mapping("related.copies", copies, { from: item, to: item }),
			together: list,
			key,
		};
	}
}

function keyOf({ inverse }: Mapping): string | null {
	return inverse?.kind === "reference" ? inverse.key : null;
}

function wrong(path: string, problem: string): CorkboardError {
	return new CorkboardError("BAD_MODEL", `The app's feed.${path} ${problem}.`);
}
