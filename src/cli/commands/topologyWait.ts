import { agreed } from "../../topology/barrier.ts";
import { parseInteger } from "../../util/settings.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import {
	describeAgreement,
	openStoreForCommand,
	printAgreement,
	versionIn,
} from "../topologyCommand.ts";

export const usage: Usage = {
	summary: "Waits until every process serves a version of the topology.",
	operands: ["VERSION"],
	options: {
		seconds: { value: "N", description: "at most so long (default: 60)" },
		json: JSON_OPTION,
	},
	exitCodes: { 3: "some do not, and are named" },
};

export async function run(
	{ operands: [text], options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const version = versionIn(text);
	const seconds = parseInteger(options.seconds ?? "60", 1, 86_400);
	if (seconds === undefined) {
		throw new UsageError(
			`--seconds must be between 1 and 86400, got ${options.seconds}.`,
		);
	}
	await using store = openStoreForCommand(context);
	const agreement = await agreed(store, version, seconds * 1_000);
	context.stdout(
		options.json === undefined
			? printAgreement(agreement, version)
			: JSON.stringify(
					{ version, ...describeAgreement(agreement) },
					null,
					"\t",
				),
	);
	return agreement.missing.length === 0 ? 0 : 3;
}
