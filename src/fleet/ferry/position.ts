import { CorkboardError } from "../../errors.ts";
import type { FleetServer } from "../server/fleetServer.ts";

/** Throws CONFLICT if a server's binary log cannot be followed from a set of GTIDs on. */
export async function requirePosition(
	source: FleetServer,
	target: string,
	applied: string,
): Promise<void> {
	const [missing, purged] = await source.row(
		"position",
		"SELECT GTID_SUBTRACT(?, @@GLOBAL.gtid_executed), GTID_SUBTRACT(@@GLOBAL.gtid_purged, ?)",
		[applied, applied],
	);
	if (String(missing) !== "") {
		throw new CorkboardError(
			"CONFLICT",
			`${target} has changes that ${source.name} lacks (${missing}): a replica that was copied from had them alone, or another server has the name now. Cancel the move and begin it again.`,
		);
	}
	if (String(purged) !== "") {
		throw new CorkboardError(
			"CONFLICT",
			`The binary log of ${source.name} does not reach back to where ${target} is (${purged} was deleted): raise binlog_expire_logs_seconds, cancel the move and begin it again.`,
		);
	}
}
