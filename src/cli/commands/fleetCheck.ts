import { type Config, readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import type { FleetCheck } from "../../fleet/fleetCheck.ts";
import { databasesByHost } from "../../fleet/map/databases.ts";
import { namedSo } from "../../fleet/map/mapRanges.ts";
import { plural } from "../../util/format.ts";
import { command, option } from "../command.ts";

export const { usage, run } = command({
	summary:
		"Looks for everything that stands against an operation on the fleet.",
	options: {
		databases: option(
			"HOST",
			"print the databases that the topology has on this server, for its backup, and check nothing",
		),
	},
	details:
		"What status says, and besides: settings and versions of all MySQL servers, whom replicas follow and what they alone have, databases that are read-only, processes that are behind, operations that nobody runs. It takes up to eight seconds and changes nothing. With CORKBOARD_ADMIN_FILE it asks as the operator's account.",
	exitCodes: {
		1: "a fault, each in a sentence; or an error",
		3: "no fault was found, but not everything could be checked",
	},
	async run({ databases }, context) {
		const config = readConfig(context.env, { secret: "unneeded" });
		if (databases !== undefined) {
			const names = await databasesOn(config, databases);
			return { value: names, lines: names };
		}
		// Loaded on demand: the help does not need it.
		const { checkFleet } = await import("../../fleet/fleetCheck.ts");
		const { model } = await context.app();
		const checked = await checkFleet(model, config, context.env);
		const { faults, notes, unchecked, status } = checked;
		const { topology, hosts, members } = status;
		const code = faults.length > 0 ? 1 : unchecked.length > 0 ? 3 : 0;
		return {
			value: {
				healthy: code === 0,
				faults,
				notes,
				unchecked,
				version: topology.version,
				hosts: hosts.length,
				members: members?.length ?? null,
				settings: hosts.map(({ host, settings }) => ({ host, settings })),
			},
			lines: printed(checked),
			code,
		};
	},
});

function printed({
	faults,
	notes,
	unchecked,
	status,
}: FleetCheck): readonly string[] {
	const { topology, hosts, members } = status;
	const looked = `${plural(hosts.length, "MySQL server")}, ${
		members === null
			? "processes not known"
			: plural(members.length, "process", "processes")
	}, topology version ${topology.version}`;
	return [
		`${faults.length === 0 ? "no fault" : plural(faults.length, "fault")}: ${looked}`,
		...faults.flatMap(indented),
		...(notes.length > 0 ? ["to know", ...notes.flatMap(indented)] : []),
		...(unchecked.length > 0
			? [`not looked at: ${unchecked.length}`, ...unchecked.flatMap(indented)]
			: []),
		...hosts.map(
			({ host, settings }) =>
				`${host} needs for its tables, and has: ${(settings ?? []).map(({ name, least, value }) => `${name} ${least}, ${value}`).join("; ") || "not known"}`,
		),
	];
}

/** By `host:port`, or by its host where that is unique. Throws BAD_TOPOLOGY for a server that the topology does not name. */
async function databasesOn(
	config: Config,
	host: string,
): Promise<readonly string[]> {
	const { readConfiguredTopology } = await import("../../app/openTopology.ts");
	const hosts = databasesByHost(await readConfiguredTopology(config));
	const names = [...hosts.keys()];
	const matching = namedSo(names, host);
	const [name] = matching;
	if (name !== undefined && matching.length === 1) return hosts.get(name) ?? [];
	throw new CorkboardError(
		"BAD_TOPOLOGY",
		`The topology names ${name === undefined ? "no server" : "several servers"} ${host}: it has ${names.join(", ")}.`,
	);
}

function indented(sentence: string): readonly string[] {
	return sentence.split("\n").map((line) => `  ${line}`);
}
