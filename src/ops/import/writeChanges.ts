import { createHash } from "node:crypto";
import { isDeepStrictEqual } from "node:util";
import { CorkboardError } from "../../errors.ts";
import { readUncachedObjects } from "../../graph/store/readUncached.ts";
import type { Store } from "../../graph/store/store.ts";
import { changeWithKeys } from "../../graph/write/changeWithKeys.ts";
import type { LookupChange } from "../../storage/rows.ts";
import type { JsonObject } from "../../util/json.ts";
import { IMPORT_LOOKUP } from "../lookups.ts";
import { takenKeys } from "./existingData.ts";
import type { ImportRun } from "./importRun.ts";
import type { BadLine } from "./lineReader.ts";
import { type KnownObject, nameTakenReason } from "./planBatch.ts";
import {
	changingToken,
	DELETED,
	type Revision,
	readToken,
	tokenOf,
	wasDeleted,
} from "./revision.ts";
import { goneOf, wholesOf } from "./wholes.ts";
import { withReferences } from "./writeLevel.ts";

interface WrittenChanges {
	readonly changed: number;
	readonly deleted: number;
	/** Objects that had this content already. */
	readonly unchanged: number;
	readonly newerHere: number;
	readonly bad: readonly BadLine[];
}

/** Objects that are changed at a time. Each is one transaction. */
const AT_A_TIME = 32;

/** Stands for the reason, which says which name it is. */
const NAME_TAKEN = "taken";

const OUTCOMES = ["changed", "deleted", "unchanged", "newerHere"] as const;
type Outcome = (typeof OUTCOMES)[number];

interface Written {
	readonly outcome: Outcome;
	readonly token: LookupChange | null;
}

/** A line whose object is changed, and what its import key says of the object. */
interface Change {
	readonly known: KnownObject;
	/** Null: an object that it refers to was not created. */
	readonly content: JsonObject | null;
	/** Keys that lose their value. */
	readonly cleared: readonly string[];
	/** The hash of what the line says. */
	readonly mark: string;
	readonly before: Revision;
	readonly token: string;
}

/**
 * Changes objects to what their lines say, each under the lock of its row, unless
 * it was changed here since. Before that their import keys say what they are about
 * to be, and after it they get the new revision: so a run that follows one that
 * died knows which changes were its own, whatever its lines say.
 */
export async function writeChanges(
	run: ImportRun,
	objects: readonly KnownObject[],
): Promise<WrittenChanges> {
	const counts = { changed: 0, deleted: 0, unchanged: 0, newerHere: 0 };
	const bad: BadLine[] = [];
	for (let left = objects; left.length > 0; ) {
		// What belongs to an object that comes back can come back after it.
		const { ready, waiting } = run.revives
			? await revivable(run.store, left)
			: { ready: left, waiting: [] };
		counts.unchanged += left.length - ready.length - waiting.length;
		left = waiting;
		if (ready.length === 0) {
			counts.unchanged += waiting.length;
			break;
		}
		const written = await writeAll(run, ready);
		for (const outcome of OUTCOMES) counts[outcome] += written[outcome];
		bad.push(...written.bad);
	}
	return { ...counts, bad };
}

