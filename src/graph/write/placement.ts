import { randomInt } from "node:crypto";
import { CorkboardError } from "../../errors.ts";
import { type Id, unpackId } from "../../id/ids.ts";
import {
	keyOfContent,
	type Lookup,
	type Model,
	type Reference,
} from "../../model/types.ts";
import { modShard } from "../../storage/modShard.ts";
import type { Placement, Shards } from "../domain.ts";

/**
 * Where new objects are stored, by type. Without an entry, on any open shard.
 * Only creation depends on it: an object that is found elsewhere is as good.
 */
export type PlacementPolicy = Readonly<
	Record<
		string,
		/** Next to the object that a reference leads to. */
		| { readonly colocateWith: string }
		/** On the mod shard of a natural key: the lookup row and the object are then one host's. */
		| { readonly modShardOf: string }
	>
>;

/** Binds a policy to a model. Throws BAD_MODEL for names that the model does not have. */
export function createPlacement(
	model: Model,
	policy: PlacementPolicy,
): Placement {
	const references = new Map<string, Reference>();
	const lookups = new Map<string, Lookup>();
	for (const [type, rule] of Object.entries(policy)) {
		const object = model.objects.get(type);
		if ("colocateWith" in rule) {
			const found = object?.references.find(
				({ field }) => field === rule.colocateWith,
			);
			if (found === undefined) {
				throw badPolicy(`${type}.${rule.colocateWith}`, "@reference");
			}
			references.set(type, found);
		} else {
			const found = object?.lookups.find(
				({ parts: [{ field } = { field: "" }, ...others] }) =>
					field === rule.modShardOf && others.length === 0,
			);
			if (found === undefined) {
				throw badPolicy(`${type}.${rule.modShardOf}`, "@lookup");
			}
			lookups.set(type, found);
		}
	}
	return {
		colocateWith: (type) => references.get(type) ?? null,

		shardFor(type, data, shards) {
			const reference = references.get(type);
			const neighbor = reference && data[reference.key];
			if (typeof neighbor === "string") return unpackId(neighbor as Id).shard;
			const lookup = lookups.get(type);
			if (lookup !== undefined) {
				return modShard(keyOfContent(lookup, data) ?? "", shards.modShards);
			}
			return drawShard(shards);
		},
	};
}

/** Sums of weights up to each open shard; null if all weigh the same. Kept by the list, which is another one after each change. */
const sums = new WeakMap<readonly number[], Float64Array | null>();

/** A random open shard, each with a probability in proportion to its weight. */
function drawShard(shards: Shards): number {
	const { openShards } = shards;
	let upTo = sums.get(openShards);
	if (upTo === undefined) {
		upTo = sumsOf(shards);
		sums.set(openShards, upTo);
	}
	if (upTo === null) {
		return openShards[randomInt(openShards.length)] as number;
	}
	const drawn = Math.random() * (upTo.at(-1) as number);
	let low = 0;
	let high = upTo.length - 1;
	while (low < high) {
		const middle = (low + high) >>> 1;
		if ((upTo[middle] as number) > drawn) high = middle;
		else low = middle + 1;
	}
	return openShards[low] as number;
}

function sumsOf(shards: Shards): Float64Array | null {
	if (shards.weightOf === undefined) return null;
	const weights = shards.openShards.map(
		(shard) => shards.weightOf?.(shard) ?? 1,
	);
	if (weights.every((weight) => weight === weights[0])) return null;
	let sum = 0;
	return Float64Array.from(weights, (weight) => {
		sum += weight;
		return sum;
	});
}

function badPolicy(field: string, directive: string): CorkboardError {
	return new CorkboardError(
		"BAD_MODEL",
		`The placement policy names ${field}, which is not a field with ${directive}.`,
	);
}
