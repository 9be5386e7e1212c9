import { CorkboardError } from "../errors.ts";
import type { JsonObject, JsonValue } from "../util/json.ts";
import { nearest } from "../util/nearest.ts";
import { quoted } from "../util/quoted.ts";
import { isQueueName } from "./jobId.ts";

/** How a queue works. Each shard of the queue keeps a copy, of which the one with the highest version is valid. */
export interface QueueSettings {
	/** No job of the queue starts. Jobs are accepted, and running ones end. */
	readonly paused: boolean;
	/** The limit of all shards together; null: no limit; 0: none starts. */
	readonly maxJobsPerSecond: number | null;
	/** With `maxJobsPerSecond`: how many a shard may start at once after a time without any. */
	readonly burst: number;
	/** The limit of all shards together, at least one each; null: no limit. */
	readonly maxRunning: number | null;
	/** The limit of all shards together. A full queue refuses further jobs with QUEUE_FULL. */
	readonly maxPending: number;
	/** Bytes. */
	readonly maxBody: number;
	/** How often a job is begun at most, if its enqueue does not say. */
	readonly attempts: number;
	/** How long a worker that does not renew its claim keeps a job. */
	readonly claimMs: number;
	/** Between a failure and the next attempt: the first time, how much more each time, at most, and by how much of it that varies. */
	readonly backoffFirstMs: number;
	readonly backoffFactor: number;
	readonly backoffMostMs: number;
	readonly backoffJitter: number;
	/** How long finished jobs can be looked up at least. */
	readonly keepSucceededMs: number;
	readonly keepFailedMs: number;
}

export type SettingName = keyof QueueSettings;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
/** Largest first. */
const UNITS_MS = { d: DAY_MS, h: HOUR_MS, m: MINUTE_MS, s: SECOND_MS, ms: 1 };

/** What holds for a queue that does not set it. */
export const DEFAULT_SETTINGS: QueueSettings = {
	paused: false,
	maxJobsPerSecond: null,
	burst: 1,
	maxRunning: null,
	maxPending: 10_000_000,
	maxBody: 64 * 1024,
	attempts: 2,
	claimMs: MINUTE_MS,
	backoffFirstMs: SECOND_MS,
	backoffFactor: 2,
	backoffMostMs: HOUR_MS,
	backoffJitter: 0.2,
	keepSucceededMs: 24 * HOUR_MS,
	keepFailedMs: 7 * DAY_MS,
};

interface Kind {
	/** For messages: `a number from 1 to 100`. */
	readonly expected: string;
	/** Undefined if the text is not valid. */
	parse(text: string): boolean | number | null | undefined;
	isValid(value: unknown): boolean;
}

const KINDS: Readonly<Record<SettingName, Kind>> = {
	paused: {
		expected: "true or false",
		parse: (text) =>
			/^(true|false)$/.test(text) ? text === "true" : undefined,
		isValid: (value) => typeof value === "boolean",
	},
	maxJobsPerSecond: orNone(decimal(0, 1_000_000)),
	burst: integer(1, 100_000),
	maxRunning: orNone(integer(1, 1_000_000)),
	maxPending: integer(1, 1_000_000_000),
	maxBody: integer(1, 1_048_576),
	attempts: integer(1, 10_000),
	claimMs: duration(SECOND_MS, DAY_MS),
	backoffFirstMs: duration(0, DAY_MS),
	backoffFactor: decimal(1, 100),
	backoffMostMs: duration(0, 30 * DAY_MS),
	backoffJitter: decimal(0, 1),
	keepSucceededMs: duration(MINUTE_MS, 365 * DAY_MS),
	keepFailedMs: duration(MINUTE_MS, 365 * DAY_MS),
};

export const SETTING_NAMES = Object.keys(KINDS) as readonly SettingName[];

/** What a queue sets, by name; the rest is the default. Names that a later version of the program knows are kept. */
type SetValues = JsonObject;

/** What a setting takes, for messages and help. */
export function expectedOf(name: SettingName): string {
	return KINDS[name].expected;
}

/** As it is stored. A value that is not valid counts as not set: workers must not stop over it. */
export function checkedSettings(stored: JsonObject): SetValues {
	return Object.fromEntries(
		Object.entries(stored).filter(
			([name, value]) => !isSetting(name) || KINDS[name].isValid(value),
		),
	);
}

/** The settings in force. */
export function settingsOf(set: SetValues): QueueSettings {
	return { ...DEFAULT_SETTINGS, ...knownSettings(set) };
}

/** Without what only a later version of the program knows. */
export function knownSettings(set: SetValues): Partial<QueueSettings> {
	return Object.fromEntries(
		Object.entries(set).filter(([name]) => isSetting(name)),
	);
}

/** The copy with the highest version; null if there is none. Two of one version are equal, as only one writer makes each. */
export function newestCopy<Copy extends { readonly version: number }>(
	copies: readonly Copy[],
): Copy | null {
	return copies.reduce<Copy | null>(
		(newest, copy) =>
			newest === null || copy.version > newest.version ? copy : newest,
		null,
	);
}

