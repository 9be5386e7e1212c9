import { CorkboardError } from "../../errors.ts";
import { parseHostUrl } from "../../topology/hostUrl.ts";
import { shardsOf } from "../../topology/ranges.ts";
import type { Environment } from "../../topology/secret.ts";
import type { Topology } from "../../topology/types.ts";
import {
	type DatabaseKind,
	databaseName,
	OUR_DATABASES,
	rangesByKind,
} from "../map/databases.ts";
import { replicaFaults } from "../map/promotionHosts.ts";
import {
	ACCOUNT_PRIVILEGES,
	describeMissing,
	missingOnDatabases,
} from "../server/accountGrants.ts";
import {
	FleetServer,
	hasOperator,
	withoutOperator,
} from "../server/fleetServer.ts";
import { counterFaults } from "../server/localIds.ts";
import { type ClockOffset, clockFaults, readClock } from "./clocks.ts";
import { grantFaults, NEEDED_GRANTS } from "./operatorGrants.ts";
import { FLEET_SETTINGS, settingFaults } from "./serverSettings.ts";

/** What operations on a fleet would meet. */
export interface ServerCheck {
	/** A sentence for each fault. */
	readonly faults: readonly string[];
	/** What could not be looked at, and why. */
	readonly unchecked: readonly string[];
}

/** Databases that can be made read-only one by one, which operations rely on. */
const LEAST_VERSION = [8, 0, 22] as const;

/** A primary and its replica, as host URLs. */
interface Pair {
	readonly primary: string;
	readonly replica: string | null;
	/** Of which it is the primary, by name. */
	readonly databases: readonly string[];
	/** Pools may have none. */
	readonly needsReplica: boolean;
}

/** What servers are compared with. */
export interface FleetFacts {
	/** How many processes serve or work; 1 where that is not known. */
	readonly processes?: number;
	/** Most connections of one process to each server, by `host:port`; of a server that is absent, they are not compared. */
	readonly connections?: ReadonlyMap<string, number>;
	/** The clock of this process: milliseconds since 1970. */
	readonly now?: () => number;
}

/** Connections beside those of processes: of replication, commands, exporters and people. */
const OTHER_CONNECTIONS = 20;

/** What a server says of itself. */
interface Identity {
	readonly uuid: string;
	readonly serverId: string;
	readonly version: string;
}

