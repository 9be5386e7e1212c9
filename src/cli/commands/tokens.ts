import { findActiveUser } from "../../app/findUser.ts";
import { readConfig } from "../../config/config.ts";
import { argument, command } from "../command.ts";
import { openForCommand } from "../commandContext.ts";

const create = command({
	summary: "Prints an access token of a user.",
	arguments: { user: argument("USER") },
	details:
		"USER is a username or an id. Send the token as `Authorization: Bearer TOKEN`.",
	hasJson: false,
	async run({ user }, context) {
		await using corkboard = await openForCommand(
			context,
			readConfig(context.env),
			"readOnly",
		);
		const found = await findActiveUser(corkboard, user);
		return { lines: [await corkboard.accessTokens.sign(found)] };
	},
});

export const verbs = {
	create,
};
