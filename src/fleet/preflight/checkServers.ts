import { CorkboardError } from "../../errors.ts";
import { parseHostUrl } from "../../topology/hostUrl.ts";
import { shardsOf } from "../../topology/ranges.ts";
import type { Environment } from "../../topology/secret.ts";
import type { Topology } from "../../topology/types.ts";
import {
	type DatabaseKind,
	databaseName,
	HOST_DATABASE,
	OUR_DATABASES,
	rangesByKind,
	usesOutbox,
} from "../map/databases.ts";
import { replicaFaults } from "../map/promotionHosts.ts";
import { accountFaults } from "../server/accountGrants.ts";
import {
	FleetServer,
	hasOperator,
	withoutOperator,
} from "../server/fleetServer.ts";
import { counterFaults } from "../server/localIds.ts";
import { tryRaising } from "../server/raiseLocalIds.ts";
import { type ClockOffset, clockFaults, readClock } from "./clocks.ts";
import { grantFaults, NEEDED_GRANTS } from "./operatorGrants.ts";
import { compareVersions } from "./preflight.ts";
import { FLEET_SETTINGS, settingFaults } from "./serverSettings.ts";

/** What operations on a fleet would meet. */
interface ServerCheck {
	/** A sentence for each fault. */
	readonly faults: readonly string[];
	/** What does not stop an operation, and may make it take longer. */
	readonly notes: readonly string[];
	/** What could not be looked at, and why. */
	readonly unchecked: readonly string[];
}

/** Databases that can be made read-only one by one, which operations rely on. */
const LEAST_VERSION = "8.0.22";

/** A primary and its replica, as host URLs. */
interface Pair {
	readonly primary: string;
	readonly replica: string | null;
	/** The databases of which it is the primary, by name. */
	readonly databases: readonly string[];
	/** Pools may have none. */
	readonly needsReplica: boolean;
}

/** What servers are compared with. */
interface FleetFacts {
	/** How many processes serve or work; 1 where that is not known. */
	readonly processes?: number;
	/** Most connections of one process to each server, by `host:port`; of a server that is absent, they are not compared. */
	readonly connections?: ReadonlyMap<string, number>;
	/** The clock of this process: milliseconds since 1970. */
	readonly now?: () => number;
	/** Databases that a move may have fenced, each after the name of its server: `db001a:3306 db00256`. */
	readonly fencedByMoves?: ReadonlySet<string>;
	/** Servers, by `host:port`, of operations whose records are not known: those may have fenced anything there. */
	readonly ofUnknown?: ReadonlySet<string>;
}

/** Connections beside those of processes: of replication, commands, exporters and people. */
const OTHER_CONNECTIONS = 20;

/** What a server says of itself. */
interface Identity {
	readonly uuid: string;
	readonly serverId: string;
	readonly version: string;
}

/** One server, as a check of it sees it. */
interface Checked extends Required<Pick<FleetFacts, "processes">> {
	readonly server: FleetServer;
	readonly url: string;
	readonly databases: readonly string[];
	readonly environment: Environment;
	/** Most connections of one process to it; undefined if that is not known. */
	readonly connections: number | undefined;
	readonly fencedByMoves: ReadonlySet<string>;
	readonly ofUnknown: ReadonlySet<string>;
}

interface Check {
	/** As what could not be looked at. */
	readonly what: string;
	/** A sentence for each fault; null: none. */
	readonly faults: (
		checked: Checked,
	) => Promise<readonly string[] | string | null>;
}

/** In this order, of each server. */
const CHECKS: readonly Check[] = [
	{
		what: "settings",
		faults: ({ server }) => settingFaults(server, FLEET_SETTINGS),
	},
	{ what: "read-only databases", faults: fenceFaults },
	{
		what: "privileges",
		// Rights of the operator's account. Without one, the account of the URL only looks.
		faults: async ({ server, databases, environment }) =>
			hasOperator(environment)
				? grantFaults(server, NEEDED_GRANTS["replica add"], databases)
				: [],
	},
	{
		what: "grants",
		// Each server has accounts of its own.
		faults: async ({ url, databases, environment }) => {
			await using own = new FleetServer(url, withoutOperator(environment));
			return await accountFaults(own, databases);
		},
	},
	{ what: "connections", faults: connectionFaults },
	{
		what: "local ids",
		faults: ({ server, databases }) =>
			counterFaults(
				server,
				databases.filter((name) => /^(db|feed|corkboard)/.test(name)),
			),
	},
];

/** Looks at all MySQL servers of a topology side by side, with the operator's account if there is one. Changes nothing. */
export async function checkServers(
	topology: Topology,
	environment: Environment,
	facts: FleetFacts = {},
): Promise<ServerCheck> {
	const looks = new Looks(environment, facts);
	await Promise.all(pairsOf(topology).map((pair) => looks.checkPair(pair)));
	const { faults, notes, unchecked, clocks } = looks;
	faults.push(...clockFaults(clocks), ...replicaFaults(topology));
	return {
		faults: faults.toSorted(),
		notes: notes.toSorted(),
		unchecked: unchecked.toSorted(),
	};
}

/** What is found at the servers of a fleet, which are compared with each other. */
class Looks {
	readonly faults: string[] = [];
	readonly notes: string[] = [];
	readonly unchecked: string[] = [];
	readonly clocks: ClockOffset[] = [];
	readonly #environment: Environment;
	readonly #facts: FleetFacts;
	readonly #ids = new Map<string, string>();

