import { readFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import { findActiveUser } from "../../app/findUser.ts";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { readQuery } from "../../graphql/document.ts";
import { printExplain } from "../../plan/printExplain.ts";
import {
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
	UsageError,
} from "../arguments.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { printKeptRequest, readKeptRequest } from "../keptRequest.ts";

export const usage: Usage = {
	summary:
		"Runs a query and prints its plan: cost, scans and fetches, shards, cache answers, time.",
	operands: [],
	optionalOperands: ["FILE|-"],
	options: {
		trace: {
			value: "ID",
			description: "what a server did: id of a trace, error or request",
		},
		variables: {
			value: "JSON|@FILE",
			description: "the query's variables, or a file that holds them",
		},
		as: { value: "USER", description: "the viewer, by username or id" },
		json: JSON_OPTION,
	},
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [file] = given.operands;
	const { trace, json } = given.options;
	if (trace !== undefined) {
		if (file !== undefined || given.options.as || given.options.variables) {
			throw new UsageError("--trace takes no FILE, --as or --variables.");
		}
		const config = readConfig(context.env, { secret: "unneeded" });
		const kept = await readKeptRequest(config, trace);
		context.stdout(
			json === undefined
				? printKeptRequest(kept)
				: JSON.stringify(kept, null, "\t"),
		);
		return 0;
	}
	if (file === undefined) {
		throw new UsageError(
			"Missing argument FILE|-: a file with a query, - for standard input, or --trace ID.",
		);
	}
	const config = readConfig(context.env);
	const source = file === "-" ? await text(context.stdin) : await content(file);
	const variables = await readVariables(given.options.variables);
	await using corkboard = await openForCommand(context, config, "readOnly");
	const document = readQuery(corkboard.schema, source, file);
	const { as } = given.options;
	const viewer = as === undefined ? null : await findActiveUser(corkboard, as);
	const { errors = [], extensions } = await corkboard.planner.execute({
		document,
		variables,
		context: corkboard.createContext(viewer),
		explain: { hostOf: (shard) => corkboard.storage.map.hostOf(shard) },
	});
	if (extensions?.explain === undefined) {
		throw new CorkboardError(
			"BAD_USER_INPUT",
			errors.map(({ message }) => message).join("\n"),
		);
	}
	context.stdout(
		json === undefined
			? printExplain(extensions.explain, errors)
			: JSON.stringify({ explain: extensions.explain, errors }, null, "\t"),
	);
	return 0;
}

async function readVariables(
	given: string | undefined,
): Promise<Readonly<Record<string, unknown>>> {
	if (given === undefined) return {};
	const json = given.startsWith("@") ? await content(given.slice(1)) : given;
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

async function content(file: string): Promise<string> {
	try {
		return await readFile(file, "utf8");
	} catch (cause) {
		throw new CorkboardError(
			"BAD_DATA",
			`Cannot read ${file}: ${(cause as NodeJS.ErrnoException).code}.`,
			{ cause },
		);
	}
}
