import { findActiveUser } from "../../app/findUser.ts";
import { readConfig } from "../../config/config.ts";
import type { ParsedArguments, Usage } from "../arguments.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";

export const usage: Usage = {
	summary: "Prints an access token of a user.",
	operands: ["USER"],
	options: {},
	details:
		"USER is a username or an id. Send the token as `Authorization: Bearer TOKEN`.",
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [name = ""] = given.operands;
	await using corkboard = await openForCommand(
		context,
		readConfig(context.env),
		"readOnly",
	);
	const user = await findActiveUser(corkboard, name);
	context.stdout(await corkboard.accessTokens.sign(user));
	return 0;
}