	constructor(environment: Environment, facts: FleetFacts) {
		this.#environment = environment;
		this.#facts = facts;
	}

	async checkPair(pair: Pair): Promise<void> {
		const { primary, replica, databases } = pair;
		await using one = new FleetServer(primary, this.#environment);
		await using two =
			replica === null ? null : new FleetServer(replica, this.#environment);
		const [first, second] = await Promise.all([
			this.#checkServer(one, primary, databases),
			replica === null || two === null
				? null
				: this.#checkServer(two, replica, databases),
		]);
		if (two === null) {
			if (pair.needsReplica) this.faults.push(`${one.name} has no replica.`);
			return;
		}
		if (first === null || second === null) return;
		if (compareVersions(second.version, first.version) < 0) {
			this.faults.push(
				`${two.name} has version ${second.version}, which is older than ${first.version} of its primary ${one.name}.`,
			);
		}
		await this.#attempt(two, "replication", async () =>
			this.faults.push(...(await replicationFaults(one, first, two))),
		);
	}

	/** Null if it cannot be asked, or is no MySQL. */
	async #checkServer(
		server: FleetServer,
		url: string,
		databases: readonly string[],
	): Promise<Identity | null> {
		const identity = await this.#identify(server);
		if (identity === null) return null;
		const {
			processes = 1,
			connections,
			now = Date.now,
			fencedByMoves = new Set<string>(),
			ofUnknown = new Set<string>(),
		} = this.#facts;
		const checked: Checked = {
			server,
			url,
			databases,
			processes,
			environment: this.#environment,
			connections: connections?.get(server.name),
			fencedByMoves,
			ofUnknown,
		};
		for (const { what, faults } of CHECKS) {
			await this.#attempt(server, what, async () =>
				this.faults.push(...[(await faults(checked)) ?? []].flat()),
			);
		}
		await this.#attempt(server, "raising local ids", async () => {
			const trial = await tryRaising(server, databases);
			this.faults.push(...trial.faults);
			this.notes.push(...trial.notes);
		});
		await this.#attempt(server, "clock", async () =>
			this.clocks.push(await readClock(server, now)),
		);
		return identity;
	}

	async #identify(server: FleetServer): Promise<Identity | null> {
		const row = await this.#attempt(server, "identity", () =>
			server.row("identity", "SELECT @@server_id, @@version"),
		);
		if (row === null) return null;
		const [serverId, version] = row.map(String) as [string, string];
		if (version.includes("MariaDB")) {
			this.unchecked.push(
				`${server.name} is a MariaDB: promote needs MySQL, and its settings are not looked at.`,
			);
			return null;
		}
		if (compareVersions(version, LEAST_VERSION) < 0) {
			this.faults.push(
				`${server.name} has version ${version}: promote needs MySQL ${LEAST_VERSION} or later.`,
			);
		}
		const other = this.#ids.get(serverId);
		if (other !== undefined) {
			this.faults.push(
				`${server.name} and ${other} have the same server_id, ${serverId}.`,
			);
		}
		this.#ids.set(serverId, server.name);
		// MariaDB has none.
		const own = await this.#attempt(server, "server_uuid", () =>
			server.row("uuid", "SELECT @@server_uuid"),
		);
		return own && { uuid: String(own[0]), serverId, version };
	}

	async #attempt<T>(
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
			this.unchecked.push(text);
			return null;
		}
	}
}

async function connectionFaults({
	server,
	processes,
	connections: each,
}: Checked): Promise<string | null> {
	if (each === undefined) return null;
	const [allowed] = await server.row(
		"connections",
		"SELECT @@GLOBAL.max_connections",
	);
	const needed = processes * each + OTHER_CONNECTIONS;
	return Number(allowed) >= needed
		? null
		: `${server.name}: max_connections must be at least ${needed}, got ${allowed}: ${processes === 1 ? "a process" : `each of ${processes} processes`} may open ${each}, and others ${OTHER_CONNECTIONS}.`;
}

/** What no move has fenced, a person has. */
async function fenceFaults({
	server,
	fencedByMoves,
	ofUnknown,
}: Checked): Promise<string | null> {
	if (ofUnknown.has(server.name)) return null;
	const all = await server.rows(
		"read-only databases",
		`SELECT schema_name FROM information_schema.schemata_extensions WHERE options LIKE '%READ ONLY=1%' AND schema_name REGEXP '${OUR_DATABASES}' ORDER BY 1`,
	);
	const rows = all.filter(
		([database]) => !fencedByMoves.has(`${server.name} ${database}`),
	);
	const [[name] = []] = rows;
	return rows.length === 0
		? null
		: `${server.name}: ${rows.length === 1 ? `${name} is` : `${name} and ${rows.length - 1} more are`} read-only, and no operation made them so: ALTER DATABASE ${name} READ ONLY = 0.`;
}

async function replicationFaults(
	one: FleetServer,
	first: Identity,
	two: FleetServer,
): Promise<readonly string[]> {
	const state = await two.replica();
	// `status` says that it does not replicate.
	if (state === null) return [];
	if (state.sourceUuid !== first.uuid) {
		return [`${two.name} follows another server than its primary ${one.name}.`];
	}
	const faults: string[] = [];
	if (!(await two.isFenced())) {
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
	return faults;
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
				databases: [
					...new Set([
						...(known?.databases ?? []),
						...databases,
						...(usesOutbox(kind) ? [HOST_DATABASE] : []),
					]),
				],
				needsReplica: (known?.needsReplica ?? false) || kind !== "pool",
			});
		}
	}
	return [...pairs.values()];
}
