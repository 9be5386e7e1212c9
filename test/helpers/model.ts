import pinsApp from "../../pins/app.ts";
import { type AppModel, readApp } from "../../src/app/readApp.ts";
import {
	createFieldReaders,
	type FieldReaders,
} from "../../src/model/fieldReaders.ts";

let read: AppModel | undefined;

/** The model of `schema/` and its domain, as the program itself reads them. */
export function theModel(): AppModel {
	read ??= readApp(pinsApp);
	return read;
}

/** How an import reads the stored fields of `schema/`. */
export function theFieldReaders(): FieldReaders {
	const { schema, domain } = theModel();
	return createFieldReaders(schema, domain.fields);
}
