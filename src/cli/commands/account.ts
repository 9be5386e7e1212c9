import { readConfig } from "../../config/config.ts";
import { findUser } from "../../domain/findUser.ts";
import {
	type Fields,
	updatedStoredJson,
} from "../../domain/resolvers/base/storedJson.ts";
import { MAX_ACCOUNT } from "../../domain/validators.ts";
import { CorkboardError } from "../../errors.ts";
import { UsageError } from "../arguments.ts";
import { argument, command, flag, option } from "../command.ts";
import { openForCommand } from "../commandContext.ts";
import type { Kind } from "../values.ts";

const ACCOUNT: Kind<string> = {
	name: "ACCOUNT",
	expected: `a text of 1 to ${MAX_ACCOUNT} characters`,
	read: (given) =>
		given !== "" && given.length <= MAX_ACCOUNT ? given : undefined,
};

export const { usage, run } = command({
	summary:
		"Links a user to an account of an external token issuer, or closes or reopens the user's account.",
	arguments: { user: argument("USER") },
	options: {
		link: option(ACCOUNT, "the subject of tokens that sign this user in"),
		unlink: flag(
			"remove the link: external tokens no longer sign this user in",
		),
		close: flag(
			"hide the user with everything the user owns, and refuse the user's tokens, as deactivateUser does",
		),
		reopen: flag("undo --close"),
	},
	details:
		"USER is a username or an id; closed accounts are found too. Stop the server of an embedded data folder first.",
	hasJson: false,
	async run({ user: name, ...given }, context) {
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
		return { lines: [user] };
	},
});

/** Throws UsageError where nothing would change, or a thing and its opposite. */
function changesOf({
	link,
	unlink,
	close,
	reopen,
}: {
	readonly link: string | undefined;
	readonly unlink: boolean;
	readonly close: boolean;
	readonly reopen: boolean;
}): Fields {
	if ((link !== undefined && unlink) || (close && reopen)) {
		throw new UsageError(
			"Give --link or --unlink, not both, and --close or --reopen, not both.",
		);
	}
	if (link === undefined && !unlink && !close && !reopen) {
		throw new UsageError(
			"Missing option: --link ACCOUNT, --unlink, --close or --reopen.",
		);
	}
	return {
		...(link !== undefined && { account: link }),
		...(unlink && { account: null }),
		...(close && { deactivatedAt: new Date().toISOString() }),
		...(reopen && { deactivatedAt: null }),
	};
}
