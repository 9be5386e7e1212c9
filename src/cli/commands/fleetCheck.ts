import { readConfig } from "../../config/config.ts";
import { plural } from "../../util/format.ts";
import { JSON_OPTION, type ParsedArguments, type Usage } from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";

export const usage: Usage = {
	summary:
		"Looks for everything that stands against an operation on the fleet.",
	operands: [],
	options: { json: JSON_OPTION },
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

function indented(sentence: string): readonly string[] {
	return sentence.split("\n").map((line) => `  ${line}`);
}
