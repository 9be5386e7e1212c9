import type { Identity } from "../../app/defineApp.ts";
import { findUser } from "../../app/findUser.ts";
import { jobKindsOf } from "../../app/jobKinds.ts";
import type { Corkboard } from "../../app/openCorkboard.ts";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { isGone } from "../../graph/write/archive.ts";
import { type Id, parseId } from "../../id/ids.ts";
import { isShown } from "../../model/shownFields.ts";
import type { Model } from "../../model/types.ts";
import {
	type AuditedAction,
	type AuditLine,
	auditLines,
	recordAudit,
	unfinished,
} from "../../ops/personal/audit.ts";
import { type ErasedJobs, eraseJobs } from "../../ops/personal/eraseJobs.ts";
import {
	type ErasurePlan,
	erasedUsers,
	eraseUser,
	planErasure,
} from "../../ops/personal/eraseUser.ts";
import { writeExport } from "../../ops/personal/exportFolder.ts";
import { overwriteErased } from "../../ops/personal/overwriteErased.ts";
import { type Fields, updatedStoredJson } from "../../resolvers/storedJson.ts";
import type { Storage } from "../../storage/storage.ts";
import { operator } from "../../topology/history.ts";
import { compact } from "../../util/compact.ts";
import { formatNumber } from "../../util/format.ts";
import { codeOfInterrupt, INTERRUPTED } from "../arguments.ts";
import {
	argument,
	command,
	DRY_RUN_FLAG,
	flag,
	type Result,
	YES,
} from "../command.ts";
import { type CommandContext, openForCommand } from "../commandContext.ts";
import { isConfirmed } from "../fleetCommand.ts";
import { createProgressLine } from "../progress.ts";
import { table } from "../table.ts";
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

const NO_JOBS: ErasedJobs = { deleted: 0, staying: [] };

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
	exitCodes: { 1: "an error", ...INTERRUPTED },
	details: `FOLDER must be empty or not there yet. It gets data.ndjson and index.html, which only you may read. If a run was ended, run it again: it continues where it was. What the user wrote is exported whatever hides it. The user's lists are exported as the user sees them. What others did is in their own exports. Comments and the like, which no list of the user has, are found by reading all rows of their types: on a large fleet that takes hours. ${DETAILS}`,
	async run({ user: name, folder }, context) {
		await using corkboard = await openForCommand(
			context,
			readConfig(context.env),
			// For the audit lines.
			"readWrite",
		);
		const { app, schema, store } = corkboard;
		const user = await findUser(corkboard, name);
		const audited = auditor(context, store.storage, user);
		await audited("export begun");
		const signal = context.interruptSignal();
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
				signal,
				onPage: (of, bytes) =>
					progress.update(`${of}, ${formatNumber(bytes)} bytes`),
			},
		)
			.catch(nullIfInterrupted(signal))
			.finally(() => progress.end());
		if (written === null) return interrupted(audited, signal, "export", user);
		const audit = await audited("export", {
			objects: written.objects,
			edges: written.edges,
		});
		return {
			value: { user, ...written, audit },
			lines: [
				`${formatNumber(written.objects)} objects and ${formatNumber(written.edges)} edges of ${user}: ${written.page}`,
			],
			notes: written.wentOn
				? ["It continued where an earlier run had ended."]
				: [],
		};
	},
});

const erase = command({
	summary:
		"Deletes a user for good, with all content, edges, keys and jobs of what belongs to the user.",
	arguments: { user: USER },
	options: {
		now: flag(
			"even if the account was not closed, or can still be opened again",
		),
		dryRun: DRY_RUN_FLAG,
		yes: YES,
	},
	details: `Only a backup can undo it. Close the account first: for some days it can be opened again, and until those are over only --now erases it. It reads all rows of the types that belong to users: on a large fleet that takes hours. If a run was ended, run it again, with the id. ${DETAILS}`,
	exitCodes: { 1: "not confirmed, or an error", ...INTERRUPTED },
	async run({ user: name, now, dryRun, yes }, context) {
		await using corkboard = await openForCommand(
			context,
			readConfig(context.env),
			"readWrite",
		);
		const { app, store, queues } = corkboard;
		const user = await findUserToErase(corkboard, name);
		const requireGone = async () => {
			if (now || (await isGone(store, user))) return;
			throw new CorkboardError(
				"CONFLICT",
				`${user} is not closed, or can still be opened again. Close the account (accounts close) and wait, or erase it at once with --now.`,
			);
		};
		await requireGone();
		const plan = planErasure(store, user);
		const question = `This deletes ${user} for good, with everything that belongs to it: ${plan.types.join(", ")}. --dry-run counts it.`;
		if (!dryRun && !(await isConfirmed(context, { yes }, question))) return 1;
		// Somebody may have opened it while the question waited.
		await requireGone();
		// Before the first change: an operator who finds half of it knows who began it.
		const audited = auditor(context, store.storage, user);
		if (!dryRun) await audited("erase begun");
		const signal = context.interruptSignal();
		const progress = createProgressLine(context);
		const erased = await eraseUser(store, user, {
			signal,
			forget: corkboard.forget,
			isDryRun: dryRun,
			onStep: (step) => progress.update(step),
		})
			.catch(nullIfInterrupted(signal))
			.finally(() => progress.end());
		if (erased === null) return interrupted(audited, signal, "erase", user);
		const jobs =
			queues === null
				? NO_JOBS
				: await eraseJobs(queues.store, jobKindsOf(app, null), user, {
						isDryRun: dryRun,
					});
		const counts = {
			objects: erased.objects,
			edges: erased.edges ?? 0,
			keys: erased.keys ?? 0,
			jobs: jobs.deleted,
		};
		if (!dryRun) {
			progress.update("overwrites the free space of files");
			await overwriteErased(corkboard.model, corkboard.topology)
				.catch(async (thrown: unknown) => {
					await audited("erase interrupted", counts);
					throw thrown;
				})
				.finally(() => progress.end());
		}
		const audit = dryRun ? null : await audited("erase", counts);
		return {
			value: {
				...erased,
				jobs: jobs.deleted,
				...plan,
				stayingJobs: jobs.staying,
				dryRun,
				audit,
			},
			lines: [
				dryRun
					? `${formatNumber(erased.objects)} objects and ${formatNumber(jobs.deleted)} jobs of ${user} would be erased; edges and keys of imports are not counted`
					: `${formatNumber(erased.objects)} objects, ${formatNumber(erased.edges ?? 0)} edges of others, ${formatNumber(erased.keys ?? 0)} keys of imports and ${formatNumber(jobs.deleted)} jobs of ${user} are erased`,
				...stayingLines(plan, jobs),
			],
		};
	},
});

