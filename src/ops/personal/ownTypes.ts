import type { Domain } from "../../graph/domain.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping, Model, ObjectType } from "../../model/types.ts";
import type { JsonObject } from "../../util/json.ts";

/** A type whose objects belong to users, and how those of one user are found. */
export interface OwnType {
	readonly type: ObjectType;
	/** Keys of the stored JSON, each of which names a user whom the object belongs to. */
	readonly keys: readonly string[];
	/** Whether the visibility policy says so, by its `owner`. Else the objects refer to the user, and who they belong to is for the app to say. */
	readonly isOwned: boolean;
	/** The list of a user that has all of them; null: only the rows of the type say whose each is. */
	readonly list: Mapping | null;
}

/**
 * The types whose objects name the user whom they belong to: their owner in the
 * visibility policy, or else every user whom they refer to. Objects that are only
 * part of one of these (`partTypes`) are not among them.
 */
export function ownTypes(
	{ model, domain }: { readonly model: Model; readonly domain: Domain },
	userType: string,
): readonly OwnType[] {
	return [...model.objects.values()].flatMap((type) => {
		if (type.name === userType) return [];
		const { owner } = domain.visibility.keysOf(type.name);
		const keys =
			owner === null
				? type.references
						.filter(({ target }) => target === userType)
						.map(({ key }) => key)
				: [owner];
		if (keys.length === 0) return [];
		const [key] = keys;
		const list = [...model.mappings.values()].find(
			({ from, to, inverse, groupedBy }) =>
				from === userType &&
				to === type.name &&
				groupedBy === undefined &&
				inverse?.kind === "reference" &&
				inverse.key === key,
		);
		return [
			{
				type,
				keys,
				isOwned: owner !== null,
				list: keys.length === 1 ? (list ?? null) : null,
			},
		];
	});
}

/** References to users that say nothing of who owns the object, as `Group.founder`: they stay when a user is erased. */
export function otherReferences(
	{ model, domain }: { readonly model: Model; readonly domain: Domain },
	userType: string,
): readonly string[] {
	return [...model.objects.values()].flatMap(({ name, references }) => {
		const { owner } = domain.visibility.keysOf(name);
		return references
			.filter(({ target, key }) => target === userType && key !== owner)
			.map(({ field }) => `${name}.${field}`);
	});
}

/** The types whose objects name no user, but are part of an object that belongs to one: with the key that names it. */
export function partTypes(
	{ model, domain }: { readonly model: Model; readonly domain: Domain },
	own: readonly OwnType[],
): readonly { readonly type: ObjectType; readonly key: string }[] {
	const owned = new Set(own.map(({ type }) => type.name));
	const parts: { type: ObjectType; key: string }[] = [];
	for (let found = -1; found !== parts.length; ) {
		found = parts.length;
		for (const type of model.objects.values()) {
			const parent = domain.visibility.parentOf(type.name);
			if (parent === null || owned.has(type.name)) continue;
			if (!owned.has(parent.target)) continue;
			owned.add(type.name);
			parts.push({ type, key: parent.key });
		}
	}
	return parts;
}

/** Whether an object with this content belongs to the user. */
export function belongsTo(
	{ keys }: Pick<OwnType, "keys">,
	data: JsonObject,
	user: Id,
): boolean {
	return keys.some((key) => data[key] === user);
}
