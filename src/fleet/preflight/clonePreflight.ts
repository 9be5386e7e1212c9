import type { FleetServer } from "../server/fleetServer.ts";
import { grantFaults, NEEDED_GRANTS } from "./operatorGrants.ts";
import { readVersion } from "./preflight.ts";
import { PROMOTION_SETTINGS, settingFaults } from "./serverSettings.ts";

/** What a copy has to share with its source. */
const SAME = [
	"innodb_page_size",
	"lower_case_table_names",
	"version_compile_machine",
	"version_compile_os",
	"character_set_server",
	"collation_server",
];
const PLUGIN = "clone";
/** Databases that each server has. */
const OWN = ["mysql", "sys", "information_schema", "performance_schema"];

export interface ClonePlan {
	/** A sentence for each thing that speaks against it. */
	readonly faults: readonly string[];
	/** How much is copied, as the source estimates it. */
	readonly bytes: number;
}

/** Everything that speaks against a copy of one server into another, which has to be empty. Changes nothing. */
export async function clonePreflight(
	source: FleetServer,
	target: FleetServer,
): Promise<ClonePlan> {
	const faults: string[] = [];
	const [from, to] = await Promise.all([
		readVersion(source),
		readVersion(target),
	]);
	faults.push(...from.faults, ...to.faults);
	if (faults.length > 0) return { faults, bytes: 0 };
	if (from.version !== to.version) {
		faults.push(
			`${target.name} is MySQL ${to.version}, but ${source.name} is ${from.version}: a copy needs the same version.`,
		);
	}
	for (const server of [source, target]) {
		// Without SHOW DATABASES a server that holds others' data would seem to be empty.
		faults.push(...(await grantFaults(server, NEEDED_GRANTS["replica add"])));
	}
	if (faults.length > 0) return { faults, bytes: 0 };
	faults.push(...(await differences(source, target)));
	for (const server of [source, target]) {
		faults.push(...(await settingFaults(server, PROMOTION_SETTINGS)));
		faults.push(...(await pluginFaults(server)));
	}
	const [isWatched] = await target.row(
		"performance schema",
		"SELECT @@performance_schema",
	);
	if (String(isWatched) !== "1") {
		faults.push(
			`${target.name}: performance_schema must be ON, as it says how far a copy is.`,
		);
	}
	const held = await databasesOn(target);
	if (held.length > 0) {
		faults.push(
			`${target.name} has databases of its own, which a copy would drop: ${held.slice(0, 3).join(", ")}${held.length > 3 ? ` and ${held.length - 3} more` : ""}. Drop them, or give it an empty data folder.`,
		);
	}
	if ((await target.replica()) !== null) {
		faults.push(
			`${target.name} follows another server: STOP REPLICA; RESET REPLICA ALL.`,
		);
	}
	const [bytes] = await source.row(
		"size",
		"SELECT COALESCE(SUM(file_size), 0) FROM information_schema.innodb_tablespaces",
	);
	return { faults, bytes: Number(bytes) };
}

/** Databases besides those that each server has. */
export async function databasesOn(
	server: FleetServer,
): Promise<readonly string[]> {
	const rows = await server.rows(
		"databases",
		"SELECT schema_name FROM information_schema.schemata WHERE schema_name NOT IN (?) ORDER BY 1",
		[OWN],
	);
	return rows.map(([name]) => String(name));
}

/** Loads the plugin where it is not loaded. Throws UNAVAILABLE if the server does not have it. */
export async function installClone(server: FleetServer): Promise<void> {
	if (await hasClone(server)) return;
	const isFenced = await server.isFenced();
	// It is written into a table of the server's own, which no replica receives.
	if (isFenced) {
		await server.run("lift fence", "SET GLOBAL super_read_only = OFF");
	}
	try {
		await server.run(
			"install clone",
			`INSTALL PLUGIN ${PLUGIN} SONAME 'mysql_clone.so'`,
		);
	} finally {
		if (isFenced) {
			await server.run("fence", "SET GLOBAL super_read_only = ON");
		}
	}
}

/** Whether the clone plugin is loaded. Without it nothing says whether there was a copy. */
export async function hasClone(server: FleetServer): Promise<boolean> {
	const [status] = await server.row(
		"plugin",
		"SELECT plugin_status FROM information_schema.plugins WHERE plugin_name = ?",
		[PLUGIN],
	);
	return status === "ACTIVE";
}

/** Whether it is there, or the account may load it. Whether the server has its file, only loading it says. */
async function pluginFaults(server: FleetServer): Promise<readonly string[]> {
	if (await hasClone(server)) return [];
	const rows = await server.rows("grants", "SHOW GRANTS");
	const mayInstall = rows.some(([grant]) =>
		/^GRANT (.*\bINSERT\b.* ON (\*\.\*|`mysql`\.(\*|`plugin`)) |ALL PRIVILEGES ON \*\.\*)/.test(
			String(grant),
		),
	);
	return mayInstall
		? []
		: [
				`${server.name} has not loaded the clone plugin, and the account may not load it: plugin-load-add=mysql_clone.so in its option file, or GRANT INSERT ON mysql.plugin.`,
			];
}

async function differences(
	source: FleetServer,
	target: FleetServer,
): Promise<readonly string[]> {
	const text = `SHOW GLOBAL VARIABLES WHERE Variable_name IN (${[...SAME, "server_id", "server_uuid"].map((name) => `'${name}'`).join(", ")})`;
	const read = async (server: FleetServer) =>
		new Map(
			(await server.rows("settings", text)).map(([name, value]) => [
				String(name),
				String(value),
			]),
		);
	const [theirs, own] = await Promise.all([read(source), read(target)]);
	const faults = SAME.filter((name) => theirs.get(name) !== own.get(name)).map(
		(name) =>
			`${target.name}: ${name} must be ${theirs.get(name)} as at ${source.name}, got ${own.get(name)}.`,
	);
	for (const name of ["server_id", "server_uuid"]) {
		if (theirs.get(name) !== own.get(name)) continue;
		faults.push(
			`${source.name} and ${target.name} have the same ${name}, ${own.get(name)}.`,
		);
	}
	return faults;
}
