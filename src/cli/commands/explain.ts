import { findActiveUser } from "../../app/findUser.ts";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { readQuery } from "../../graphql/document.ts";
import { printExplain } from "../../plan/explain/printExplain.ts";
import {
	readTextFile,
	readTextStream,
	whyUnread,
} from "../../util/textFile.ts";
import { UsageError } from "../arguments.ts";
import { command, option, optional } from "../command.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { printKeptRequest, readKeptRequest } from "../keptRequest.ts";

export const { usage, run } = command({
	summary:
		"Runs a query and prints its plan: cost, scans and fetches, shards, cache answers, time.",
	arguments: { file: optional("FILE|-") },
	options: {
		trace: option(
			"ID",
			"show what a server did, by the id of a trace, an error or a request",
		),
		variables: option(
			"JSON|@FILE",
			"the query's variables, or a file that holds them",
		),
		as: option("USER", "the viewer, by username or id"),
	},
	async run({ file, trace, variables, as }, context) {
		if (trace !== undefined) {
			if (file ?? as ?? variables) {
				throw new UsageError("--trace takes no FILE, --as or --variables.");
			}
			const config = readConfig(context.env, { secret: "unneeded" });
			const kept = await readKeptRequest(config, trace);
			return { value: kept, lines: [printKeptRequest(kept)] };
		}
		if (file === undefined) {
			throw new UsageError(
				"Missing argument FILE|-: a file with a query, - for standard input, or --trace ID.",
			);
		}
		const config = readConfig(context.env);
		const source = await content(file, context);
		const values = await readVariables(variables, context);
		await using corkboard = await openForCommand(context, config, "readOnly");
		const document = readQuery(corkboard.schema, source, file);
		const viewer =
			as === undefined ? null : await findActiveUser(corkboard, as);
		const { errors = [], extensions } = await corkboard.planner.execute({
			document,
			variables: values,
			context: corkboard.createContext(viewer),
			explain: { hostOf: (shard) => corkboard.storage.map.hostOf(shard) },
		});
		const explain = extensions?.explain;
		if (explain === undefined) {
			throw new CorkboardError(
				"BAD_USER_INPUT",
				errors.map(({ message }) => message).join("\n"),
			);
		}
		return {
			value: { explain, errors },
			lines: [printExplain(explain, errors)],
		};
	},
});

async function readVariables(
	given: string | undefined,
	context: CommandContext,
): Promise<Readonly<Record<string, unknown>>> {
	if (given === undefined) return {};
	const json = given.startsWith("@")
		? await content(given.slice(1), context)
		: given;
	let variables: unknown;
	try {
		variables = JSON.parse(json);
	} catch {
		variables = undefined;
	}
	if (
		typeof variables !== "object" ||
		variables === null ||
		Array.isArray(variables)
	) {
		throw new UsageError(
			`--variables must be a JSON object or @FILE, got ${given}`,
		);
	}
	return variables as Readonly<Record<string, unknown>>;
}

/** The text of a file, or of standard input for `-`. */
async function content(
	file: string,
	{ stdin }: Pick<CommandContext, "stdin">,
): Promise<string> {
	try {
		return file === "-"
			? await readTextStream(stdin, "standard input")
			: await readTextFile(file);
	} catch (cause) {
		throw new CorkboardError(
			"BAD_DATA",
			`Cannot read ${file}: ${whyUnread(cause)}.`,
			{ cause },
		);
	}
}
