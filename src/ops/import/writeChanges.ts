import { isDeepStrictEqual } from "node:util";
import { CorkboardError } from "../../errors.ts";
import { changeWithKeys } from "../../graph/write/changeWithKeys.ts";
import type { LookupChange } from "../../storage/rows.ts";
import type { JsonObject } from "../../util/json.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import type { ImportRun } from "./importRun.ts";
import type { BadLine } from "./lineReader.ts";
import { type KnownObject, nameTakenReason } from "./planBatch.ts";
import { DELETED, readToken, tokenOf } from "./revision.ts";
import { withReferences } from "./writeLevel.ts";

export interface WrittenChanges {
	readonly changed: number;
	readonly deleted: number;
	/** Objects that had this content already. */
	readonly unchanged: number;
	readonly newerHere: number;
	readonly bad: readonly BadLine[];
}

/** Objects that are changed at a time. Each is one transaction. */
const AT_A_TIME = 32;

type Outcome = "changed" | "deleted" | "unchanged" | "newerHere";

interface Written {
	readonly outcome: Outcome;
	readonly token: LookupChange | null;
}

/**
 * Changes objects to what their lines say, each under the lock of its row, unless
 * it was changed here since. Then their import keys get the new revision: a run
 * that dies between the two finds the object as the line has it.
 */
export async function writeChanges(
	run: ImportRun,
	objects: readonly KnownObject[],
): Promise<WrittenChanges> {
	const counts = { changed: 0, deleted: 0, unchanged: 0, newerHere: 0 };
	const bad: BadLine[] = [];
	for (let at = 0; at < objects.length; at += AT_A_TIME) {
		await run.lease.assertHeld();
		const some = objects.slice(at, at + AT_A_TIME);
		const written = await Promise.all(
			some.map((object) => writeChange(run, object)),
		);
		// The object that had the name may have given it up meanwhile.
		for (const [nth, object] of some.entries()) {
			if (written[nth] !== nameTakenReason(object.line)) continue;
			written[nth] = await writeChange(run, object);
		}
		for (const [nth, one] of written.entries()) {
			if (typeof one === "string") {
				const { number } = (some[nth] as KnownObject).line;
				bad.push({ kind: "bad", number, reason: one });
			} else counts[one.outcome]++;
		}
		const tokens = written.flatMap((one) =>
			typeof one === "string" ? [] : (one.token ?? []),
		);
		if (tokens.length > 0) {
			// Another import may have been faster: the next one compares again.
			await run.pipeline.compareAndSetLookups(tokens);
		}
	}
	return { ...counts, bad };
}

/** Returns what is wrong with the line, as text. */
async function writeChange(
	run: ImportRun,
	known: KnownObject,
): Promise<Written | string> {
	const { line, id, token } = known;
	const content = withReferences(line.data, known.references);
	if (content === null) return "an object it references was not created.";
	const before = readToken(token);
	const createdKey = line.type.stored.find(
		({ field }) => field === run.store.domain.createdAtField,
	)?.key;
	// An object without a time of its creation keeps the one that the import gave it.
	const cleared = line.cleared.filter((key) => key !== createdKey);
	const seen = { outcome: "unchanged" as Outcome | "reused", version: 0 };
	/** May be called again: the last call counts. */
	const change = (data: JsonObject): JsonObject | null => {
		seen.version = (data.version as number | undefined) ?? 0;
		const isGone = data.active === false;
		const next = line.isDeleted
			? { ...data, active: false }
			: changedContent(data, content, cleared);
		if (isDeepStrictEqual(data, next)) {
			seen.outcome = "unchanged";
			return null;
		}
		if (seen.version !== before.version || (isGone && before.rev !== DELETED)) {
			seen.outcome = "newerHere";
			return null;
		}
		const isReused =
			createdKey !== undefined &&
			content[createdKey] !== undefined &&
			content[createdKey] !== data[createdKey];
		if (isReused && before.rev === DELETED) {
			seen.outcome = "reused";
			return null;
		}
		seen.outcome = line.isDeleted ? "deleted" : "changed";
		seen.version++;
		return next;
	};
	try {
		await changeWithKeys(run.pipeline, id, change);
	} catch (thrown) {
		if (!(thrown instanceof CorkboardError)) throw thrown;
		if (thrown.code === "CONFLICT") return nameTakenReason(line);
		if (thrown.code === "NOT_FOUND")
			return "Its object does not exist any more.";
		throw thrown;
	}
	const { outcome, version } = seen;
	if (outcome === "reused") {
		return "The key is used again: the object that had it was deleted, and this one was created at another time.";
	}
	if (outcome === "newerHere") return { outcome, token: null };
	const rev = line.isDeleted ? DELETED : (line.rev as string);
	return {
		outcome,
		token: {
			name: IMPORT_LOOKUP,
			key: line.key,
			expect: { id, token },
			next: { id, token: tokenOf(rev, version) },
		},
	};
}

function changedContent(
	data: JsonObject,
	content: JsonObject,
	cleared: readonly string[],
): JsonObject {
	const { active: _, ...kept } = data;
	const next = { ...kept, ...content };
	return Object.fromEntries(
		Object.entries(next).filter(([key]) => !cleared.includes(key)),
	);
}
