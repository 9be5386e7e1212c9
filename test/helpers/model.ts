import { loadOwnModel, type OwnModel } from "../../src/app/model.ts";
import {
	createFieldReaders,
	type FieldReaders,
} from "../../src/model/fieldReaders.ts";

let read: OwnModel | undefined;

/** The model of `schema/` and its domain, as the program itself reads them. */
export function theModel(): OwnModel {
	read ??= loadOwnModel();
	return read;
}

/** How an import reads the stored fields of `schema/`. */
export function theFieldReaders(): FieldReaders {
	const { schema, domain } = theModel();
	return createFieldReaders(schema, domain.fields);
}
