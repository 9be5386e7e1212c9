import { type Config, readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { databasesByHost } from "../../ops/fleet/databases.ts";
import { plural } from "../../util/format.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";

export const usage: Usage = {
	summary:
		"Looks for everything that stands against an operation on the fleet.",
	operands: [],
	options: {
		databases: {
			value: "HOST",
			description:
				"print the databases that the topology has on this server, for its backup, and check nothing",
		},
		json: JSON_OPTION,
	},
	details:
		"What status says, and besides: settings and versions of all MySQL servers, whom replicas follow and what they alone have, databases that are read-only, processes that are behind, operations that nobody runs. It takes up to eight seconds and changes nothing. With CORKBOARD_ADMIN_FILE it asks as the operator's account.",
	exitCodes: {
		1: "a fault, each in a sentence; or an error",
		3: "no fault was found, but not everything could be looked at",
	},
};

export async function run(
	{ options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const config = readConfig(context.env, { secret: "unneeded" });
	if (options.databases !== undefined) {
		const names = await databasesOn(config, options.databases);
		context.stdout(
			options.json === undefined
				? names.join("\n")
				: JSON.stringify(names, null, "\t"),
		);
		return 0;
	}
	// Loaded on demand: the help does not need it.
	const { checkFleet } = await import("../../app/fleetCheck.ts");
	const { faults, unchecked, status } = await checkFleet(config, context.env);
	const { topology, hosts, members } = status;
	const code = faults.length > 0 ? 1 : unchecked.length > 0 ? 3 : 0;
	if (options.json !== undefined) {
		const described = {
			healthy: code === 0,
			faults,
			unchecked,
			version: topology.version,
			hosts: hosts.length,
			members: members?.length ?? null,
		};
		context.stdout(JSON.stringify(described, null, "\t"));
		return code;
	}
	const looked = `${plural(hosts.length, "MySQL server")}, ${
		members === null
			? "processes not known"
			: plural(members.length, "process", "processes")
	}, topology version ${topology.version}`;
	context.stdout(
		[
			`${faults.length === 0 ? "no fault" : plural(faults.length, "fault")}: ${looked}`,
			...faults.flatMap(indented),
			...(unchecked.length > 0
				? [`not looked at: ${unchecked.length}`, ...unchecked.flatMap(indented)]
				: []),
		].join("\n"),
	);
	return code;
}

/** By `host:port`, or by its host where that is unique. Throws BAD_TOPOLOGY for a server that the topology does not name. */
async function databasesOn(
	config: Config,
	host: string,
): Promise<readonly string[]> {
	const { readConfiguredTopology } = await import("../../app/openTopology.ts");
	const hosts = databasesByHost(await readConfiguredTopology(config));
	const names = [...hosts.keys()];
	const matching = names.filter(
		(name) => name === host || name.replace(/:\d+$/, "") === host,
	);
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
