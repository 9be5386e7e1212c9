import type { FleetServer } from "./fleetServer.ts";
import { PROMOTION_SETTINGS, settingFaults } from "./serverSettings.ts";

/** A transaction that is open for longer may hold the fence up. */
const LONG_TRANSACTION_S = 1;

export interface PreflightLimits {
	/** How far the replica may be behind, in milliseconds: how long it takes to have what the primary has now. */
	readonly maxLagMs: number;
}

/** Everything that speaks against a planned promotion, each as a sentence; and how far the replica is behind. */
export async function preflight(
	old: FleetServer,
	candidate: FleetServer,
	{ maxLagMs }: PreflightLimits,
): Promise<{ readonly faults: readonly string[]; readonly lagMs: number }> {
	const faults: string[] = [];
	for (const server of [old, candidate]) {
		faults.push(...(await settingFaults(server, PROMOTION_SETTINGS)));
	}
	const [uuid, isFenced] = await old.row(
		"identity",
		"SELECT @@server_uuid, @@GLOBAL.super_read_only",
	);
	if (String(isFenced) !== "0") {
		faults.push(
			`${old.name} takes no writes: super_read_only is on. Another operation may have fenced it.`,
		);
	}
	const state = await candidate.replica();
	if (state === null) {
		faults.push(`${candidate.name} follows no other server.`);
		return { faults, lagMs: Number.POSITIVE_INFINITY };
	}
	if (state.sourceUuid !== String(uuid)) {
		faults.push(`${candidate.name} follows another server than ${old.name}.`);
	}
	if (!state.isReceiving || !state.isApplying) {
		faults.push(
			`${candidate.name} does not replicate${state.error === "" ? "" : `: ${state.error}`}.`,
		);
	}
	const executed = await candidate.executed();
	const errant = await candidate.subtract(executed, await old.executed());
	if (errant !== "") {
		faults.push(
			`${candidate.name} has transactions that ${old.name} lacks: ${errant}. It was written to, and has to be rebuilt.`,
		);
	}
	const [open] = await old.row(
		"long transactions",
		"SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_started < NOW() - INTERVAL ? SECOND",
		[LONG_TRANSACTION_S],
	);
	if (Number(open) > 0) {
		faults.push(
			`${old.name} has ${open} transactions that are open for more than ${LONG_TRANSACTION_S} s.`,
		);
	}
	const began = performance.now();
	const isThere = await candidate.has(await old.executed(), maxLagMs);
	const lagMs = performance.now() - began;
	if (!isThere) {
		faults.push(
			`${candidate.name} is more than ${maxLagMs} ms behind ${old.name}: writes would wait as long.`,
		);
	}
	return { faults, lagMs };
}
