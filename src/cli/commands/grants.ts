import { aclRules, CHANNELS, KEYS } from "../../cache/redis/redisRights.ts";
import {
	OPERATOR_PRIVILEGES,
	OPERATOR_TABLE_GRANTS,
} from "../../fleet/preflight/operatorGrants.ts";
import { ACCOUNT_PRIVILEGES } from "../../fleet/server/accountGrants.ts";
import { UsageError } from "../arguments.ts";
import { command, flag, option } from "../command.ts";
import { oneOf } from "../values.ts";

/** What each part of the program does to the databases. */
const PARTS: readonly {
	readonly comment: string;
	readonly privileges: string;
}[] = [
	{
		comment:
			"serve, and every command but init: rows of the shards and mod shards.",
		privileges: ACCOUNT_PRIVILEGES.db.join(", "),
	},
	{
		comment:
			"init, besides: databases and tables that are missing. Another user than that of the servers may have both.",
		privileges: "CREATE",
	},
];

/** `db00000`, `mod00000` and `feed00000`: the name and five digits. In `corkboard` is what belongs to a host, not to a shard. */
const DATABASES = [
	"`db_____`.*",
	"`mod_____`.*",
	"`feed_____`.*",
	"`corkboard`.*",
];

/** What rotation reads to make nobody wait. MariaDB does not show it. */
const WATCHED = ["metadata_locks", "setup_instruments"];

const QUEUES = "`queue_____`.*";
const POOLS = "`pool_____`.*";
const QUEUE_PRIVILEGES = ACCOUNT_PRIVILEGES.queue.join(", ");
const POOL_PRIVILEGES = ACCOUNT_PRIVILEGES.pool.join(", ");

const show = command({
	summary:
		"Prints the privileges that Corkboard's user needs in MySQL, or in Redis, and no more.",
	options: {
		user: option("USER", "name of the user (default corkboard)", "corkboard"),
		account: option(
			oneOf("ACCOUNT", ["server", "operator"]),
			"server: of servers, workers and commands (default); operator: of the account that changes the fleet",
			"server",
		),
		redis: flag("the rights of Redis's user instead, as its ACL has them"),
		accountHost: option(
			"PATTERN",
			"from where it may connect, as MySQL writes it (default %)",
			"%",
		),
		product: option(
			oneOf("PRODUCT", ["mysql", "mariadb"]),
			"mysql (default) or mariadb",
			"mysql",
		),
	},
	details: [
		"Run the statements as an administrator on each host, replicas too. They name the databases of",
		"shards, mod shards, feeds, queue shards and pool shards by a pattern. A server with partial_revokes takes no patterns: repeat",
		"them for each database.",
	].join("\n"),
	hasJson: false,
	async run({ user, account: whose, redis, accountHost, product }) {
		if (redis && whose === "operator") {
			throw new UsageError(
				"--redis and --account operator do not go together.",
			);
		}
		if (redis) return { lines: redisGrants(user) };
		const account = `${quoted(user)}@${quoted(accountHost)}`;
		if (whose === "server") return { lines: serverGrants(account, product) };
		if (product !== "mysql") {
			throw new UsageError("Operations on a fleet need MySQL, not MariaDB.");
		}
		return { lines: operatorGrants(account) };
	},
});

/** One command, and what its keys and channels are. */
function redisGrants(user: string): readonly string[] {
	return [
		...[...KEYS, ...CHANNELS].map(({ pattern, of }) => `# ${pattern}: ${of}`),
		`ACL SETUSER ${user} on '>PASSWORD' ${aclRules()
			.map((rule) => (/[[*&|]/.test(rule) ? `'${rule}'` : rule))
			.join(" ")}`,
	];
}

/** Statements for the account of servers, workers and commands. */
function serverGrants(
	account: string,
	product: "mysql" | "mariadb",
): readonly string[] {
	return [
		`-- The user itself, once: CREATE USER ${account} IDENTIFIED BY '…';`,
		...PARTS.flatMap(({ comment, privileges }) => [
			`-- ${comment}`,
			...DATABASES.map(
				(databases) => `GRANT ${privileges} ON ${databases} TO ${account};`,
			),
		]),
		"-- serve, worker, init and the commands of queues, if the topology has queues: jobs, their tables, and the partitions that come and go by the hour.",
		`GRANT ${QUEUE_PRIVILEGES} ON ${QUEUES} TO ${account};`,
		"-- serve, worker and init, if the topology has pools: what waits for home feeds. Only init needs CREATE.",
		`GRANT ${POOL_PRIVILEGES}, CREATE ON ${POOLS} TO ${account};`,
		...(product === "mysql"
			? [
					"-- worker and queues rotate, besides: who uses a table of jobs. Without it statements on jobs may wait a second for a dump.",
					...WATCHED.map(
						(table) =>
							`GRANT SELECT ON performance_schema.${table} TO ${account};`,
					),
				]
			: []),
		"-- status, besides: how far a replica is behind. Without it that is not known.",
		`GRANT ${product === "mysql" ? "REPLICATION CLIENT" : "REPLICA MONITOR"} ON *.* TO ${account};`,
	];
}

/** Statements for the account of CORKBOARD_ADMIN_FILE. */
function operatorGrants(account: string): readonly string[] {
	return [
		`-- The operator's account, once: CREATE USER ${account} IDENTIFIED BY '…';`,
		...OPERATOR_PRIVILEGES.flatMap(({ why, privileges }) => [
			`-- ${why}`,
			`GRANT ${privileges.join(", ")} ON *.* TO ${account};`,
		]),
		...OPERATOR_TABLE_GRANTS.flatMap(({ why, privileges, on }) => [
			`-- ${why}`,
			...on.map((tables) => `GRANT ${privileges} ON ${tables} TO ${account};`),
		]),
	];
}

/** As a string of SQL, on one line: it is also within a comment. */
function quoted(text: string): string {
	return `'${[...text].map((character) => ESCAPES[character] ?? character).join("")}'`;
}

const ESCAPES: Readonly<Record<string, string>> = {
	"'": "''",
	"\\": "\\\\",
	"\0": "\\0",
	"\n": "\\n",
	"\r": "\\r",
	"\x1a": "\\Z",
};

export const verbs = {
	show,
};
