import type { FleetServer } from "../server/fleetServer.ts";

/** What a setting of a MySQL server has to be. */
interface Requirement {
	readonly expected: string;
	isMet(value: string): boolean;
}

const DAY_S = 86_400;
const ON = oneOf("ON", "1");

/** On which a promotion relies. */
export const PROMOTION_SETTINGS: Readonly<Record<string, Requirement>> = {
	gtid_mode: oneOf("ON"),
	enforce_gtid_consistency: oneOf("ON"),
	log_replica_updates: ON,
	replica_preserve_commit_order: ON,
	binlog_format: oneOf("ROW"),
	binlog_row_image: oneOf("FULL"),
	auto_increment_increment: oneOf("1"),
	innodb_flush_log_at_trx_commit: oneOf("1", "2"),
};

/** On which operations on a fleet rely, and readers of the binary log. */
export const FLEET_SETTINGS: Readonly<Record<string, Requirement>> = {
	...PROMOTION_SETTINGS,
	binlog_row_value_options: oneOf(""),
	binlog_transaction_compression: oneOf("OFF", "0"),
	binlog_expire_logs_seconds: {
		expected: `0 or at least ${3 * DAY_S}`,
		isMet: (value) => value === "0" || Number(value) >= 3 * DAY_S,
	},
};

/** A sentence for each setting that is not as it must be. Settings that the server does not know are left out. */
export async function settingFaults(
	server: FleetServer,
	settings: Readonly<Record<string, Requirement>>,
): Promise<readonly string[]> {
	const names = Object.keys(settings);
	const rows = await server.rows(
		"settings",
		`SHOW GLOBAL VARIABLES WHERE Variable_name IN (${names.map((name) => `'${name}'`).join(", ")})`,
	);
	return rows.flatMap(([name, value]) => {
		const text = String(value);
		const requirement = settings[String(name)];
		return requirement === undefined || requirement.isMet(text)
			? []
			: [
					`${server.name}: ${name} must be ${requirement.expected}, got ${text || "nothing"}.`,
				];
	});
}

function oneOf(...allowed: readonly string[]): Requirement {
	return {
		expected: allowed[0] || "empty",
		isMet: (value) => allowed.includes(value),
	};
}
