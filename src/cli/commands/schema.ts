import { readConfiguredTopology } from "../../app/openTopology.ts";
import { updateLock } from "../../app/updateLock.ts";
import { updateTypes } from "../../app/updateTypes.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { printPublicSchema } from "../../model/publicSchema.ts";
import { describeModel, printModel } from "../../model/schema/print.ts";
import { readSchema } from "../../model/schema/publicSdl.ts";
import { schemaChanges } from "../../model/schema/schemaChanges.ts";
import { readUsage, whyNoUsage } from "../../usage/openUsage.ts";
import { type ChangeImpact, impactOf } from "../../usage/schemaImpact.ts";
import { type Period, periodOf, reportUsage } from "../../usage/usageReport.ts";
import type { UsageDay } from "../../usage/usageStore.ts";
import { plural } from "../../util/format.ts";
import { UsageError, wrap } from "../arguments.ts";
import { argument, command, flag, option, optional } from "../command.ts";
import { DAYS, daysOf } from "../usage/days.ts";
import { clientsLine, documentsLine, periodLine } from "../usage/usageLines.ts";

const print = command({
	summary: "Prints where each field of the schema is stored.",
	options: {
		public: flag("print the SDL that clients see"),
	},
	async run({ public: isPublic, json }, context) {
		if (isPublic && json) {
			throw new UsageError("Give --public, which prints SDL, or --json.");
		}
		const { model, schema } = await context.app();
		const printed = isPublic ? printPublicSchema(schema) : printModel(model);
		return { value: describeModel(model), lines: [printed.trimEnd()] };
	},
});

const lock = command({
	summary:
		"Adds the schema's new names, numbers and tables to the app's lock file, or makes it.",
	details:
		"The lock file is model.lock.json beside the SDL. What it has cannot change: keep it under version control.",
	exitCodes: { 1: "the lock file refuses the schema, and was not written" },
	async run(_, context) {
		const { file, additions, breaks } = updateLock(await context.app());
		return {
			value: { file, additions, refused: breaks },
			lines:
				breaks.length > 0
					? [`${file} refuses the schema, and was not written:`, ...breaks]
					: [
							...additions.map((addition) => `New in the lock: ${addition}.`),
							`${file} is up to date.`,
						],
			code: breaks.length > 0 ? 1 : 0,
		};
	},
});

const types = command({
	summary:
		"Writes TypeScript's types of the schema's objects and inputs, so that a wrong name in an app does not compile.",
	options: {
		check: flag("write nothing, and say whether the file is of this schema"),
	},
	details:
		"The file is types.d.ts beside the SDL. An app uses it with forSchema<Schema>().",
	exitCodes: { 1: "with --check: the file is not of this schema; or an error" },
	async run({ check: isCheck }, context) {
		const { file, isNew } = updateTypes(await context.app(), isCheck);
		const state = isNew
			? isCheck
				? "is not of this schema. Write it with corkboard schema types"
				: "is written"
			: "is up to date";
		return {
			value: { file, isNew },
			lines: [`${file} ${state}.`],
			code: isNew && isCheck ? 1 : 0,
		};
	},
});

const DEFAULT_DAYS = 30;

