import type { Id } from "../../id/ids.ts";
import type { WriteDescription, WriteSummary } from "../../trace.ts";
import type { JsonObject } from "../../util/json.ts";
import type { WriteTransaction } from "../outbox/writer.ts";
import type { Store } from "../store/store.ts";
import { typeNameOf } from "../store/typeName.ts";

/** What a transaction is about to change, for a trace: names and numbers. */
export function describeWrite(
	{ model }: Store,
	{
		shard,
		beside,
		creates = [],
		objects = [],
		lists = [],
	}: WriteTransaction<unknown>,
): WriteDescription {
	const changes = new Set([
		...creates.map(({ type }) => type),
		...objects.flatMap((id) => typeNameOf(model, id) ?? []),
		...lists.map(({ mapping }) => mapping.name),
	]);
	const shards = beside === undefined ? [shard] : [shard, beside];
	return { verb: "transaction", changes: [...changes], shards };
}

/** What it wrote. An object that is created and changed at once is one row. */
export function summarizeWrite(
	created: readonly Id[],
	{
		objects = [],
		edges = [],
	}: Pick<ReturnType<WriteTransaction<unknown>["decide"]>, "objects" | "edges">,
	outboxEntry: JsonObject = {},
): WriteSummary {
	const written = new Set([...created, ...objects.map(({ id }) => id)]);
	const parts = Object.entries(outboxEntry).map(
		([kind, part]) => [kind, countOf(part)] as const,
	);
	return {
		rowsWritten: written.size + edges.length,
		outbox: Object.fromEntries(parts.filter(([, count]) => count > 0)),
	};
}

/** How many lists there are in a part of a record. */
function countOf(part: unknown): number {
	if (Array.isArray(part)) return part.length;
	return typeof part === "object" && part !== null
		? Object.values(part).reduce((sum, one) => sum + countOf(one), 0)
		: 0;
}
