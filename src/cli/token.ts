import { readConfig } from "../config.ts";
import { CorkboardError } from "../errors.ts";
import type { Arguments, Usage } from "./arguments.ts";
import type { Io } from "./io.ts";
import type { Account, Opened } from "./opened.ts";

export const usage: Usage = {
	about: "Prints a token that makes a user the viewer.",
	operands: ["USER"],
	options: {},
	more: "USER is a username or an id. Send the token as `Authorization: Bearer TOKEN`.",
};

export async function run(given: Arguments, io: Io): Promise<number> {
	const [name = ""] = given.operands;
	await using graph = await io.open(readConfig(io.env), "read");
	io.out(await graph.signToken((await activeUser(graph, name)).id));
	return 0;
}

export async function activeUser(
	graph: Opened,
	idOrUsername: string,
): Promise<Account> {
	const user = await graph.user(idOrUsername);
	if (user) return user;
	throw new CorkboardError(
		"NOT_FOUND",
		`expected the username or id of a user but got: ${JSON.stringify(idOrUsername)}`,
	);
}
