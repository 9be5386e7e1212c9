import type { App } from "../../app/defineApp.ts";
import { documentRules } from "../../app/documentRules.ts";
import { type Config, readConfig } from "../../config/config.ts";
import { outputFields } from "../../model/schema/outputFields.ts";
import {
	badDataError,
	checkDocumentFiles,
} from "../../server/documents/documentFiles.ts";
import { documentOf, type Use } from "../../usage/usageReport.ts";
import { documentKey } from "../../usage/usageStore.ts";
import { command } from "../command.ts";
import {
	countUsage,
	USAGE_EXIT_CODES,
	usageOptions,
	usageResult,
} from "../usage/usageCommand.ts";
import { documentName } from "../usage/usageLines.ts";

const fields = command({
	summary:
		"Prints which fields of the schema clients used, how often, and when last.",
	options: usageOptions(
		"print the fields that nobody used for so many days, such as 30d",
	),
	details:
		"A field is used if it is in an operation that ran, whatever @skip left out. A field of an interface counts as used on each of its types. Servers store what they counted every 30 s.",
	exitCodes: USAGE_EXIT_CODES,
	async run(given, context) {
		const config = readConfig(context.env, { secret: "unneeded" });
		const counted = await countUsage(given, config);
		const { report, period, unusedDays } = counted;
		const { coordinates } = report;
		const rows = outputFields((await context.app()).schema)
			.map(({ coordinate, ofInterfaces, isDeprecated }) => {
				const uses = [coordinate, ...ofInterfaces].flatMap(
					(name) => coordinates.get(name) ?? [],
				);
				return {
					field: coordinate,
					isDeprecated,
					...(coordinates.get(coordinate) ?? NEVER),
					lastDay: lastOf(uses),
				};
			})
			.filter(({ requests, lastDay }) =>
				unusedDays === null
					? requests > 0
					: lastDay === null || lastDay < period.from,
			);
		return usageResult(counted, {
			what: "fields",
			rows,
			nameOf: ({ field, isDeprecated }) =>
				isDeprecated ? `${field} (deprecated)` : field,
		});
	},
});

const NEVER = { requests: 0, clients: [], documents: [] };

function lastOf(uses: readonly Use[]): string | null {
	return uses.reduce<string | null>(
		(last, { lastDay }) => (last === null || lastDay > last ? lastDay : last),
		null,
	);
}

const documents = command({
	summary: "Prints which documents clients sent, how often, and when last.",
	options: usageOptions(
		"print the documents that nobody sent for so many days, such as 30d, of CORKBOARD_DOCUMENT_FILES and of those that were sent before",
	),
	details:
		"A document is named by the operation and the SHA-256 of its text. If there are document files, documents that are in none of them are counted together. So are those beyond the limits.",
	exitCodes: USAGE_EXIT_CODES,
	async run(given, context) {
		const config = readConfig(context.env, { secret: "unneeded" });
		const { app } = await context.app();
		const counted = await countUsage(given, config);
		const { report, period, unusedDays } = counted;
		const { documents } = report;
		const inFiles = await documentsInFiles(app, config);
		const keys = new Set([
			...documents.keys(),
			...(unusedDays === null ? [] : inFiles.keys()),
		]);
		const rows = [...keys]
			.map((key) => {
				const { documents: _, ...use } = documents.get(key) ?? DOCUMENTS_NEVER;
				return { ...documentOf(key), files: inFiles.get(key) ?? [], ...use };
			})
			.filter(
				({ lastDay, sha256 }) =>
					unusedDays === null ||
					(sha256 !== null && (lastDay === null || lastDay < period.from)),
			);
		return usageResult(counted, {
			what: "documents",
			rows,
			nameOf: documentName,
		});
	},
});

const DOCUMENTS_NEVER: Omit<Use, "lastDay"> & { readonly lastDay: null } = {
	requests: 0,
	lastDay: null,
	clients: [],
	documents: [],
};

/** The files that each document of the settings' files is in, by its key. Throws BAD_DATA. */
async function documentsInFiles(
	app: App,
	{ persistedDocuments, maxCost }: Config,
): Promise<ReadonlyMap<string, readonly string[]>> {
	const found = new Map<string, string[]>();
	if (persistedDocuments.files.length === 0) return found;
	const { files, problems } = await checkDocumentFiles(
		persistedDocuments.files,
		documentRules(app, maxCost),
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

export const verbs = {
	fields,
	documents,
};