/**
 * Applies `NAME=VALUE` arguments, of which `NAME=default` unsets. Throws
 * BAD_USER_INPUT that names every argument that is not valid.
 */
export function applySettings(
	set: SetValues,
	given: readonly string[],
): SetValues {
	const problems: string[] = [];
	const next: Record<string, JsonValue> = { ...set };
	for (const argument of given) {
		const at = argument.indexOf("=");
		const name = at < 0 ? argument : argument.slice(0, at);
		if (!isSetting(name)) {
			problems.push(unknownSetting(name));
			continue;
		}
		if (at < 0) {
			problems.push(
				`${name} needs a value: ${name}=VALUE, ${expectedOf(name)}.`,
			);
			continue;
		}
		const text = argument.slice(at + 1);
		if (text === "default") {
			delete next[name];
			continue;
		}
		const value = KINDS[name].parse(text);
		if (value === undefined) {
			problems.push(
				`${name} must be ${expectedOf(name)}, or default, got ${quoted(text)}.`,
			);
		} else {
			next[name] = value;
		}
	}
	if (problems.length > 0) {
		throw new CorkboardError("BAD_USER_INPUT", problems.join("\n"));
	}
	return next;
}

/** As `queues set` takes it: `24h`, `none`, `0.5`. */
export function printSetting(
	name: SettingName,
	settings: QueueSettings,
): string {
	const value = settings[name];
	if (value === null) return "none";
	return name.endsWith("Ms") ? printDuration(Number(value)) : String(value);
}

/** Throws BAD_USER_INPUT: a name becomes part of names of tables. */
export function checkNewQueue(name: string): void {
	if (isQueueName(name)) return;
	throw new CorkboardError(
		"BAD_USER_INPUT",
		`The name of a queue is 1 to 40 letters and digits and begins with a small letter, such as feedItem, got ${quoted(name)}.`,
	);
}

/** `90s`, `24h`, `7d`, `250ms` in milliseconds; undefined for anything else. */
export function parseDuration(text: string): number | undefined {
	const [, count, unit] = /^([0-9]{1,12})(ms|s|m|h|d)$/.exec(text) ?? [];
	return unit === undefined
		? undefined
		: Number(count) * UNITS_MS[unit as keyof typeof UNITS_MS];
}

/** In the largest unit that gives a whole number. */
export function printDuration(ms: number): string {
	for (const [unit, size] of Object.entries(UNITS_MS)) {
		if (ms !== 0 && ms % size === 0 && !(unit === "d" && ms < 2 * DAY_MS)) {
			return `${ms / size}${unit}`;
		}
	}
	return `${ms}ms`;
}

function isSetting(name: string): name is SettingName {
	return Object.hasOwn(KINDS, name);
}

function unknownSetting(name: string): string {
	const meant = nearest(name, SETTING_NAMES);
	return `There is no setting ${quoted(name)}.${meant ? ` Did you mean ${meant}?` : ` Settings: ${SETTING_NAMES.join(", ")}.`}`;
}

function integer(least: number, most: number): Kind {
	const isValid = (value: unknown) =>
		Number.isInteger(value) && Number(value) >= least && Number(value) <= most;
	return {
		expected: `a whole number from ${least} to ${most}`,
		isValid,
		parse: (text) =>
			/^[0-9]{1,12}$/.test(text) && isValid(Number(text))
				? Number(text)
				: undefined,
	};
}

function decimal(least: number, most: number): Kind {
	const isValid = (value: unknown) =>
		typeof value === "number" && value >= least && value <= most;
	return {
		expected: `a number from ${least} to ${most}, such as 0.5`,
		isValid,
		parse: (text) =>
			/^[0-9]{1,9}(\.[0-9]{1,9})?$/.test(text) && isValid(Number(text))
				? Number(text)
				: undefined,
	};
}

function duration(least: number, most: number): Kind {
	const { isValid } = integer(least, most);
	return {
		expected: `a duration from ${printDuration(least)} to ${printDuration(most)}, such as 90s, 15m, 24h or 7d`,
		isValid,
		parse(text) {
			const ms = parseDuration(text);
			return isValid(ms) ? ms : undefined;
		},
	};
}

function orNone(kind: Kind): Kind {
	return {
		expected: `${kind.expected}, or none`,
		isValid: (value) => value === null || kind.isValid(value),
		parse: (text) => (text === "none" ? null : kind.parse(text)),
	};
}

/** The stored settings of a queue. Damaged ones count as none: workers must not stop over them. */
export function parseSettings(text: string): JsonObject {
	let value: unknown;
	try {
		value = JSON.parse(text);
	} catch {
		return {};
	}
	return typeof value === "object" && value !== null && !Array.isArray(value)
		? (value as JsonObject)
		: {};
}
