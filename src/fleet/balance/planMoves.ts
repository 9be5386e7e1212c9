import { CorkboardError } from "../../errors.ts";
import { namedSo } from "../map/mapRanges.ts";
import type { FleetLoad, Load, MovePlan } from "./load.ts";
import type { MeasuredFleet } from "./measureLoad.ts";
import { planBalance } from "./planBalance.ts";
import { planEmpty } from "./planEmpty.ts";

/**
 * The moves that level a fleet, or that empty one of its primaries, and the queue
 * shards that stay on that. If one server does not count writes, none of them
 * counts. Throws BAD_TOPOLOGY for a host that is no primary.
 */
export function planMoves(
	{ fleet, silent, queues }: MeasuredFleet,
	{
		empty,
		moves,
	}: { readonly empty: string | undefined; readonly moves: number },
): { readonly plan: MovePlan; readonly queues: readonly number[] } {
	const known = silent.length === 0 ? fleet : bySize(fleet);
	if (empty === undefined)
		return { plan: planBalance(known, moves), queues: [] };
	const [host, ...others] = namedSo(fleet.hosts.keys(), empty);
	if (host === undefined || others.length > 0) {
		throw new CorkboardError(
			"BAD_TOPOLOGY",
			`The topology names ${host === undefined ? "no primary" : "several primaries"} ${empty}: its primaries are ${[...fleet.hosts.keys()].join(", ")}.`,
		);
	}
	return { plan: planEmpty(known, host), queues: queues.get(host) ?? [] };
}

function bySize({ hosts, ranges }: FleetLoad): FleetLoad {
	const sized = ({ bytes }: Load): Load => ({ bytes, writes: 0 });
	return {
		hosts: new Map(
			[...hosts].map(([name, host]) => [
				name,
				{ ...host, fixed: sized(host.fixed) },
			]),
		),
		ranges: ranges.map((range) => ({
			...range,
			loads: range.loads.map(sized),
		})),
	};
}
