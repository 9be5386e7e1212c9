import { documentRules } from "../../app/documentRules.ts";
import { readUsage } from "../../app/usage.ts";
import { type Config, readConfig } from "../../config/config.ts";
import {
	badDataError,
	checkDocumentFiles,
} from "../../server/documents/documentFiles.ts";
import {
	documentOf,
	periodOf,
	reportUsage,
	type Use,
} from "../../usage/usageReport.ts";
import { documentKey } from "../../usage/usageStore.ts";
import {
	INCOMPLETE,
	JSON_OPTION,
	type ParsedArguments,
	type Usage,
} from "../arguments.ts";
import type { CommandContext } from "../commandContext.ts";
import { DAYS, parseDays } from "../days.ts";
import { documentName, incompleteLine, usageTable } from "../usageLines.ts";

export const usage: Usage = {
	summary: "Prints which documents clients sent, how often, and when last.",
	operands: [],
	options: {
		unused: {
			value: DAYS,
			description:
				"print the documents that nobody sent in so many days, such as 30d: of CORKBOARD_DOCUMENT_FILES, and of those that were sent before",
		},
		client: { value: "NAME", description: "count this client only" },
		json: JSON_OPTION,
	},
	details:
		"A document is named by the operation and the SHA-256 of its text. Where there are document files, those of no file are counted together, as are those beyond the limits.",
	exitCodes: { 3: INCOMPLETE },
};

export async function run(
	{ options }: ParsedArguments,
	context: CommandContext,
): Promise<number> {
	const config = readConfig(context.env, { secret: "unneeded" });
	const unusedDays =
		options.unused === undefined
			? null
			: parseDays(options.unused, config.usageDays);
	const days = await readUsage(config);
	const period = periodOf(days, unusedDays ?? config.usageDays, Date.now());
	const client = options.client ?? null;
	const { documents } = reportUsage(days, options.client);
	const inFiles = await documentsInFiles(config);
	const keys = new Set([
		...documents.keys(),
		...(unusedDays === null ? [] : inFiles.keys()),
	]);
	const rows = [...keys]
		.map((key) => {
			const { documents: _, ...use } = documents.get(key) ?? NEVER;
			return { ...documentOf(key), files: inFiles.get(key) ?? [], ...use };
		})
		.filter(
			({ lastDay, sha256 }) =>
				unusedDays === null ||
				(sha256 !== null && (lastDay === null || lastDay < period.from)),
		)
		.toSorted((a, b) => b.requests - a.requests);
	const isComplete = unusedDays === null || period.missingDays === 0;
	if (options.json !== undefined) {
		const shown = { ...period, client, unusedDays, documents: rows };
		context.stdout(JSON.stringify(shown, null, "\t"));
	} else {
		context.stdout(
			usageTable(
				period,
				rows.map((row) => documentName(row)),
				rows,
				unusedDays !== null,
			),
		);
	}
	if (!isComplete) context.stderr(incompleteLine(period));
	return isComplete ? 0 : 3;
}

const NEVER: Omit<Use, "lastDay"> & { readonly lastDay: null } = {
	requests: 0,
	lastDay: null,
	clients: [],
	documents: [],
};

/** The files that each document of the settings' files is in, by its key. Throws BAD_DATA. */
async function documentsInFiles({
	persistedDocuments,
	maxCost,
}: Config): Promise<ReadonlyMap<string, readonly string[]>> {
	const found = new Map<string, string[]>();
	if (persistedDocuments.files.length === 0) return found;
	const { files, problems } = await checkDocumentFiles(
		persistedDocuments.files,
		documentRules(maxCost),
	);
	if (problems.length > 0) throw badDataError(problems);
	for (const { path, documents } of files) {
		for (const { sha256, document } of documents) {
			for (const definition of document.definitions) {
				if (definition.kind !== "OperationDefinition") continue;
				const key = documentKey(sha256, definition.name?.value ?? null);
				found.set(key, [...(found.get(key) ?? []), path]);
			}
		}
	}
	return found;
}
