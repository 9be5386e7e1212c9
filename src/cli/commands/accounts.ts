import type { Identity } from "../../app/defineApp.ts";
import { findUser } from "../../app/findUser.ts";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import { isShown } from "../../model/shownFields.ts";
import type { Model } from "../../model/types.ts";
import { writeExport } from "../../ops/personal/exportFolder.ts";
import { type Fields, updatedStoredJson } from "../../resolvers/storedJson.ts";
import { operator } from "../../topology/history.ts";
import { formatNumber } from "../../util/format.ts";
import { argument, command, type Result } from "../command.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { createProgressLine } from "../progress.ts";
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

const exportVerb = command({
	summary:
		"Writes everything that is stored of a user into a folder: lines of JSON, and a page to read.",
	arguments: { user: USER, folder: argument("FOLDER") },
	details: `FOLDER must be empty or not there yet. It gets data.ndjson and index.html, which only you may read. A run that was ended goes on where it was if you run it again. What the user wrote is exported whatever hides it, and the user's lists as the user sees them; what others did is in their exports. Comments and the like, which no list of the user has, are found by reading all rows of their types: on a large fleet that takes hours. ${DETAILS}`,
	async run({ user: name, folder }, context) {
		await using corkboard = await openForCommand(
			context,
			readConfig(context.env),
			"readOnly",
		);
		const { app, schema, store } = corkboard;
		const user = await findUser(corkboard, name);
		const progress = createProgressLine(context);
		const written = await writeExport(
			{
				store,
				isShown: (type, field) => isShown(schema, type, field),
				userType: app.identity.type,
				closedKey: closedKey(app.identity, corkboard.model),
			},
			user,
			folder,
			{
				signal: context.interruptSignal(),
				onPage: (of, bytes) =>
					progress.update(`${of}, ${formatNumber(bytes)} bytes`),
			},
		).finally(() => progress.end());
		const audit = auditLine("export", user);
		return {
			value: { user, ...written, audit },
			lines: [
				`${formatNumber(written.objects)} objects and ${formatNumber(written.edges)} edges of ${user}: ${written.page}`,
			],
			notes: written.wentOn
				? ["It went on where an earlier run had ended."]
				: [],
			hints: [`audit: ${JSON.stringify(audit)}`],
		};
	},
});

/** The stored key that says since when an account is closed; null: none can be. */
function closedKey({ type, closedField }: Identity, model: Model) {
	const { stored = [] } = model.objects.get(type) ?? {};
	return stored.find(({ field }) => field === closedField)?.key ?? null;
}

/** Who did what with a person's data, for your log of such requests. */
function auditLine(action: string, user: Id) {
	return { at: new Date().toISOString(), action, user, by: operator() };
}

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

export const verbs = {
	show,
	link,
	unlink,
	close,
	reopen,
	export: exportVerb,
};
