import { CorkboardError } from "../../../errors.ts";
import type { Store } from "../../../graph/store/store.ts";
import { changeWithKeys } from "../../../graph/write/changeWithKeys.ts";
import { WritePipeline } from "../../../graph/write/pipeline.ts";
import type { Id } from "../../../id/ids.ts";
import {
	type KeyPart,
	keyOfContent,
	type Lookup,
} from "../../../model/types.ts";

/** Numbers that are tried one after the other. */
const NUMBERS = Array.from({ length: 98 }, (_, at) => at + 2);

/**
 * Gives an object another natural key than one that belongs to the object its
 * lookup leads to: none if the field may be empty, else the same with a number.
 * An object whose key was changed meanwhile keeps that.
 */
export async function giveFreeKey(
	store: Store,
	id: Id,
	{ lookup, key }: { readonly lookup: Lookup; readonly key: string },
): Promise<void> {
	const pipeline = new WritePipeline(store);
	const { stored = [] } = store.model.objects.get(lookup.type) ?? {};
	const fieldOf = (part: KeyPart) =>
		stored.find(({ field }) => field === part.field);
	// The last part that is text gets the number.
	const part =
		lookup.parts.length === 1
			? lookup.parts[0]
			: lookup.parts.findLast(
					(one) => fieldOf(one)?.typesByPath.get(one.key) === "String",
				);
	if (part === undefined) throw noKey(lookup);
	const replace = (change: (value: string) => string | null) =>
		changeWithKeys(pipeline, id, (data) => {
			const { [part.key]: value, ...rest } = data;
			if (typeof value !== "string") return null;
			if (keyOfContent(lookup, data) !== key) return null;
			const next = change(value);
			return next === null ? rest : { ...data, [part.key]: next };
		});
	if (fieldOf(part)?.nullable !== false) {
		await replace(() => null);
		return;
	}
	for (const number of NUMBERS) {
		try {
			await replace((value) =>
				numbered(store, lookup, part, { value, number }),
			);
			return;
		} catch (error) {
			const isTaken =
				error instanceof CorkboardError && error.code === "CONFLICT";
			if (!isTaken) throw error;
		}
	}
	throw noKey(lookup);
}

/** `ada_2`; shortened, or with another separator, if only then the field's validator accepts it. */
function numbered(
	{ domain }: Store,
	lookup: Lookup,
	{ field }: KeyPart,
	{ value, number }: { readonly value: string; readonly number: number },
): string {
	const policy = domain.fields[lookup.type]?.[field];
	for (const separator of ["_", "-", ""]) {
		for (let length = value.length; length > 0; length--) {
			const candidate = `${value.slice(0, length)}${separator}${number}`;
			const result = policy?.validate(candidate) ?? { value: candidate };
			if ("value" in result && result.value === candidate) return candidate;
		}
	}
	throw noKey(lookup);
}

function noKey({ parts }: Lookup): Error {
	const fields = parts.map(({ field }) => field).join(" and ");
	return new Error(`No free ${fields} was found. Change it by hand.`);
}
