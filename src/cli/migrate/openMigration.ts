import { existsSync } from "node:fs";
import { basename, dirname, resolve } from "node:path";
import { loadValue } from "../../app/findApp.ts";
import type { AppModel } from "../../app/readApp.ts";
import { CorkboardError } from "../../errors.ts";
import {
	createFieldReaders,
	type FieldReaders,
} from "../../model/fieldReaders.ts";
import {
	type BadGroup,
	BadRows,
	type HangsOn,
} from "../../ops/migrate/badRows.ts";
import type { Migration } from "../../ops/migrate/mapping.ts";
import { planMigration, type TablePlan } from "../../ops/migrate/plan.ts";
import type { Screens } from "../../ops/migrate/screens.ts";
import { sourceOfPlans } from "../../ops/migrate/sourceOfPlans.ts";
import { openSource } from "../../ops/migrate/sources/openSource.ts";
import type { Source } from "../../ops/migrate/sources/source.ts";
import { formatNumber } from "../../util/format.ts";
import { columns } from "../arguments.ts";
import { type Argument, argument } from "../command.ts";
import type { CommandContext } from "../commandContext.ts";

export const MAPPING: Argument<string> = argument("MAPPING");

const EXTENSION = /\.[cm]?[jt]s$/;

/** A mapping, and the old database that it names. */
export interface OpenedMigration extends AsyncDisposable {
	readonly plans: readonly TablePlan[];
	readonly source: Source;
	/** Replicas whose lag counts, beside those that the source knows of. */
	readonly replica: Source | null;
	readonly fields: FieldReaders;
	readonly files: MigrationFiles;
	/** The name of what the old database keeps for it. */
	readonly name: string;
}

/** What a migration keeps beside its mapping. */
interface MigrationFiles {
	readonly state: string;
	readonly badRows: BadRows;
}

export function filesOf(mapping: string): MigrationFiles {
	const base = resolve(mapping).replace(EXTENSION, "");
	return {
		state: `${base}.state.json`,
		badRows: new BadRows(`${base}.bad.ndjson`),
	};
}

/** Reads the mapping, opens its source and compares the two. Throws BAD_CONFIG. */
export async function openMigration(
	file: string,
	context: Pick<CommandContext, "app">,
): Promise<OpenedMigration> {
	const mapping = await readMapping(file);
	const { model, schema, domain }: AppModel = await context.app();
	const fields = createFieldReaders(schema, domain.fields);
	await using resources = new AsyncDisposableStack();
	const source = resources.use(
		await openSource(mapping.source, dirname(resolve(file))),
	);
	const replica =
		mapping.replica === undefined
			? null
			: resources.use(
					await openSource(mapping.replica, dirname(resolve(file))),
				);
	const plans = planMigration(mapping, { model, fields }, source, domain);
	const owned = resources.move();
	return {
		plans,
		source: sourceOfPlans(source, plans),
		replica,
		fields,
		files: filesOf(file),
		name: `corkboard_${basename(file)
			.replace(EXTENSION, "")
			.toLowerCase()
			.replaceAll(/[^a-z0-9_]/g, "_")}`.slice(0, 63),
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

async function readMapping(file: string): Promise<Migration> {
	const { path, value } = await readModule(
		file,
		"migrate scaffold writes a first mapping.",
	);
	if (
		typeof value === "object" &&
		value !== null &&
		"source" in value &&
		typeof value.source === "string" &&
		"types" in value
	) {
		return value as unknown as Migration;
	}
	throw new CorkboardError(
		"BAD_CONFIG",
		`${path} exports no mapping: write export default migration({ source, types, edges }), with source a URL, for example from process.env.`,
	);
}

/** What `migrate shadow` shows. Throws BAD_CONFIG. */
export async function readScreens(file: string): Promise<Screens> {
	const { path, value } = await readModule(
		file,
		"It names documents, and the SQL that they replace.",
	);
	const isScreens =
		typeof value === "object" &&
		value !== null &&
		Object.keys(value).length > 0 &&
		Object.values(value).every(
			(one) => typeof one === "object" && one !== null,
		);
	if (isScreens) return value as Screens;
	throw new CorkboardError(
		"BAD_CONFIG",
		`${path} exports no screens: write export default screens({ NAME: { of, document, rows, sql, fields } }).`,
	);
}

/** What a module exports as default. */
async function readModule(file: string, hint: string) {
	const path = resolve(file);
	if (!existsSync(path)) {
		throw new CorkboardError("BAD_CONFIG", `There is no file ${path}. ${hint}`);
	}
	return { path, value: await loadValue(path) };
}

/** `  1,234  reason (examples)`, and apart what nothing is to be decided about. */
export function reasonLines(groups: readonly BadGroup[]): readonly string[] {
	const linesOf = (wanted: HangsOn | null) => {
		const some = groups.filter(({ hangsOn }) => hangsOn === wanted);
		return columns(
			some.map(({ rows, reason, examples }) => [
				formatNumber(rows),
				`${reason} (${examples.join(", ")})`,
			]),
		);
	};
	const refused = linesOf("refused");
	const deleted = linesOf("deleted");
	return [
		...linesOf(null),
		...(refused.length > 0
			? [
					"They come with the rows that they belong to, once those are corrected:",
				]
			: []),
		...refused,
		...(deleted.length > 0
			? ["They belong to rows that are deleted there, so they stay behind:"]
			: []),
		...deleted,
	];
}
