import {
	describeMissing,
	missingOnDatabases,
} from "../server/accountGrants.ts";
import type { FleetServer } from "../server/fleetServer.ts";

/** What the operator's account needs on each server, and for what. */
export const OPERATOR_PRIVILEGES: readonly {
	readonly why: string;
	readonly privileges: readonly string[];
}[] = [
	{
		why: "fences: super_read_only, which a server keeps over a restart.",
		privileges: ["SYSTEM_VARIABLES_ADMIN", "PERSIST_RO_VARIABLES_ADMIN"],
	},
	{
		why: "replication, which uses this account too.",
		privileges: [
			"REPLICATION_SLAVE_ADMIN",
			"REPLICATION SLAVE",
			"REPLICATION CLIENT",
			// RESET REPLICA.
			"RELOAD",
		],
	},
	{
		why: "transactions that are open for long, the size of a copy, ending one that runs, and writing past a fence that holds connections up.",
		privileges: ["PROCESS", "CONNECTION_ADMIN"],
	},
	{
		why: "replicas add: the copy, and seeing that nothing else is on the new server.",
		privileges: ["BACKUP_ADMIN", "CLONE_ADMIN", "SHOW DATABASES"],
	},
];

/** What it needs besides on some databases. */
export const OPERATOR_TABLE_GRANTS: readonly {
	readonly why: string;
	readonly privileges: string;
	readonly on: readonly string[];
}[] = [
	{
		why: "promotion: comparing tables, and raising local ids: by a row or, if what was added to a table makes it refuse the row, by altering the table. Checks try it on temporary copies.",
		privileges: "SELECT, INSERT, CREATE, ALTER, CREATE TEMPORARY TABLES",
		on: [
			"`db_____`.*",
			"`mod_____`.*",
			"`queue_____`.*",
			"`feed_____`.*",
			"`pool_____`.*",
			"`corkboard`.*",
		],
	},
	{
		why: "moving shards: their rows and tables, fences, copies under other names, and how far it is.",
		privileges: "ALL",
		on: [
			"`db_____`.*",
			"`mod_____`.*",
			"`feed_____`.*",
			"`pool_____`.*",
			"`park\\_%`.*",
			"`corkboard`.*",
			"`corkboard_ops`.*",
		],
	},
	{
		why: "how far a copy and replication are.",
		privileges: "SELECT",
		on: ["performance_schema.*"],
	},
	{
		why: "replicas add: loading the clone plugin, if the option file does not.",
		privileges: "INSERT",
		on: ["mysql.plugin"],
	},
];

/** What each command's steps need of a server, beside what they need on databases. */
const REPLICATING = [
	"SYSTEM_VARIABLES_ADMIN",
	"PERSIST_RO_VARIABLES_ADMIN",
	"REPLICATION_SLAVE_ADMIN",
	"REPLICATION CLIENT",
	"RELOAD",
] as const;
export const NEEDED_GRANTS = {
	/** On both servers: they change places, and one follows the other with this account. */
	promote: [...REPLICATING, "REPLICATION SLAVE", "PROCESS"],
	/** On the replica; the primary is only fenced, if it answers. */
	"promote --dead": REPLICATING,
	fence: ["SYSTEM_VARIABLES_ADMIN", "PERSIST_RO_VARIABLES_ADMIN"],
	"replica add": OPERATOR_PRIVILEGES.flatMap(({ privileges }) => privileges),
	/** On both primaries: the binary log, transactions in the way, and fences. */
	move: [
		"REPLICATION SLAVE",
		"REPLICATION CLIENT",
		"PROCESS",
		"CONNECTION_ADMIN",
	],
	/** On the replica, if it answers. */
	"replica remove": REPLICATING,
} as const;

/** What this one of before MySQL 8 stands for. */
const SUPER = [
	"SYSTEM_VARIABLES_ADMIN",
	"PERSIST_RO_VARIABLES_ADMIN",
	"REPLICATION_SLAVE_ADMIN",
	"CONNECTION_ADMIN",
];

/** What raising the local ids of a database takes. */
const RAISING = [
	"SELECT",
	"INSERT",
	"CREATE",
	"ALTER",
	"CREATE TEMPORARY TABLES",
];

/** A sentence if the account lacks a right that a command needs on a server; asked before the command changes anything. */
export async function grantFaults(
	server: FleetServer,
	needed: readonly string[],
	databases: readonly string[] = [],
	onDatabases: readonly string[] = RAISING,
): Promise<readonly string[]> {
	const all = [...(await missingPrivileges(server, needed))];
	const missing = await missingOnDatabases(
		server,
		databases,
		() => onDatabases,
	);
	if (missing.length > 0) all.push(describeMissing(missing));
	return all.length === 0
		? []
		: [
				`${server.name}: the operator's account lacks ${all.join(", ")}: corkboard grants show --account operator.`,
			];
}

/** Those of these global privileges that the account lacks on a server. */
async function missingPrivileges(
	server: FleetServer,
	needed: readonly string[],
): Promise<readonly string[]> {
	const rows = await server.rows("grants", "SHOW GRANTS");
	const held = new Set(
		rows.flatMap(([grant]) => {
			const [, names] = /^GRANT (.+) ON \*\.\* TO /.exec(String(grant)) ?? [];
			return names?.split(/, ?/) ?? [];
		}),
	);
	if (held.has("ALL PRIVILEGES")) return [];
	if (held.has("SUPER")) for (const name of SUPER) held.add(name);
	return needed.filter((name) => !held.has(name));
}
