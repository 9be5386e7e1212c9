import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { printSchemaTypes } from "../model/schema/schemaTypes.ts";
import { readTextFileSync } from "../util/textFile.ts";
import type { AppModel } from "./readApp.ts";

interface UpdatedTypes {
	readonly file: string;
	/** Whether the file was not there, or was of another schema. */
	readonly isNew: boolean;
}

/** Writes the types of an app's objects and inputs beside its SDL. */
export function updateTypes(
	{ app, model, schema }: Pick<AppModel, "app" | "model" | "schema">,
	isDryRun = false,
): UpdatedTypes {
	const file = join(app.schema, "types.d.ts");
	const text = printSchemaTypes({ model, schema });
	const isNew = !existsSync(file) || readTextFileSync(file) !== text;
	if (isNew && !isDryRun) writeFileSync(file, text);
	return { file, isNew };
}
