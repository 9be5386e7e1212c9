import { readConfig } from "../config/config.ts";
import { type Agreement, agreed } from "../fleet/map/barrier.ts";
import { type Publishing, requireCurrent } from "../fleet/map/publish.ts";
import {
	AGREEMENT_MS,
	publishAsked,
	storeToChange,
} from "../fleet/topologyOperations.ts";
import { cachesWithoutPasswords } from "../topology/caches.ts";
import { changesBetween, describeChange } from "../topology/describeChange.ts";
import { redactHostUrl } from "../topology/hostUrl.ts";
import type { TopologyStore } from "../topology/store.ts";
import type { FleetCaches, HostRange, Topology } from "../topology/types.ts";
import { flag, type Result } from "./command.ts";
import type { CommandContext } from "./commandContext.ts";

/** Options of every command that publishes a version. */
export const CHANGE_OPTIONS = {
	dryRun: flag("show what would change, and publish nothing"),
} as const;

/** The flag of commands that may name a host for something else than it was before. */
export const UNCHECKED = flag("do not ask the hosts that the change is about");

/** Exit codes of these commands beside 0. */
export const CHANGE_EXIT_CODES = {
	3: "published, but not every process serves it yet",
} as const;

/** The store that the settings name. */
export function openStoreForCommand({ env }: CommandContext): TopologyStore {
	return storeToChange(readConfig(env, { secret: "unneeded" }));
}

/** Publishes an edit, waits until all processes serve it, and says what differs. */
export async function publishForCommand(
	context: CommandContext,
	{
		dryRun,
		unchecked = false,
	}: { readonly dryRun: boolean; readonly unchecked?: boolean },
	publishing: Publishing,
): Promise<Result> {
	const { model } = await context.app();
	await using store = openStoreForCommand(context);
	const { before, topology, isNew } = await publishAsked(
		store,
		{ ...publishing, isDryRun: dryRun },
		{ model, isUnchecked: unchecked, report: (line) => context.stderr(line) },
	);
	const { version } = topology;
	const agreement =
		dryRun || !isNew ? null : await agreed(store, version, AGREEMENT_MS);
	const changes = before === null ? [] : changesBetween(before, topology);
	const outcome = !isNew
		? `no difference: version ${version} stays`
		: `version ${version} ${dryRun ? "would be published" : "is published"}`;
	return {
		value: {
			version,
			dryRun,
			changes,
			members: agreement && describeAgreement(agreement),
		},
		lines: [
			...changes.map(describeChange),
			outcome,
			...(agreement === null ? [] : [printAgreement(agreement, version)]),
		],
		code: codeOfAgreement(agreement),
	};
}

/** 3: some process does not serve the version yet. */
export function codeOfAgreement(agreement: Agreement | null): number {
	return (agreement?.missing.length ?? 0) > 0 ? 3 : 0;
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

/** docs/reference/commands-json.md describes this shape. */
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

/** The newest version. Throws BAD_TOPOLOGY if there is none. */
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
				: name === "caches"
					? cachesWithoutPasswords(value as FleetCaches)
					: value,
		]),
	);
}
