import { CorkboardError } from "../../errors.ts";
import { type Id, parseId } from "../../id/ids.ts";
import { SCORE_LIMIT } from "../scores.ts";
import {
	MAX_ENTRIES,
	MAX_RECEIVERS,
	type PoolEntry,
	type PushedItem,
	type Receiver,
	type Visit,
} from "./pools.ts";

/* All throw a TypeError. */

const MAX_ASKED = 65_535;

/** Returns it, so that it can stand in a statement. */
export function checkId(id: Id): Id {
	const parsed = typeof id === "string" ? parseId(id) : "malformed";
	if (parsed === "malformed" || parsed === "reserved") {
		throw new TypeError(`Expected an id but got: ${JSON.stringify(id)}.`);
	}
	return id;
}

export function checkInteger(
	name: string,
	value: number,
	least: number,
	most = Number.MAX_SAFE_INTEGER,
): number {
	if (Number.isSafeInteger(value) && value >= least && value <= most) {
		return value;
	}
	throw new TypeError(
		`${name} must be an integer from ${least} to ${most}, got ${value}.`,
	);
}

function checkScore(score: number): number {
	return checkInteger("The score", score, 0, SCORE_LIMIT);
}

export function checkPushed(
	{ item, origin, via, now }: PushedItem,
	receivers: readonly Receiver[],
	activeSince: number,
): void {
	checkCount("receivers", receivers.length, MAX_RECEIVERS);
	for (const id of [item, origin, via]) checkId(id);
	checkInteger("now", now, 0);
	checkInteger("activeSince", activeSince, 0);
	for (const { user, score } of receivers) {
		checkId(user);
		checkScore(score);
	}
}

export function checkEntries(entries: readonly PoolEntry[]): void {
	checkCount("entries", entries.length, MAX_ENTRIES);
	for (const { score, item, origin, via } of entries) {
		checkScore(score);
		for (const id of [item, origin, via]) checkId(id);
	}
}

export function checkOrigins(origins: readonly Id[]): void {
	checkCount("origins", origins.length, MAX_ENTRIES);
	for (const id of origins) checkId(id);
}

export function checkVisit({
	visitedAt = 0,
	generatedAt = 0,
	asked = 0,
	rebuiltAt = 0,
}: Partial<Visit>): void {
	checkInteger("visitedAt", visitedAt, 0);
	checkInteger("generatedAt", generatedAt, 0);
	checkInteger("asked", asked, 0, MAX_ASKED);
	checkInteger("rebuiltAt", rebuiltAt, 0);
}

export function unknownPoolShard(shard: number): CorkboardError {
	return new CorkboardError(
		"UNAVAILABLE",
		`No range of the topology covers pool shard ${shard}.`,
	);
}

function checkCount(name: string, count: number, most: number): void {
	if (count <= most) return;
	throw new TypeError(`Expected at most ${most} ${name} but got: ${count}.`);
}
