import type { Identity } from "../../app/defineApp.ts";
import { findUser } from "../../app/findUser.ts";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import type { Model } from "../../model/types.ts";
import { type Fields, updatedStoredJson } from "../../resolvers/storedJson.ts";
import { UsageError } from "../arguments.ts";
import { argument, command, flag, option } from "../command.ts";
import { openForCommand } from "../commandContext.ts";
import type { Kind } from "../values.ts";

/** The longest subject in OpenID Connect Core 1.0, §2. */
const MAX_ACCOUNT = 255;

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
			"hide the user with everything the user owns, and refuse the user's tokens",
		),
		reopen: flag("undo --close"),
	},
	details:
		"USER is the name of a user, or an id; closed accounts are found too. Stop the server of an embedded data folder first.",
	hasJson: false,
	async run({ user: name, ...given }, context) {
		requireChange(given);
		await using corkboard = await openForCommand(
			context,
			readConfig(context.env),
			"readWrite",
		);
		const { app, model } = corkboard;
		const changes = changesOf(given, app.identity, model);
		const user = await findUser(corkboard, name);
		try {
			await corkboard
				.createContext(null)
				.writes()
				.modify(user, (data) =>
					updatedStoredJson(model, app.identity.type, data, changes),
				);
		} catch (thrown) {
			if (thrown instanceof CorkboardError && thrown.code === "CONFLICT") {
				throw new CorkboardError(
					"CONFLICT",
					`Account ${JSON.stringify(given.link)} is linked to another user.`,
					{ cause: thrown },
				);
			}
			throw thrown;
		}
		return { lines: [user] };
	},
});

interface Wanted {
	readonly link: string | undefined;
	readonly unlink: boolean;
	readonly close: boolean;
	readonly reopen: boolean;
}

/** Throws UsageError where nothing would change, or a thing and its opposite. */
function requireChange({ link, unlink, close, reopen }: Wanted): void {
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
}

/** Throws BAD_CONFIG where the app has no accounts of other issuers, or none that can be closed. */
function changesOf(
	{ link, unlink, close, reopen }: Wanted,
	{ accountLookup = "", closedField }: Identity,
	model: Model,
): Fields {
	const account = model.lookups.get(accountLookup)?.field;
	const [isLinking, isClosing] = [
		link !== undefined || unlink,
		close || reopen,
	];
	if (isLinking && account === undefined) {
		throw notInApp("--link and --unlink", "accountLookup");
	}
	if (isClosing && closedField === undefined) {
		throw notInApp("--close and --reopen", "closedField");
	}
	return {
		...(isLinking && { [account as string]: link ?? null }),
		...(isClosing && {
			[closedField as string]: close ? new Date().toISOString() : null,
		}),
	};
}

function notInApp(options: string, name: string): CorkboardError {
	return new CorkboardError(
		"BAD_CONFIG",
		`${options} need identity.${name} in the app, which has none.`,
	);
}
