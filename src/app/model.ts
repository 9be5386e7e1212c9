import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { createDomain } from "../domain/domain.ts";
import { resolvers } from "../domain/resolvers/resolvers.ts";
import type { Domain } from "../graph/domain.ts";
import { compareLock, EMPTY_LOCK, parseLock } from "../model/lock/lock.ts";
import { loadModel, type ModelAndSchema } from "../model/read.ts";
import type { Model } from "../model/types.ts";
import { readTextFileSync } from "../util/textFile.ts";

/** The SDL that comes with the program. */
export const SCHEMA_FOLDER = join(import.meta.dirname, "../../schema");

export interface OwnModel extends ModelAndSchema {
	readonly domain: Domain;
}

/** The model of the SDL that comes with the program, and the domain that goes with it. */
export function loadOwnModel(): OwnModel {
	const { model, schema } = loadModel(SCHEMA_FOLDER, {
		resolverFields: new Set(resolvers.keys()),
	});
	return { model, schema, domain: createDomain(model) };
}

/** What a model stores, in 12 hexadecimal digits: processes of a fleet whose models differ have different ones. */
export function modelFingerprint(model: Model): string {
	const { next } = compareLock(EMPTY_LOCK, model);
	return createHash("sha256")
		.update(JSON.stringify(next))
		.digest("hex")
		.slice(0, 12);
}

/** What the lock file lacks of this program's model, and where they contradict each other: a sentence for each. */
export function lockProblems(): readonly string[] {
	const file = join(SCHEMA_FOLDER, "model.lock.json");
	if (!existsSync(file))
		return [`${file} is missing. Create it with npm run update.`];
	const { additions, breaks } = compareLock(
		parseLock(readTextFileSync(file)),
		loadOwnModel().model,
	);
	return [
		...breaks,
		...additions.map(
			(addition) =>
				`${addition}: not in the lock file. Add it with npm run update.`,
		),
	];
}