const listErased = command({
	summary:
		"Prints the users that were erased, and when. Dumps need it, and restores from a backup.",
	details:
		"dump --erased takes the lines as they are. After a restore from a backup, run accounts erase --now with each of them again. Stop the server of an embedded data folder first.",
	hasJson: false,
	async run(_, context) {
		await using corkboard = await openForCommand(
			context,
			readConfig(context.env),
			"readOnly",
		);
		for await (const erased of erasedUsers(corkboard.store)) {
			context.stdout(`${erased.user} ${erased.at}`);
		}
		return 0;
	},
});

const auditVerb = command({
	summary: "Prints who exported or erased which user, and when.",
	options: {
		unfinished: flag("only what was begun and has not ended"),
	},
	details: "Stop the server of an embedded data folder first.",
	async run(given, context) {
		await using corkboard = await openForCommand(
			context,
			readConfig(context.env),
			"readOnly",
		);
		const all = await auditLines(corkboard.store.storage);
		const lines = given.unfinished ? unfinished(all) : all;
		return {
			value: lines,
			lines: table([
				["at", "action", "user", "by", "counts"],
				...lines.map(({ at, action, user, by, counts }) => [
					at,
					action,
					user,
					by,
					Object.entries(counts ?? {})
						.map(([name, count]) => `${formatNumber(count)} ${name}`)
						.join(", "),
				]),
			]),
		};
	},
});

/** Does as `findUser`, and finds by its id a user whom a run that ended early has deleted. */
async function findUserToErase(
	corkboard: Corkboard,
	name: string,
): Promise<Id> {
	try {
		return await findUser(corkboard, name);
	} catch (thrown) {
		const id = parseId(name);
		if (id === "malformed" || id === "reserved") throw thrown;
		const [object] = await corkboard.store.readObjects([id]);
		const node = object instanceof Error ? null : object?.node;
		if (node?.type !== corkboard.app.identity.type) throw thrown;
		return id;
	}
}

/** What of an erasure stays, a line each. */
function stayingLines(
	{ references }: ErasurePlan,
	{ staying }: ErasedJobs,
): readonly string[] {
	const queues = staying.map(
		({ queue, jobs }) => `${formatNumber(jobs)} in ${queue}`,
	);
	return compact([
		references.length > 0 &&
			`objects that only refer to it stay, with its id: ${references.join(", ")}`,
		queues.length > 0 &&
			`jobs that name it stay, because they are not its own or a worker runs them: ${queues.join(", ")}`,
	]);
}

/** The stored key that says since when an account is closed; null: none can be. */
function closedKey({ type, closedField }: Identity, model: Model) {
	const { stored = [] } = model.objects.get(type) ?? {};
	return stored.find(({ field }) => field === closedField)?.key ?? null;
}

type Audited = (
	action: AuditLine["action"],
	counts?: AuditLine["counts"],
) => Promise<AuditLine>;

/** Stores who did what with a person's data, and says it on stderr, for your log of such requests. */
function auditor(context: CommandContext, storage: Storage, user: Id): Audited {
	return async (action, counts = null) => {
		const at = new Date().toISOString();
		const line = { at, action, user, by: operator(), counts };
		await recordAudit(storage, line);
		context.stderr(`audit: ${JSON.stringify(line)}`);
		return line;
	};
}

function nullIfInterrupted(signal: AbortSignal): (thrown: unknown) => null {
	return (thrown) => {
		if (signal.aborted) return null;
		throw thrown;
	};
}

async function interrupted(
	audited: Audited,
	signal: AbortSignal,
	action: AuditedAction,
	user: Id,
): Promise<Result> {
	await audited(`${action} interrupted`);
	return {
		lines: [],
		notes: [
			`interrupted: run accounts ${action} again with ${user} to finish it`,
		],
		code: codeOfInterrupt(signal),
	};
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
	return model.lookups.get(accountLookup)?.parts[0]?.field;
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
	erase,
	audit: auditVerb,
	"list-erased": listErased,
};
