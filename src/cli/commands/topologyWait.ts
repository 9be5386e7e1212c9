import { agreed } from "../../fleet/map/barrier.ts";
import { argument, command, option } from "../command.ts";
import {
	codeOfAgreement,
	describeAgreement,
	openStoreForCommand,
	printAgreement,
} from "../topologyCommand.ts";
import { duration, version } from "../values.ts";

const MAX_WAIT_MS = 60_000;

export const { usage, run } = command({
	summary: "Waits until every process serves a version of the topology.",
	arguments: { version: argument(version()) },
	options: {
		maxWait: option(
			duration(1_000, 86_400_000),
			"at most so long (default 1m)",
			MAX_WAIT_MS,
		),
	},
	exitCodes: { 3: "some do not, and are named" },
	async run({ version, maxWait }, context) {
		await using store = openStoreForCommand(context);
		const agreement = await agreed(store, version, maxWait);
		return {
			value: { version, ...describeAgreement(agreement) },
			lines: [printAgreement(agreement, version)],
			code: codeOfAgreement(agreement),
		};
	},
});
