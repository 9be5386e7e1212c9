import {
	AGREEMENT_MS,
	publishAsked,
	storeToChange,
} from "../app/topologyOperations.ts";
import { readConfig } from "../config/config.ts";
import { type Agreement, agreed } from "../topology/barrier.ts";
import { changesBetween, describeChange } from "../topology/describeChange.ts";
import { redactHostUrl } from "../topology/hostUrl.ts";
import { type Publishing, requireCurrent } from "../topology/publish.ts";
import type { TopologyStore } from "../topology/store.ts";
import type { HostRange, Topology } from "../topology/types.ts";
import { JSON_OPTION, type Option, UsageError } from "./arguments.ts";
import type { CommandContext } from "./commandContext.ts";

/** Options of every command that publishes a version. */
export const CHANGE_OPTIONS: Readonly<Record<string, Option>> = {
	"dry-run": { description: "show what would change, and publish nothing" },
	json: JSON_OPTION,
};

/** Of those that may name a host for something else than it was before. */
export const UNCHECKED_OPTION: Option = {
	description: "do not ask the hosts that the change is about",
};

/** Exit codes of these commands beside 0. */
export const CHANGE_EXIT_CODES = {
	3: "published, but not every process serves it yet",
} as const;

type Given = Readonly<Record<string, string | undefined>>;

/** The store that the settings name. */
export function openStoreForCommand({ env }: CommandContext): TopologyStore {
	return storeToChange(readConfig(env, { secret: "unneeded" }));
}

/** Publishes an edit, prints it, and waits until all processes serve it. Returns the exit code. */
export async function publishForCommand(
	context: CommandContext,
	options: Given,
	publishing: Publishing,
): Promise<number> {
	await using store = openStoreForCommand(context);
	const isJson = options.json !== undefined;
	const isDryRun = options["dry-run"] !== undefined;
	const { before, topology, isNew } = await publishAsked(
		store,
		{ ...publishing, isDryRun },
		{
			isUnchecked: options.unchecked !== undefined,
			report: (line) => context.stderr(line),
		},
	);
	const agreement =
		isDryRun || !isNew
			? null
			: await agreed(store, topology.version, AGREEMENT_MS);
	print(context, isJson, {
		...{ before, next: topology },
		...{ dryRun: isDryRun, isNew, agreement },
	});
	return (agreement?.missing.length ?? 0) === 0 ? 0 : 3;
}

function print(
	context: CommandContext,
	isJson: boolean,
	{
		before,
		next,
		dryRun,
		isNew,
		agreement,
	}: {
		readonly before: Topology | null;
		readonly next: Topology;
		readonly dryRun: boolean;
		readonly isNew: boolean;
		readonly agreement: Agreement | null;
	},
): void {
	const changes = before === null ? [] : changesBetween(before, next);
	if (isJson) {
		const described = {
			version: next.version,
			dryRun,
			changes,
			members: agreement && describeAgreement(agreement),
		};
		context.stdout(JSON.stringify(described, null, "\t"));
		return;
	}
	for (const change of changes) context.stdout(describeChange(change));
	if (!isNew) {
		context.stdout(`no difference: version ${next.version} stays`);
		return;
	}
	context.stdout(
		`version ${next.version} ${dryRun ? "would be published" : "is published"}`,
	);
	if (agreement !== null)
		context.stdout(printAgreement(agreement, next.version));
}

/** `24 of 24 members serve version 19 after 0.3 s` */
export function printAgreement(
	{ by, agreed: all, missing, ms }: Agreement,
	version: number,
): string {
	const seconds = `${(ms / 1_000).toFixed(1)} s`;
	if (by === "time") {
		return `waited ${seconds}, within which processes read version ${version}: none can announce itself here`;
	}
	const members = all.length + missing.length;
	const behind = missing.map(({ id, version: at, oldest }) =>
		at < version
			? `${id} serves version ${at}`
			: `${id} still runs calls on version ${oldest}`,
	);
	return [
		`${all.length} of ${members} members serve version ${version} after ${seconds}`,
		...behind,
	].join("; ");
}

/** docs/commands-json.md describes this shape. */
export function describeAgreement({ by, agreed: all, missing, ms }: Agreement) {
	return {
		by,
		agreed: all.map(({ id }) => id),
		missing: missing.map(({ id, version, oldest }) => ({
			id,
			version,
			oldest,
		})),
		ms: Math.round(ms),
	};
}

/** `256-511`, or one shard. */
export function shardsIn(text: string): readonly [number, number] {
	const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(text);
	const first = Number(match?.[1]);
	const last = Number(match?.[2] ?? match?.[1]);
	if (match === null || first > last) {
		throw new UsageError(
			`Expected shards such as 256-511 but got: ${text || "nothing"}.`,
		);
	}
	return [first, last];
}

export function versionIn(text: string | undefined): number {
	if (text !== undefined && /^[0-9]{1,15}$/.test(text)) return Number(text);
	throw new UsageError(
		`Expected the number of a version but got: ${text || "nothing"}.`,
	);
}

/** A shard's part of new users beside those of other shards. */
export function weightIn(text: string): number {
	const weight = Number(text);
	if (/^\d+(\.\d+)?$/.test(text) && weight > 0 && weight <= 1_000)
		return weight;
	throw new UsageError(
		`Expected a weight above 0, at most 1000, but got: ${text || "nothing"}.`,
	);
}

/** The newest version. Throws BAD_TOPOLOGY where there is none. */
export async function newest(store: TopologyStore): Promise<Topology> {
	return (await requireCurrent(store)).topology;
}

/** As JSON, without passwords. */
export function withoutPasswords(topology: Topology): unknown {
	return Object.fromEntries(
		Object.entries(topology).map(([name, value]) => [
			name,
			Array.isArray(value)
				? value.map((range: HostRange) => ({
						...range,
						primary: redactHostUrl(range.primary),
						...(range.replica !== undefined && {
							replica: redactHostUrl(range.replica),
						}),
					}))
				: value,
		]),
	);
}
