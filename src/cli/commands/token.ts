import { activeUser } from "../../app/users.ts";
import { readConfig } from "../../config.ts";
import type { Arguments, Usage } from "../arguments.ts";
import type { Io } from "../io.ts";

export const usage: Usage = {
	about: "Prints a token that makes a user the viewer.",
	operands: ["USER"],
	options: {},
	more: "USER is a username or an id. Send the token as `Authorization: Bearer TOKEN`.",
};

export async function run(given: Arguments, io: Io): Promise<number> {
	const [name = ""] = given.operands;
	await using corkboard = await io.open(readConfig(io.env), "read");
	const user = await activeUser(corkboard, name);
	io.out(await corkboard.accessTokens.sign(user));
	return 0;
}
