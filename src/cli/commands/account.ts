import { findUser } from "../../app/findUser.ts";
import { readConfig } from "../../config/config.ts";
import {
	type Fields,
	updatedStoredJson,
} from "../../domain/resolvers/storedJson.ts";
import { MAX_ACCOUNT } from "../../domain/validators.ts";
import { CorkboardError } from "../../errors.ts";
import { type ParsedArguments, type Usage, UsageError } from "../arguments.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";

export const usage: Usage = {
	summary:
		"Links a user to an account of an external token issuer, or closes or reopens the user's account.",
	operands: ["USER"],
	options: {
		link: {
			value: "ACCOUNT",
			description: "the subject of tokens that sign this user in",
		},
		unlink: {
			description:
				"remove the link: external tokens no longer sign this user in",
		},
		close: {
			description:
				"hide the user with everything the user owns, and refuse the user's tokens, as deactivateUser does",
		},
		reopen: { description: "undo --close" },
	},
	details:
		"USER is a username or an id; closed accounts are found too. Stop the server of an embedded data folder first.",
};

export async function run(
	given: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const [name = ""] = given.operands;
	const changes = changesOf(given);
	await using corkboard = await openForCommand(
		context,
		readConfig(context.env),
		"readWrite",
	);
	const user = await findUser(corkboard, name);
	try {
		await corkboard
			.createContext(null)
			.writes()
			.modify(user, (data) =>
				updatedStoredJson(corkboard.model, "User", data, changes),
			);
	} catch (thrown) {
		if (thrown instanceof CorkboardError && thrown.code === "CONFLICT") {
			throw new CorkboardError(
				"CONFLICT",
				`Account ${JSON.stringify(changes.account)} is linked to another user.`,
				{ cause: thrown },
			);
		}
		throw thrown;
	}
	context.stdout(user);
	return 0;
}

function changesOf({ options }: ParsedArguments): Fields {
	const { link, unlink, close, reopen } = options;
	const both = (one: unknown, other: unknown) =>
		one !== undefined && other !== undefined;
	if (both(link, unlink) || both(close, reopen)) {
		throw new UsageError(
			"Give --link or --unlink, not both, and --close or --reopen, not both.",
		);
	}
	if ([link, unlink, close, reopen].every((one) => one === undefined)) {
		throw new UsageError(
			"Missing option: --link ACCOUNT, --unlink, --close or --reopen.",
		);
	}
	if (link !== undefined && (link === "" || link.length > MAX_ACCOUNT)) {
		throw new UsageError(
			`ACCOUNT must have 1 to ${MAX_ACCOUNT} characters, got ${link.length}.`,
		);
	}
	return {
		...(link !== undefined && { account: link }),
		...(unlink !== undefined && { account: null }),
		...(close !== undefined && { deactivatedAt: new Date().toISOString() }),
		...(reopen !== undefined && { deactivatedAt: null }),
	};
}
