import type { FleetServer } from "./fleetServer.ts";

const ROWS = ["SELECT", "INSERT", "UPDATE", "DELETE"];

/** What processes and commands need on the databases of each kind, but for `init`, which may have an account of its own. */
export const ACCOUNT_PRIVILEGES: Readonly<
	Record<"db" | "mod" | "feed" | "queue" | "pool", readonly string[]>
> = {
	db: ROWS,
	mod: ROWS,
	feed: ROWS,
	// Its tables and partitions come and go by the hour.
	queue: [...ROWS, "CREATE", "ALTER", "DROP", "LOCK TABLES"],
	pool: ROWS,
};

/** A sentence if the account of the processes, as `server` is asked with, lacks something on these databases. */
export async function accountFaults(
	server: FleetServer,
	databases: readonly string[],
): Promise<string | null> {
	const missing = await missingOnDatabases(server, databases, (name) => {
		const kind = name.replace(/\d+$/, "");
		// That of the host has the rows of shards.
		return ACCOUNT_PRIVILEGES[kind as keyof typeof ACCOUNT_PRIVILEGES] ?? ROWS;
	});
	return missing.length === 0
		? null
		: `${server.name}: the account of the processes lacks ${describeMissing(missing)}: corkboard grants show.`;
}

/** Some privileges of an account, on all databases that a pattern names. */
interface Grant {
	readonly privileges: ReadonlySet<string>;
	readonly databases: RegExp;
	/** How much of the pattern is before its first wildcard; -1: it is on all databases of the server. */
	readonly literal: number;
}

/** A privilege that the account lacks on some databases. */
interface MissingPrivilege {
	readonly privilege: string;
	readonly databases: readonly string[];
}

/**
 * What the account with which `server` is asked lacks on these databases, with the
 * roles that are active for it. Grants on single tables do not count.
 */
export async function missingOnDatabases(
	server: FleetServer,
	databases: readonly string[],
	privilegesOf: (database: string) => readonly string[],
): Promise<readonly MissingPrivilege[]> {
	const [[isLiteral] = [], rows] = await Promise.all([
		server.rows(
			"partial revokes",
			"SHOW GLOBAL VARIABLES WHERE Variable_name = 'partial_revokes' AND Value = 'ON'",
		),
		server.rows("grants", "SHOW GRANTS"),
	]);
	const grants = rows.flatMap(([text]) =>
		grantIn(String(text), isLiteral !== undefined),
	);
	const missing = new Map<string, string[]>();
	for (const database of databases) {
		const held = grantsOn(database, grants);
		for (const privilege of privilegesOf(database)) {
			const isHeld = held.some(
				({ privileges }) =>
					privileges.has(privilege) || privileges.has("ALL PRIVILEGES"),
			);
			if (isHeld) continue;
			const lacking = missing.get(privilege) ?? [];
			missing.set(privilege, [...lacking, database]);
		}
	}
	return [...missing].map(([privilege, lacking]) => ({
		privilege,
		databases: lacking,
	}));
}

/** `SELECT and INSERT on db00000 and 3 more`, for each group of databases. */
export function describeMissing(missing: readonly MissingPrivilege[]): string {
	const byDatabases = Map.groupBy(missing, ({ databases }) => databases.join());
	return [...byDatabases.values()]
		.map((group) => {
			const [{ databases } = { databases: [] }] = group;
			const more = databases.length - 1;
			return `${group.map(({ privilege }) => privilege).join(", ")} on ${databases[0]}${more > 0 ? ` and ${more} more` : ""}`;
		})
		.join("; ");
}

/** If several patterns match, MySQL takes the most specific alone, beside what is granted on all databases. */
function grantsOn(
	database: string,
	grants: readonly Grant[],
): readonly Grant[] {
	const matching = grants.filter(({ databases }) => databases.test(database));
	const most = Math.max(...matching.map(({ literal }) => literal));
	return matching.filter(({ literal }) => literal === -1 || literal === most);
}

/** None for a grant of a role, on a table, or on a routine. */
function grantIn(text: string, isLiteral: boolean): readonly Grant[] {
	const [, names, all, database] =
		/^GRANT (.+?) ON (?:(\*)|`((?:[^`]|``)+)`)\.\* TO /.exec(text) ?? [];
	if (names === undefined) return [];
	const pattern =
		all === undefined ? String(database).replaceAll("``", "`") : "%";
	const wildcard = isLiteral ? -1 : pattern.search(/(?<!\\)[_%]/);
	return [
		{
			privileges: new Set(names.split(/, ?/)),
			databases: patternOf(pattern, isLiteral && all === undefined),
			literal:
				all !== undefined ? -1 : wildcard === -1 ? pattern.length : wildcard,
		},
	];
}

/** As MySQL matches the name of a database in a grant: `_` is any character, `%` any text, unless a backslash is before it. */
function patternOf(pattern: string, isLiteral: boolean): RegExp {
	const source = pattern.replaceAll(
		/\\([_%])|([_%])|([^_%])/g,
		(_, escaped, wild, other) => {
			if (wild !== undefined && !isLiteral) return wild === "_" ? "." : ".*";
			return (escaped ?? wild ?? other).replace(/[^A-Za-z0-9]/, "\\$&");
		},
	);
	return new RegExp(`^${source}$`, "s");
}
