import { CACHE_PARTS, describeCaches } from "./caches.ts";
import { redactHostUrl } from "./hostUrl.ts";
import type { HostRange, Topology } from "./types.ts";

/** Shards next to each other that a change treats alike, or the servers of a shared cache. */
interface RangeChange {
	/** `shards`, `lookups`, `queues`, `feeds`, `pools`, `caches.objects`, `caches.lists`. */
	readonly kind: string;
	/** Null: of caches. */
	readonly range: readonly [number, number] | null;
	/** What was there; null: nothing. */
	readonly before: string | null;
	/** What is there now; null: nothing. */
	readonly after: string | null;
}

/** What a newer topology has that an older one has not, and the other way round, without passwords. */
export function changesBetween(
	old: Topology,
	next: Topology,
): readonly RangeChange[] {
	const kinds = new Set([...Object.keys(old), ...Object.keys(next)]);
	const caches = CACHE_PARTS.flatMap((part): readonly RangeChange[] => {
		const before = describeCaches(old, part);
		const after = describeCaches(next, part);
		const kind = `caches.${part}`;
		return before === after ? [] : [{ kind, range: null, before, after }];
	});
	const ranges = [...kinds].flatMap((kind) => {
		const before = rangesOf(old, kind);
		const after = rangesOf(next, kind);
		return before === null && after === null
			? []
			: changesOfKind(kind, before ?? [], after ?? []);
	});
	return [...ranges, ...caches];
}

/** `shards 256 to 511   db001a:3306, open → db001a:3306, closed` */
export function describeChange({
	kind,
	range,
	before,
	after,
}: RangeChange): string {
	const [first, last] = range ?? [];
	const shards = first === last ? `${first ?? ""}` : `${first} to ${last}`;
	return `${`${kind} ${shards}`.trimEnd()}   ${before ?? "none"} → ${after ?? "none"}`;
}

function rangesOf(
	topology: Topology,
	kind: string,
): readonly HostRange[] | null {
	const value = (topology as unknown as Record<string, unknown>)[kind];
	return Array.isArray(value) ? value : null;
}

function changesOfKind(
	kind: string,
	before: readonly HostRange[],
	after: readonly HostRange[],
): readonly RangeChange[] {
	const starts = [...before, ...after].flatMap(({ range: [first, last] }) => [
		first,
		last + 1,
	]);
	const edges = [...new Set(starts)].toSorted((a, b) => a - b);
	const changes: (RangeChange & { readonly range: HostRange["range"] })[] = [];
	for (const [index, first] of edges.entries()) {
		const end = edges[index + 1];
		if (end === undefined) break;
		const was = describeAt(before, first);
		const is = describeAt(after, first);
		if (was === is) continue;
		const last = changes.at(-1);
		if (
			last?.range[1] === first - 1 &&
			last.before === was &&
			last.after === is
		) {
			changes[changes.length - 1] = {
				...last,
				range: [last.range[0], end - 1],
			};
		} else {
			changes.push({ kind, range: [first, end - 1], before: was, after: is });
		}
	}
	return changes;
}

function describeAt(ranges: readonly HostRange[], at: number): string | null {
	const found = ranges.find(
		({ range: [first, last] }) => first <= at && at <= last,
	);
	if (found === undefined) return null;
	const { range: _, primary, replica, ...others } = found;
	return [
		redactHostUrl(primary),
		...(replica === undefined ? [] : [`replica ${redactHostUrl(replica)}`]),
		...Object.entries(others).map(([name, value]) =>
			typeof value === "boolean"
				? name === "open"
					? value
						? "open"
						: "closed"
					: value
						? name
						: `no ${name}`
				: `${name} ${value}`,
		),
	].join(", ");
}