/** Looks at all MySQL servers of a topology side by side, with the operator's account where there is one. Changes nothing. */
export async function checkServers(
	topology: Topology,
	environment: Environment,
	{ processes = 1, connections, now = Date.now }: FleetFacts = {},
): Promise<ServerCheck> {
	const faults: string[] = [];
	const unchecked: string[] = [];
	const ids = new Map<string, string>();
	const clocks: ClockOffset[] = [];
	await Promise.all(pairsOf(topology).map(checkPair));
	faults.push(...clockFaults(clocks), ...replicaFaults(topology));
	return { faults: faults.toSorted(), unchecked: unchecked.toSorted() };

	async function checkPair(pair: Pair): Promise<void> {
		const { primary, replica } = pair;
		await using one = new FleetServer(primary, environment);
		await using two =
			replica === null ? null : new FleetServer(replica, environment);
		const [first, second] = await Promise.all([
			checkServer(one, primary, pair),
			replica === null || two === null ? null : checkServer(two, replica, pair),
		]);
		if (two === null) {
			if (pair.needsReplica) faults.push(`${one.name} has no replica.`);
			return;
		}
		if (first === null || second === null) return;
		if (compareVersions(second.version, first.version) < 0) {
			faults.push(
				`${two.name} has version ${second.version}, which is older than ${first.version} of its primary ${one.name}.`,
			);
		}
		await attempt(two, "replication", () => checkReplica(one, first, two));
	}

	/** Null where it cannot be asked, or is no MySQL. */
	async function checkServer(
		server: FleetServer,
		url: string,
		{ databases }: Pair,
	): Promise<Identity | null> {
		const row = await attempt(server, "identity", () =>
			server.row("identity", "SELECT @@server_id, @@version"),
		);
		if (row === null) return null;
		const [serverId, version] = row.map(String) as [string, string];
		if (version.includes("MariaDB")) {
			unchecked.push(
				`${server.name} is a MariaDB: promote needs MySQL, and its settings are not looked at.`,
			);
			return null;
		}
		if (compareVersions(version, LEAST_VERSION.join(".")) < 0) {
			faults.push(
				`${server.name} has version ${version}: promote needs MySQL ${LEAST_VERSION.join(".")} or later.`,
			);
		}
		const other = ids.get(serverId);
		if (other !== undefined) {
			faults.push(
				`${server.name} and ${other} have the same server_id, ${serverId}.`,
			);
		}
		ids.set(serverId, server.name);
		await attempt(server, "settings", async () => {
			faults.push(...(await settingFaults(server, FLEET_SETTINGS)));
		});
		await attempt(server, "read-only databases", () => checkFences(server));
		await attempt(server, "privileges", () =>
			checkPrivileges(server, databases),
		);
		await attempt(server, "grants", () => checkGrants(server, url, databases));
		await attempt(server, "connections", () => checkConnections(server));
		await attempt(server, "clock", async () => {
			clocks.push(await readClock(server, now));
		});
		await attempt(server, "local ids", async () => {
			const counting = databases.filter((name) => /^(db|feed)/.test(name));
			faults.push(...(await counterFaults(server, counting)));
		});
		const uuid = await attempt(server, "server_uuid", async () => {
			const [own] = await server.row("uuid", "SELECT @@server_uuid");
			return String(own);
		});
		return uuid === null ? null : { uuid, serverId, version };
	}

	/** Of the operator's account: without one, the account of the URL only looks. */
	async function checkPrivileges(
		server: FleetServer,
		databases: readonly string[],
	): Promise<void> {
		if (!hasOperator(environment)) return;
		faults.push(
			...(await grantFaults(server, NEEDED_GRANTS["replica add"], databases)),
		);
	}

	/** Of the account that processes have: each server has accounts of its own. */
	async function checkGrants(
		server: FleetServer,
		url: string,
		databases: readonly string[],
	): Promise<void> {
		await using own = new FleetServer(url, withoutOperator(environment));
		const missing = await missingOnDatabases(
			own,
			databases,
			(name) => ACCOUNT_PRIVILEGES[kindOf(name)],
		);
		if (missing.length > 0) {
			faults.push(
				`${server.name}: the account of the processes lacks ${describeMissing(missing)}: corkboard grants.`,
			);
		}
	}

	async function checkConnections(server: FleetServer): Promise<void> {
		const each = connections?.get(server.name);
		if (each === undefined) return;
		const [allowed] = await server.row(
			"connections",
			"SELECT @@GLOBAL.max_connections",
		);
		const needed = processes * each + OTHER_CONNECTIONS;
		if (Number(allowed) >= needed) return;
		faults.push(
			`${server.name}: max_connections must be at least ${needed}, got ${allowed}: ${processes === 1 ? "a process" : `each of ${processes} processes`} may open ${each}, and others ${OTHER_CONNECTIONS}.`,
		);
	}

	/** No operation makes databases read-only yet, so a person did. */
	async function checkFences(server: FleetServer): Promise<void> {
		const rows = await server.rows(
			"read-only databases",
			`SELECT schema_name FROM information_schema.schemata_extensions WHERE options LIKE '%READ ONLY=1%' AND schema_name REGEXP '${OUR_DATABASES}' ORDER BY 1`,
		);
		if (rows.length === 0) return;
		const [[name] = []] = rows;
		faults.push(
			`${server.name}: ${rows.length === 1 ? `${name} is` : `${name} and ${rows.length - 1} more are`} read-only, and no operation made them so: ALTER DATABASE ${name} READ ONLY = 0.`,
		);
	}

	async function checkReplica(
		one: FleetServer,
		first: Identity,
		two: FleetServer,
	): Promise<void> {
		const state = await two.replica();
		// `status` says that it does not replicate.
		if (state === null) return;
		if (state.sourceUuid !== first.uuid) {
			faults.push(
				`${two.name} follows another server than its primary ${one.name}.`,
			);
			return;
		}
		const [isFenced] = await two.row(
			"fence",
			"SELECT @@GLOBAL.super_read_only",
		);
		if (String(isFenced) !== "1") {
			faults.push(
				`${two.name} takes writes, although it is a replica: SET PERSIST super_read_only = ON.`,
			);
		}
		// In this order: what comes between is on the primary.
		const executed = await two.executed();
		const errant = await two.subtract(executed, await one.executed());
		if (errant !== "") {
			faults.push(
				`${two.name} has transactions that ${one.name} lacks: ${errant}. It was written to, and has to be rebuilt.`,
			);
		}
	}

	async function attempt<T>(
		server: FleetServer,
		what: string,
		body: () => Promise<T>,
	): Promise<T | null> {
		try {
			return await body();
		} catch (error) {
			if (!(error instanceof CorkboardError)) throw error;
			const text = error.message.startsWith(server.name)
				? error.message
				: `${server.name}, ${what}: ${error.message}`;
			unchecked.push(text);
			return null;
		}
	}
}

/** Each primary with its replica once; only MySQL. */
function pairsOf(topology: Topology): readonly Pair[] {
	const pairs = new Map<string, Pair>();
	for (const [kind, ranges] of Object.entries(rangesByKind(topology))) {
		for (const { range, primary, replica = null } of ranges) {
			if (parseHostUrl(primary)?.scheme !== "mysql") continue;
			const known = pairs.get(primary);
			const databases = shardsOf([{ range, primary }]).map((number) =>
				databaseName(kind as DatabaseKind, number),
			);
			pairs.set(primary, {
				primary,
				replica: known?.replica ?? replica,
				databases: [...(known?.databases ?? []), ...databases],
				needsReplica: (known?.needsReplica ?? false) || kind !== "pool",
			});
		}
	}
	return [...pairs.values()];
}

function kindOf(database: string): DatabaseKind {
	return database.replace(/\d+$/, "") as DatabaseKind;
}

/** Negative where the first is older. */
function compareVersions(first: string, second: string): number {
	const numbers = (text: string) =>
		(/^\d+(\.\d+)*/.exec(text)?.[0] ?? "0").split(".").map(Number);
	const [a, b] = [numbers(first), numbers(second)];
	for (let at = 0; at < 3; at++) {
		const difference = (a[at] ?? 0) - (b[at] ?? 0);
		if (difference !== 0) return difference;
	}
	return 0;
}
