import { readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { CorkboardError } from "../errors.ts";
import { makeFolder } from "../util/makeFolder.ts";
import { reasonOf } from "../util/reasonOf.ts";
import {
	lastDays,
	OTHER,
	USAGE_LIMITS,
	type UsageBatch,
	type UsageDay,
	type UsageLimits,
	type UsageStore,
} from "./usageStore.ts";

const FOLDER = "usage";
const FILE = /^(\d{4}-\d\d-\d\d)\.json$/;

interface Log {
	warn(fields: object, message: string): void;
}

/** A day as it grows. */
interface GrowingDay {
	readonly day: string;
	readonly since: string;
	readonly documents: Map<string, readonly string[]>;
	readonly requests: Map<string, Map<string, number>>;
	readonly fields: Map<string, Map<string, number>>;
	entries: number;
	bytes: number;
}

/**
 * The store of an embedded folder, which one process writes: a file for each
 * day, replaced whole. A file that cannot be read is put aside, as a server has
 * to start whatever is in it.
 */
export function openUsageFiles(options: {
	/** The data folder. */
	readonly folder: string;
	/** Days that are kept. */
	readonly days: number;
	readonly log: Log;
	readonly limits?: UsageLimits;
	readonly now?: () => number;
}): UsageStore {
	const { days, log, limits = USAGE_LIMITS, now = Date.now } = options;
	const folder = join(options.folder, FOLDER);
	let current: GrowingDay | null = null;
	let isFailing = false;

	async function open({ day, at }: UsageBatch): Promise<GrowingDay> {
		makeFolder(folder);
		const path = pathOf(folder, day);
		let known: UsageDay | null;
		try {
			known = await readDay(path);
		} catch (error) {
			log.warn({ path, reason: reasonOf(error) }, "usage file damaged");
			await rename(path, `${path}.damaged`);
			known = null;
		}
		await dropOldDays();
		return growing(known ?? emptyDay(day, at));
	}

	async function dropOldDays(): Promise<void> {
		const first = lastDays(days, now())[0] ?? "";
		for (const name of await readdir(folder)) {
			const day = FILE.exec(name)?.[1];
			if (day !== undefined && day < first) await rm(join(folder, name));
		}
	}

	return {
		async add(batch) {
			try {
				if (current?.day !== batch.day) current = await open(batch);
				const before = current;
				const next = growing(before);
				addTo(next, batch, limits);
				await write(pathOf(folder, next.day), next);
				current = next;
				isFailing = false;
				return true;
			} catch (error) {
				if (!isFailing) {
					log.warn({ folder, reason: reasonOf(error) }, "usage not stored");
				}
				isFailing = true;
				return false;
			}
		},
		async [Symbol.asyncDispose]() {},
	};
}

/** The days of a data folder that have a file, of these, in their order. Throws BAD_DATA for a damaged one. */
export async function readUsageFiles(
	folder: string,
	days: readonly string[],
): Promise<readonly UsageDay[]> {
	const found: UsageDay[] = [];
	for (const day of days) {
		const path = pathOf(join(folder, FOLDER), day);
		try {
			const known = await readDay(path);
			if (known !== null) found.push(known);
		} catch (cause) {
			throw new CorkboardError(
				"BAD_DATA",
				`${path} cannot be read: ${reasonOf(cause)}. Delete it to continue without that day.`,
				{ cause },
			);
		}
	}
	return found;
}

function addTo(
	day: GrowingDay,
	{ documents, others }: UsageBatch,
	limits: UsageLimits,
): void {
	const add = (
		to: Map<string, Map<string, number>>,
		client: string,
		name: string,
		count: number,
	): void => {
		if (!to.get(client)?.has(name)) {
			if (day.entries >= limits.entries && client !== OTHER) {
				add(to, OTHER, name, count);
				return;
			}
			day.entries++;
		}
		const own = to.get(client) ?? new Map<string, number>();
		to.set(client, own.set(name, (own.get(name) ?? 0) + count));
	};
	for (const { client, key, coordinates, count } of documents) {
		if (!day.documents.has(key)) {
			const bytes = bytesOf([key, coordinates]);
			if (day.bytes + bytes <= limits.documentBytes) {
				day.documents.set(key, coordinates);
				day.bytes += bytes;
			}
		}
		if (day.documents.has(key)) {
			add(day.requests, client, key, count);
			continue;
		}
		add(day.requests, client, OTHER, count);
		for (const name of coordinates) add(day.fields, client, name, count);
	}
	for (const { client, requests, coordinates } of others) {
		if (requests > 0) add(day.requests, client, OTHER, requests);
		for (const [name, count] of coordinates) {
			add(day.fields, client, name, count);
		}
	}
}

function growing({ day, since, documents, requests, fields }: UsageDay) {
	const copied = (counts: UsageDay["requests"]) =>
		new Map([...counts].map(([client, own]) => [client, new Map(own)]));
	const sizes = [...requests.values(), ...fields.values()];
	return {
		day,
		since,
		documents: new Map(documents),
		requests: copied(requests),
		fields: copied(fields),
		entries: sizes.reduce((sum, { size }) => sum + size, 0),
		bytes: [...documents].reduce((sum, each) => sum + bytesOf(each), 0),
	};
}

function bytesOf([key, coordinates]: readonly [string, readonly string[]]) {
	return key.length + coordinates.join(" ").length;
}

function emptyDay(day: string, since: string): UsageDay {
	return {
		day,
		since,
		documents: new Map(),
		requests: new Map(),
		fields: new Map(),
	};
}

/** As JSON: objects for maps. */
async function write(path: string, day: UsageDay): Promise<void> {
	const counts = (all: UsageDay["requests"]) =>
		Object.fromEntries(
			[...all].map(([client, own]) => [client, Object.fromEntries(own)]),
		);
	const text = JSON.stringify({
		day: day.day,
		since: day.since,
		documents: Object.fromEntries(day.documents),
		requests: counts(day.requests),
		fields: counts(day.fields),
	});
	const unnamed = `${path}.new`;
	await writeFile(unnamed, `${text}\n`, { mode: 0o600 });
	await rename(unnamed, path);
}

/** Null without a file. Throws if it is damaged. */
async function readDay(path: string): Promise<UsageDay | null> {
	let text: string;
	try {
		text = await readFile(path, "utf8");
	} catch (error) {
		if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
		throw error;
	}
	const { day, since, documents, requests, fields } = JSON.parse(text);
	if (typeof day !== "string" || typeof since !== "string") {
		throw new Error("it has no day");
	}
	return {
		day,
		since,
		documents: mapOf(documents, coordinatesIn),
		requests: mapOf(requests, (own) => mapOf(own, countIn)),
		fields: mapOf(fields, (own) => mapOf(own, countIn)),
	};
}

function mapOf<T>(value: unknown, read: (value: unknown) => T): Map<string, T> {
	if (typeof value !== "object" || value === null || Array.isArray(value)) {
		throw new Error("it has something else in place of an object");
	}
	return new Map(
		Object.entries(value).map(([name, each]) => [name, read(each)]),
	);
}

function coordinatesIn(value: unknown): readonly string[] {
	if (!Array.isArray(value) || value.some((each) => typeof each !== "string")) {
		throw new Error("it has something else in place of a list");
	}
	return value;
}

function countIn(value: unknown): number {
	if (!Number.isSafeInteger(value)) {
		throw new Error("it has something else in place of a number");
	}
	return value as number;
}

function pathOf(folder: string, day: string): string {
	return join(folder, `${day}.json`);
}
