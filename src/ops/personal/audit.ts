import { randomBytes } from "node:crypto";
import type { Id } from "../../id/ids.ts";
import { RESERVED_LOOKUPS } from "../../model/reservedNames.ts";
import type { Storage } from "../../storage/storage.ts";
import { changeState } from "../lookups.ts";

/**
 * Who exported or erased which user, and when. The rows are in the tables of
 * lookups, so that every backup and dump of the graph has them, and stay there for
 * good. They have no content of the user: an id, and numbers.
 */
const AUDIT_LOOKUP = RESERVED_LOOKUPS.accountAudit;

export type AuditedAction = "export" | "erase";

export interface AuditLine {
	/** ISO 8601. */
	readonly at: string;
	/** `begun` comes before anything is done. */
	readonly action: `${AuditedAction}${"" | " begun" | " interrupted"}`;
	readonly user: Id;
	/** The operator, as `user@host`. */
	readonly by: string;
	/** What was done, in numbers; null before it is. */
	readonly counts: Readonly<Record<string, number>> | null;
}

/** Stores the line. Throws UNAVAILABLE. */
export async function recordAudit(
	storage: Storage,
	{ at, action, user, by, counts }: AuditLine,
): Promise<void> {
	// No two lines have one key.
	const random = randomBytes(4).toString("hex");
	const key = { name: AUDIT_LOOKUP, key: [at, user, random, by].join(" ") };
	const token = JSON.stringify({ action, ...counts });
	await changeState(storage, key, null, token);
}

/** All lines, oldest first. */
export async function auditLines(
	storage: Storage,
): Promise<readonly AuditLine[]> {
	const lines: AuditLine[] = [];
	for (let shard = 0; shard < storage.map.modShards; shard++) {
		for await (const rows of storage.walk("lookups", shard, AUDIT_LOOKUP)) {
			for (const { key, token } of rows) lines.push(lineOf(key, token));
		}
	}
	return lines.toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

function lineOf(key: string, token: string): AuditLine {
	const [at = "", user = "", , ...by] = key.split(" ");
	const { action, ...counts } = JSON.parse(token);
	return {
		at,
		action,
		user: user as Id,
		by: by.join(" "),
		counts: Object.keys(counts).length > 0 ? counts : null,
	};
}

/** The last line of each export and erasure that was begun and has not ended. */
export function unfinished(lines: readonly AuditLine[]): readonly AuditLine[] {
	const last = new Map<string, AuditLine>();
	for (const line of lines) {
		const [action] = line.action.split(" ");
		last.set(`${action} ${line.user}`, line);
	}
	return [...last.values()].filter(({ action }) => action.includes(" "));
}
