import type { FleetServer } from "../server/fleetServer.ts";

/** How far a server's clock is before (negative: behind) that of this process, in milliseconds: between these two. */
export interface ClockOffset {
	readonly name: string;
	readonly least: number;
	readonly most: number;
}

/** Leases and deliveries are written and read by the clocks of several machines. Milliseconds. */
const ALLOWED_MS = 1_000;
/** Each look bounds the offset by its own round trip. */
const LOOKS = 3;

/** Asks several times, because a round trip may wait for a busy machine. */
export async function readClock(
	server: FleetServer,
	now: () => number,
): Promise<ClockOffset> {
	let least = Number.NEGATIVE_INFINITY;
	let most = Number.POSITIVE_INFINITY;
	for (let look = 0; look < LOOKS; look++) {
		const began = now();
		const [at] = await server.row(
			"clock",
			"SELECT UNIX_TIMESTAMP(NOW(6)) * 1000",
		);
		const ended = now();
		least = Math.max(least, Number(at) - ended);
		most = Math.min(most, Number(at) - began);
	}
	return { name: server.name, least, most };
}

/** A sentence for each server whose clock is surely a second or more from that of this process, and for the two that are furthest apart if none is. */
export function clockFaults(
	offsets: readonly ClockOffset[],
): readonly string[] {
	const wrong = offsets.flatMap(({ name, least, most }) => {
		const ms = least >= ALLOWED_MS ? least : most <= -ALLOWED_MS ? most : 0;
		return ms === 0
			? []
			: [
					`${name}: its clock is ${seconds(ms)} ${ms > 0 ? "before" : "behind"} that of this process. Synchronize the clocks of all machines.`,
				];
	});
	if (wrong.length > 0) return wrong;
	const [ahead] = offsets.toSorted((a, b) => b.least - a.least);
	const [behind] = offsets.toSorted((a, b) => a.most - b.most);
	if (ahead === undefined || behind === undefined) return [];
	const apart = ahead.least - behind.most;
	return apart < ALLOWED_MS
		? []
		: [
				`The clock of ${ahead.name} is ${seconds(apart)} before that of ${behind.name}. Synchronize the clocks of all machines.`,
			];
}

function seconds(ms: number): string {
	return `${(Math.abs(ms) / 1_000).toFixed(1)} s`;
}
