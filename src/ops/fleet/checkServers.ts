import { CorkboardError } from "../../errors.ts";
import { parseHostUrl } from "../../topology/hostUrl.ts";
import type { Environment } from "../../topology/secret.ts";
import type { HostRange, Topology } from "../../topology/types.ts";
import { FleetServer } from "./fleetServer.ts";
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
}

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
): Promise<ServerCheck> {
	const faults: string[] = [];
	const unchecked: string[] = [];
	const ids = new Map<string, string>();
	await Promise.all(pairsOf(topology).map(checkPair));
	return { faults: faults.toSorted(), unchecked: unchecked.toSorted() };

	async function checkPair({ primary, replica }: Pair): Promise<void> {
		await using one = new FleetServer(primary, environment);
		await using two =
			replica === null ? null : new FleetServer(replica, environment);
		const [first, second] = await Promise.all([
			checkServer(one),
			two && checkServer(two),
		]);
		if (two === null) {
			faults.push(`${one.name} has no replica.`);
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
	async function checkServer(server: FleetServer): Promise<Identity | null> {
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
		const uuid = await attempt(server, "server_uuid", async () => {
			const [own] = await server.row("uuid", "SELECT @@server_uuid");
			return String(own);
		});
		return uuid === null ? null : { uuid, serverId, version };
	}

	/** No operation makes databases read-only yet, so a person did. */
	async function checkFences(server: FleetServer): Promise<void> {
		const rows = await server.rows(
			"read-only databases",
			"SELECT schema_name FROM information_schema.schemata_extensions WHERE options LIKE '%READ ONLY=1%' AND schema_name REGEXP '^(db|mod|feed)[0-9]{5}$' ORDER BY 1",
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
function pairsOf({ shards, lookups, feeds = [] }: Topology): readonly Pair[] {
	const pairs = new Map<string, Pair>();
	const ranges: readonly HostRange[] = [...shards, ...lookups, ...feeds];
	for (const { primary, replica = null } of ranges) {
		if (parseHostUrl(primary)?.scheme !== "mysql") continue;
		const known = pairs.get(primary)?.replica ?? null;
		pairs.set(primary, { primary, replica: known ?? replica });
	}
	return [...pairs.values()];
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