async function writeAll(
	run: ImportRun,
	objects: readonly KnownObject[],
): Promise<WrittenChanges> {
	const counts = { changed: 0, deleted: 0, unchanged: 0, newerHere: 0 };
	const bad: BadLine[] = [];
	for (let at = 0; at < objects.length; at += AT_A_TIME) {
		await run.lease.assertHeld();
		const some = objects.slice(at, at + AT_A_TIME);
		const changes = await announce(run, await changesOf(run, some));
		const written = await Promise.all(
			changes.map((change) => writeChange(run, change)),
		);
		// The object that had the name may have given it up meanwhile.
		for (const [nth, change] of changes.entries()) {
			if (written[nth] !== NAME_TAKEN) continue;
			const again = await writeChange(run, change);
			const { line, id } = change.known;
			written[nth] =
				again === NAME_TAKEN
					? nameTakenReason(
							line.type,
							await takenKeys(run.store, line.type, change.content ?? {}, id),
						)
					: again;
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

/** Without objects that are there and of which their lines say nothing new. Those wait that are deleted, and so is what they belong to. */
async function revivable(
	store: Store,
	objects: readonly KnownObject[],
): Promise<{
	readonly ready: readonly KnownObject[];
	readonly waiting: readonly KnownObject[];
}> {
	const contents = await readUncachedObjects(
		store,
		objects.map(({ id }) => id),
	);
	const deleted = new Map(
		objects.flatMap(({ id, token }) => {
			const data = contents.get(id) ?? null;
			return data?.active === false && !wasDeleted(readToken(token))
				? [[id, wholesOf(store, id, data)] as const]
				: [];
		}),
	);
	const gone = await goneOf(store, [...deleted.values()].flat());
	const ready: KnownObject[] = [];
	const waiting: KnownObject[] = [];
	for (const known of objects) {
		const wholes = deleted.get(known.id);
		const isSame = readToken(known.token).rev === known.line.rev;
		if (wholes !== undefined && !wholes.some((one) => gone.has(one))) {
			ready.push({ ...known, isRevived: true });
		} else if (!isSame) ready.push(known);
		else if (wholes !== undefined) waiting.push(known);
	}
	return { ready, waiting };
}

/** What is to be done about each of these objects. */
async function changesOf(
	{ store }: ImportRun,
	objects: readonly KnownObject[],
): Promise<readonly Change[]> {
	const createdField = store.domain.createdAtField;
	const open = objects.filter(({ token }) => readToken(token).mark !== null);
	const contents = await readUncachedObjects(
		store,
		open.map(({ id }) => id),
	);
	return objects.map((known) => {
		const { line, id, token } = known;
		const content = withReferences(line.data, known.references);
		const createdKey = line.type.stored.find(
			({ field }) => field === createdField,
		)?.key;
		// An object without a time of its creation keeps the one that the import gave it.
		const cleared = line.cleared.filter((key) => key !== createdKey);
		const keys = [...Object.keys(content ?? {}), ...cleared].filter(
			(key) => key !== createdKey,
		);
		const mark = line.isDeleted ? GONE : markOf(keys, content ?? {});
		const said = readToken(token);
		const data = contents.get(id) ?? null;
		const before =
			said.mark === null || data === null
				? said
				: sinceKill(said, line.isDeleted ? null : keys, data);
		return { known, content, cleared, mark, before, token };
	});
}

/** The mark of a deletion. */
const GONE = "gone";

/** The hash of the values of these keys. */
function markOf(keys: readonly string[], data: JsonObject): string {
	const values = keys.toSorted().map((key) => [key, data[key] ?? null]);
	return createHash("sha1")
		.update(JSON.stringify(values))
		.digest("base64url")
		.slice(0, 16);
}

/**
 * The revision of an object that an import was about to write when it died: the
 * import's own, if it has written what it announced. A deletion announces no values
 * (`keys` is null), so the next version of the object counts as its own.
 */
function sinceKill(
	said: Revision,
	keys: readonly string[] | null,
	data: JsonObject,
): Revision {
	const version = (data.version as number | undefined) ?? 0;
	const isGone = data.active === false;
	const found = isGone ? GONE : keys === null ? said.mark : markOf(keys, data);
	if (version !== said.version + 1 || found !== said.mark) return said;
	return { rev: isGone ? DELETED : null, version, mark: null };
}

/** Lets the import keys say what their objects are about to be. */
async function announce(
	{ pipeline }: ImportRun,
	changes: readonly Change[],
): Promise<readonly Change[]> {
	const rows = await pipeline.compareAndSetLookups(
		changes.map(({ known: { line, id }, before, mark, token }) => ({
			name: IMPORT_LOOKUP,
			key: line.key,
			expect: { id, token },
			next: { id, token: changingToken(before, mark) },
		})),
	);
	return changes.map((change, nth) => {
		const row = rows[nth];
		if (row instanceof CorkboardError) throw row;
		const announced = changingToken(change.before, change.mark);
		return row?.token === announced ? { ...change, token: announced } : change;
	});
}

/** Returns what is wrong with the line, as text. */
async function writeChange(
	run: ImportRun,
	{ known, content, cleared, before, token }: Change,
): Promise<Written | string> {
	const { line, id } = known;
	if (content === null) return "an object it references was not created.";
	const createdKey = line.type.stored.find(
		({ field }) => field === run.store.domain.createdAtField,
	)?.key;
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
		const isNewer =
			seen.version !== before.version || (isGone && !wasDeleted(before));
		if (isNewer && !(isGone && known.isRevived)) {
			seen.outcome = "newerHere";
			return null;
		}
		const isReused =
			createdKey !== undefined &&
			content[createdKey] !== undefined &&
			content[createdKey] !== data[createdKey];
		if (isReused && wasDeleted(before)) {
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
		if (thrown.code === "CONFLICT") return NAME_TAKEN;
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