const diff = command({
	summary:
		"Compares two schemas, and says which clients and documents each change breaks.",
	arguments: {
		old: argument("OLD|-"),
		next: optional("NEW|-"),
	},
	options: {
		unused: option(
			DAYS,
			`a part that nobody used for so many days may be removed (default ${DEFAULT_DAYS}d)`,
		),
	},
	details:
		"OLD and NEW are SDL files, folders of them such as schema/, or - for stdin. Without NEW, OLD is compared with the schema of this program. The settings name the servers whose counts are read.",
	exitCodes: {
		0: "no change breaks a client: each is safe, dangerous, or of an unused part",
		1: "a change breaks clients, or an error",
		3: "a change would break clients that use it, and usage is not known, or not for every day",
	},
	async run(given, context) {
		if (given.old === "-" && given.next === "-") {
			throw new UsageError("Only one of OLD and NEW can be -.");
		}
		const config = readConfig(context.env, { secret: "unneeded" });
		const old = await readSchema(given.old, context.stdin);
		const next =
			given.next === undefined
				? (await context.app()).schema
				: await readSchema(given.next, context.stdin);
		const { days, problem } = await usageOf(config);
		const kept = Math.max(1, config.usageDays);
		const unusedDays =
			given.unused === undefined
				? Math.min(DEFAULT_DAYS, kept)
				: daysOf(given.unused, kept);
		const period = periodOf(days, unusedDays, Date.now());
		const changes = impactOf(
			schemaChanges(old, next),
			days.length === 0 ? null : reportUsage(days),
			{ from: period.from, isComplete: period.missingDays === 0 },
		);
		const effects = new Set(changes.map(({ effect }) => effect));
		return {
			value: { ...period, unusedDays, noUsage: problem, changes },
			lines: printed(changes, period, problem),
			code: effects.has("breaking") ? 1 : effects.has("unknown") ? 3 : 0,
		};
	},
});

/** A schema can be compared without: then nobody knows whom a change breaks. */
async function usageOf(config: Config): Promise<{
	readonly days: readonly UsageDay[];
	/** Why there is none; null if there is. */
	readonly problem: string | null;
}> {
	try {
		const { caches } = await readConfiguredTopology(config);
		const problem = whyNoUsage(config, caches);
		if (problem !== null) return { days: [], problem };
		const days = await readUsage(config, caches);
		return { days, problem: days.length > 0 ? null : NOTHING };
	} catch (error) {
		if (!(error instanceof CorkboardError)) throw error;
		return { days: [], problem: error.message };
	}
}

const NOTHING = "No usage has been counted yet.";

const EFFECTS = ["breaking", "unknown", "unused", "dangerous", "safe"] as const;

function printed(
	impact: readonly ChangeImpact[],
	period: Period,
	problem: string | null,
): readonly string[] {
	const lines = EFFECTS.flatMap((effect) =>
		impact
			.filter((change) => change.effect === effect)
			.flatMap((change) => [
				...wrap(`${effect.padEnd(9)}  ${change.description}`, INDENT),
				...whoLines(change, period).flatMap((line) =>
					wrap(`${INDENT}${line}`, `${INDENT}  `),
				),
			]),
	);
	const counts = EFFECTS.flatMap((effect) => {
		const count = impact.filter((change) => change.effect === effect).length;
		return count === 0 ? [] : [`${count} ${effect}`];
	});
	return [
		...lines,
		...(lines.length > 0 ? [""] : []),
		counts.length > 0
			? counts.join(", ")
			: "no change that a client could notice",
		`usage: ${problem ?? periodLine(period)}`,
	];
}

const INDENT = " ".repeat(11);

function whoLines(
	{ effect, clients, documents, lastDay, requests }: ChangeImpact,
	{ from, recordedDays, missingDays }: Period,
): readonly string[] {
	if (effect === "safe" || (effect === "dangerous" && requests === 0))
		return [];
	const before =
		lastDay === null ? "" : ` Last on ${lastDay} by ${clientsLine(clients)}.`;
	if (effect === "unused") {
		return [`Nobody has used it since ${from}: it may be removed.${before}`];
	}
	if (effect === "unknown") {
		if (recordedDays === 0) return ["Whom it breaks is not known."];
		return [
			`Nobody was seen, but ${plural(missingDays, "day")} of the period ${missingDays === 1 ? "was" : "were"} not recorded.${before}`,
		];
	}
	return [
		`clients: ${clientsLine(clients)}; last on ${lastDay}`,
		`documents: ${documentsLine(documents)}`,
	];
}

export const verbs = {
	print,
	diff,
	lock,
	types,
};
