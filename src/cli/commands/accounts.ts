import type { Identity } from "../../app/defineApp.ts";
import { findUser } from "../../app/findUser.ts";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import type { Model } from "../../model/types.ts";
import { type Fields, updatedStoredJson } from "../../resolvers/storedJson.ts";
import { argument, command, type Result } from "../command.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import type { Kind } from "../values.ts";

/** The longest subject in OpenID Connect Core 1.0, §2. */
const MAX_ACCOUNT = 255;

const ACCOUNT: Kind<string> = {
	name: "ACCOUNT",
	expected: `a text of 1 to ${MAX_ACCOUNT} characters`,
	read: (given) =>
		given !== "" && given.length <= MAX_ACCOUNT ? given : undefined,
};

const USER = argument("USER");

const DETAILS =
	"USER is the name of a user, or an id; closed accounts are found too. Stop the server of an embedded data folder first.";

const show = command({
	summary:
		"Prints which external account a user is linked to, and since when it is closed.",
	arguments: { user: USER },
	details: DETAILS,
	async run({ user: name }, context) {
		await using corkboard = await openForCommand(
			context,
			readConfig(context.env),
			"readOnly",
		);
		const { app, model, store } = corkboard;
		const id = await findUser(corkboard, name);
		const [found] = await store.readObjects([id]);
		if (found instanceof Error) throw found;
		const stored = (field: string | undefined) => {
			const key = model.objects
				.get(app.identity.type)
				?.stored.find((one) => one.field === field)?.key;
			const value = key === undefined ? undefined : found?.node?.data[key];
			return typeof value === "string" ? value : null;
		};
		const account = stored(accountField(app.identity, model));
		const closedAt = stored(app.identity.closedField);
		return {
			value: { id, account, closedAt },
			lines: [
				`${id}: ${account === null ? "linked to no account" : `linked to ${account}`}, ${closedAt === null ? "open" : `closed since ${closedAt}`}`,
			],
		};
	},
});

const link = command({
	summary: "Links a user to an account of an external token issuer.",
	arguments: { user: USER, account: argument(ACCOUNT) },
	details: `ACCOUNT is the subject of tokens that sign this user in. ${DETAILS}`,
	hasJson: false,
	run: ({ user, account }, context) => linkTo(context, user, account),
});

const unlink = command({
	summary:
		"Removes the link of a user: external tokens no longer sign this user in.",
	arguments: { user: USER },
	details: DETAILS,
	hasJson: false,
	run: ({ user }, context) => linkTo(context, user, null),
});

const close = command({
	summary:
		"Hides a user with everything the user owns, and refuses the user's tokens.",
	arguments: { user: USER },
	details: `accounts reopen undoes it. ${DETAILS}`,
	hasJson: false,
	run: ({ user }, context) => closeSince(context, user, new Date()),
});

const reopen = command({
	summary: "Undoes accounts close, by the user or by you.",
	arguments: { user: USER },
	details: DETAILS,
	hasJson: false,
	run: ({ user }, context) => closeSince(context, user, null),
});

function linkTo(
	context: CommandContext,
	user: string,
	account: string | null,
): Promise<Result> {
	return change(context, user, account, (identity, model) => ({
		[required(accountField(identity, model), "accountLookup")]: account,
	}));
}

function closeSince(
	context: CommandContext,
	user: string,
	since: Date | null,
): Promise<Result> {
	return change(context, user, null, ({ closedField }) => ({
		[required(closedField, "closedField")]: since?.toISOString() ?? null,
	}));
}

async function change(
	context: CommandContext,
	name: string,
	account: string | null,
	fieldsOf: (identity: Identity, model: Model) => Fields,
): Promise<Result> {
	await using corkboard = await openForCommand(
		context,
		readConfig(context.env),
		"readWrite",
	);
	const { app, model } = corkboard;
	const fields = fieldsOf(app.identity, model);
	const user = await findUser(corkboard, name);
	try {
		await corkboard
			.createContext(null)
			.writes()
			.modify(user, (data) =>
				updatedStoredJson(model, app.identity.type, data, fields),
			);
	} catch (thrown) {
		if (thrown instanceof CorkboardError && thrown.code === "CONFLICT") {
			throw new CorkboardError(
				"CONFLICT",
				`Account ${JSON.stringify(account)} is linked to another user.`,
				{ cause: thrown },
			);
		}
		throw thrown;
	}
	return { lines: [user] };
}

/** The stored field that names the external account. */
function accountField(
	{ accountLookup = "" }: Identity,
	model: Model,
): string | undefined {
	return model.lookups.get(accountLookup)?.field;
}

/** Throws BAD_CONFIG if the app has no accounts of other issuers, or none that can be closed. */
function required(field: string | undefined, name: string): string {
	if (field !== undefined) return field;
	throw new CorkboardError(
		"BAD_CONFIG",
		`This needs identity.${name} in the app, which has none.`,
	);
}

export const verbs = { show, link, unlink, close, reopen };
