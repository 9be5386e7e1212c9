import { CorkboardError } from "../../errors.ts";
import { parseId } from "../../id/ids.ts";
import { RESERVED_LOOKUPS } from "../../model/reservedNames.ts";
import { keyOfContent, type Model } from "../../model/types.ts";
import { PRESENT, REMOVED } from "../../storage/rows.ts";
import type { JsonObject, JsonValue } from "../../util/json.ts";
import type { OutboxEntry } from "./entry.ts";

/**
 * The entry of an outbox row, every part of it checked: what a damaged row or
 * another version of the program wrote is never delivered by half and then
 * deleted. Throws BAD_DATA with what is wrong; `stored` is null if the row's
 * text is not a JSON object. The message names parts and names, never values.
 */
export function decodeEntry(
	model: Model,
	{ entry: stored }: { readonly entry: JsonObject | null },
): OutboxEntry {
	if (stored === null) throw unreadable("is not a JSON object");
	for (const [part, value] of Object.entries(stored)) {
		const check = Object.hasOwn(PARTS, part)
			? PARTS[part as keyof OutboxEntry]
			: undefined;
		if (check === undefined) {
			throw unreadable(
				`has the part ${quoted(part)}, which this version does not know`,
			);
		}
		if (part === "invalidations") {
			check(model, asRecord(part, value));
			continue;
		}
		if (!Array.isArray(value)) {
			throw unreadable(`has the part ${part}, which is not a list`);
		}
		for (const one of value as readonly JsonValue[]) check(model, one);
	}
	return stored as unknown as OutboxEntry;
}

/** Whether delivery of an entry failed because its row cannot be read. */
export function isUnreadable(error: unknown): boolean {
	return error instanceof CorkboardError && error.code === "BAD_DATA";
}

type Check = (model: Model, value: JsonValue) => void;

const PARTS: Readonly<Record<keyof OutboxEntry, Check>> = {
	edges(model, value) {
		const edge = asRecord("edges", value);
		checkMapping(model, edge.mapping);
		checkIds("edges", edge.from, edge.to);
		for (const neighbor of [edge.before, edge.after]) {
			if (neighbor !== undefined) checkIds("edges", neighbor);
		}
		const isState = edge.state === PRESENT || edge.state === REMOVED;
		const hasSequence = edge.sequence === null || isCount(edge.sequence);
		if (!isState || !isCount(edge.version) || !hasSequence) {
			throw unreadable(
				"has an edge whose state, version or sequence is no such number",
			);
		}
	},
	pendingObjects(_, value) {
		checkIds("pendingObjects", value);
	},
	reservations(model, value) {
		checkReservation(model, "reservations", value);
	},
	releases(model, value) {
		checkReservation(model, "releases", value);
	},
	lookups(model, value) {
		checkKey(model, "lookups", asRecord("lookups", value));
	},
	links(model, value) {
		const link = asRecord("links", value);
		checkMapping(model, link.mapping);
		checkIds("links", link.from);
		const type =
			typeof link.type === "string" ? model.objects.get(link.type) : undefined;
		if (type === undefined) {
			throw unreadable(
				`links to the type ${quoted(link.type)}, which the model does not have`,
			);
		}
		const data = asRecord("links", link.data);
		if (type.lookups.every((lookup) => keyOfContent(lookup, data) === null)) {
			throw unreadable(
				`links to an object of the type ${type.name} without a natural key`,
			);
		}
		if (!isCount(link.shard) || !isCount(link.sequence)) {
			throw unreadable("has a link whose shard or sequence is no such number");
		}
	},
	jobs(_, value) {
		const job = asRecord("jobs", value);
		const { queue, shard, local, bucket, due, allowed, createdAt } = job;
		if (typeof queue !== "string" || !/^[a-z][A-Za-z0-9]{0,39}$/.test(queue)) {
			throw unreadable(`has a job for the queue ${quoted(queue)}`);
		}
		// Local ids become part of SQL.
		if (typeof local !== "string" || !UUID_V7.test(local)) {
			throw unreadable("has a job without a valid id");
		}
		const hasNumbers = [shard, bucket, due, allowed, createdAt].every(isCount);
		const hasPriority = [1, 2, 3].includes(job.priority as number);
		if (!hasNumbers || !hasPriority) {
			throw unreadable("has a job with a number that no job has");
		}
		const hasKey = job.key === null || typeof job.key === "string";
		if (typeof job.body !== "string" || !hasKey) {
			throw unreadable("has a job without a body or with a damaged key");
		}
	},
	invalidations(model, value) {
		const { objects, lists } = asRecord("invalidations", value);
		if (!Array.isArray(objects) || !Array.isArray(lists)) {
			throw unreadable("has invalidations without lists of objects and lists");
		}
		checkIds("invalidations", ...(objects as readonly JsonValue[]));
		for (const one of lists as readonly JsonValue[]) {
			const list = asRecord("invalidations", one);
			checkMapping(model, list.mapping);
			checkIds("invalidations", list.from);
		}
	},
};

const UUID_V7 = /^[0-9a-f]{12}7[0-9a-f]{3}[89ab][0-9a-f]{15}$/;

function checkReservation(model: Model, part: string, value: JsonValue): void {
	const reservation = asRecord(part, value);
	checkKey(model, part, reservation);
	if (typeof reservation.token !== "string") {
		throw unreadable("has a reservation without a token");
	}
}

function checkKey(model: Model, part: string, value: JsonObject): void {
	const { name, key, id } = value;
	const isKnown =
		typeof name === "string" &&
		(model.lookups.has(name) || RESERVED_NAMES.has(name));
	if (!isKnown) {
		throw unreadable(
			`names the lookup ${quoted(name)}, which the model does not have`,
		);
	}
	if (typeof key !== "string") throw unreadable(`has no key in ${part}`);
	checkIds(part, id);
}

const RESERVED_NAMES: ReadonlySet<string> = new Set(
	Object.values(RESERVED_LOOKUPS),
);

function checkMapping(model: Model, name: JsonValue | undefined): void {
	if (typeof name === "string" && model.mappings.has(name)) return;
	throw unreadable(
		`names the mapping ${quoted(name)}, which the model does not have`,
	);
}

function checkIds(
	part: string,
	...ids: readonly (JsonValue | undefined)[]
): void {
	for (const id of ids) {
		const parsed = typeof id === "string" ? parseId(id) : "malformed";
		if (parsed !== "malformed" && parsed !== "reserved") continue;
		throw unreadable(`has no valid id in ${part}`);
	}
}

function isCount(value: JsonValue | undefined): boolean {
	return Number.isSafeInteger(value) && (value as number) >= 0;
}

function asRecord(part: string, value: JsonValue | undefined): JsonObject {
	if (typeof value === "object" && value !== null && !Array.isArray(value)) {
		return value as JsonObject;
	}
	throw unreadable(`has something other than an object in ${part}`);
}

/** Longest name that a message repeats. */
const MAX_NAME = 60;

function quoted(name: JsonValue | undefined): string {
	return typeof name === "string" && /^[\w. -]+$/.test(name)
		? name.slice(0, MAX_NAME)
		: "?";
}

function unreadable(what: string): CorkboardError {
	return new CorkboardError("BAD_DATA", `The outbox entry ${what}.`);
}
