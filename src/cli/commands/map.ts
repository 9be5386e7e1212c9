import { writeFile } from "node:fs/promises";
import { readConfiguredTopology } from "../../app/openTopology.ts";
import { readConfig } from "../../config/config.ts";
import { CorkboardError } from "../../errors.ts";
import { agreed } from "../../fleet/map/barrier.ts";
import { laterPrimaries, rollbackTo } from "../../fleet/map/edits.ts";
import { findUnwritten } from "../../fleet/operations/unwritten.ts";
import { hostProblems, tableProblems } from "../../storage/hostReport.ts";
import { checkTopologyChange } from "../../topology/checkChange.ts";
import {
	changesBetween,
	describeChange,
} from "../../topology/describeChange.ts";
import {
	listVersions,
	readCurrent,
	readVersion,
	requireVersion,
} from "../../topology/history.ts";
import { redactHostUrl } from "../../topology/hostUrl.ts";
import {
	prefixErrorsWithPath,
	readTopology,
} from "../../topology/parseTopology.ts";
import { modShards, openShards, shardsOf } from "../../topology/ranges.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type {
	HostRange,
	QueueRange,
	ShardRange,
	Topology,
} from "../../topology/types.ts";
import { compact } from "../../util/compact.ts";
import { columns } from "../arguments.ts";
import { argument, command, flag, option, optional } from "../command.ts";
import type { CommandContext } from "../commandContext.ts";
import { table } from "../table.ts";
import {
	CHANGE_EXIT_CODES,
	CHANGE_OPTIONS,
	codeOfAgreement,
	describeAgreement,
	newest,
	openStoreForCommand,
	printAgreement,
	publishForCommand,
	UNCHECKED,
	withoutPasswords,
} from "../topologyCommand.ts";
import { duration, list, version } from "../values.ts";

const check = command({
	summary:
		"Checks the topology and prints it, or checks whether NEW may follow OLD.",
	arguments: { old: optional("OLD"), next: optional("NEW") },
	options: {
		offline: flag("check the file only, and ask no host"),
	},
	exitCodes: {
		1: "the topology is not valid, a host does not serve, tables are missing, or an error",
	},
	details: [
		"Without arguments it checks the file that CORKBOARD_TOPOLOGY names, or the embedded topology. With OLD and NEW it checks NEW as servers that run on OLD do.",
		"Then it asks the hosts whether they serve, and whether the shards have their tables.",
	].join("\n"),
	async run({ old, next, offline }, context) {
		const { topology, file, source, follows } =
			old === undefined || next === undefined
				? await configured(context)
				: checkedChange(old, next);
		const problems = offline ? null : await problemsOfHosts(context, topology);
		return {
			value: describeTopology(topology, file, follows, problems),
			lines: compact([
				...printTopology(topology, source),
				follows !== null && describeFollows(follows),
				problems?.length === 0 &&
					"every host serves, and every shard has its tables",
			]),
			notes: (problems ?? [])
				.flatMap((problem) => problem.split("\n"))
				.map((line) => `corkboard: ${line}`),
			code: (problems?.length ?? 0) > 0 ? 1 : 0,
		};
	},
});

interface Checked {
	readonly topology: Topology;
	/** Null: the embedded one. */
	readonly file: string | null;
	/** In words. */
	readonly source: string;
	/** What it may follow; null if it was not compared. */
	readonly follows: Follows | null;
}

interface Follows {
	readonly file: string;
	readonly version: number;
	readonly isSame: boolean;
}

function checkedChange(oldFile: string, newFile: string): Checked {
	const { version } = readTopology(oldFile);
	const topology = readTopology(newFile);
	prefixErrorsWithPath(newFile, () =>
		checkTopologyChange(readTopology(oldFile), topology),
	);
	const isSame = version === topology.version;
	return {
		topology,
		file: newFile,
		source: newFile,
		follows: { file: oldFile, version, isSame },
	};
}

async function configured({ env }: CommandContext): Promise<Checked> {
	const config = readConfig(env, { secret: "unneeded" });
	const topology = await readConfiguredTopology(config);
	const { store } = config;
	return store.kind === "topology"
		? { topology, file: store.name, source: store.name, follows: null }
		: {
				topology,
				file: null,
				source: `the embedded topology of ${store.folder}`,
				follows: null,
			};
}

function describeFollows({ file, version, isSame }: Follows): string {
	return isSame
		? `the same as ${file}`
		: `may follow version ${version} of ${file}`;
}

/** Null if there is nothing to ask yet: an embedded folder is made at the first start. */
async function problemsOfHosts(
	context: CommandContext,
	topology: Topology,
): Promise<readonly string[] | null> {
	// Loaded on demand: a file alone is checked faster without it.
	const { inspectTopology } = await import("../../fleet/fleetStatus.ts");
	const { tablesBeside, withTablesBeside } = await import(
		"../../fleet/tablesBeside.ts"
	);
	const { model, feedModel } = await context.app();
	const graph = await inspectTopology(model, topology);
	const { reports, problems } = withTablesBeside(
		graph.reports,
		topology,
		await tablesBeside(topology, feedModel !== null),
	);
	return reports.length === 0
		? null
		: [
				...hostProblems(reports),
				// Which of them are lost, init says.
				...tableProblems(reports, null),
				...problems,
			];
}

/** Without passwords. */
function describeTopology(
	topology: Topology,
	/** Null: the embedded one. */
	file: string | null,
	follows: Follows | null,
	/** Null if no host was asked. */
	problems: readonly string[] | null,
) {
	const range = ({ range: [first, last], primary, replica }: HostRange) => ({
		first,
		last,
		primary: redactHostUrl(primary),
		replica: replica === undefined ? null : redactHostUrl(replica),
	});
	return {
		version: topology.version,
		file,
		shards: topology.shards.map((each) => ({
			...range(each),
			open: each.open,
			weight: each.weight ?? 1,
			generation: each.generation ?? 0,
		})),
		lookups: topology.lookups.map(range),
		queues: (topology.queues ?? []).map((each) => ({
			...range(each),
			drain: each.drain ?? false,
		})),
		feeds: (topology.feeds ?? []).map((each) => ({
			...range(each),
			generation: each.generation ?? 0,
		})),
		pools: (topology.pools ?? []).map(range),
		follows,
		problems,
	};
}

function printTopology(topology: Topology, source: string): readonly string[] {
	const { version, shards, lookups, queues, feeds, pools } = topology;
	const lists = { shards, lookups, queues, feeds, pools };
	return [
		`version ${version} of ${source}: good`,
		`${shardsOf(shards).length} shards, ${openShards(topology).length} open for new users; lookups on ${modShards(topology)} mod shards`,
		...columns(
			Object.entries(lists).flatMap(([list, ranges = []]) =>
				ranges.map((range): [string, string] => [
					`${list} ${formatRange(range)}`,
					printRange(range),
				]),
			),
		),
	];
}

function printRange({
	primary,
	replica,
	open,
	weight = 1,
	drain,
	generation = 0,
}: HostRange & Partial<ShardRange & QueueRange>): string {
	return compact([
		compact([primary, replica]).map(redactHostUrl).join(", replica "),
		open && "open",
		weight !== 1 && `weight ${weight}`,
		drain && "drain",
		generation > 0 && `generation ${generation}`,
	]).join("  ");
}

function formatRange({ range: [first, last] }: HostRange): string {
	return first === last ? `${first}` : `${first} to ${last}`;
}

const show = command({
	summary: "Prints the stored topology, without passwords.",
	options: {
		file: option(
			"FILE",
			"write it to FILE instead, with its passwords (mode 0600), so that you can edit and publish it",
		),
	},
	async run({ file }, context) {
		await using store = openStoreForCommand(context);
		const topology = await newest(store);
		if (file !== undefined) {
			await writeFile(file, `${JSON.stringify(topology, null, "\t")}\n`, {
				mode: 0o600,
			});
			const { version } = topology;
			return {
				value: { version, file },
				lines: [
					`version ${version} is in ${file}: edit it, then map publish ${file}`,
				],
			};
		}
		const value = withoutPasswords(topology);
		return { value, lines: [JSON.stringify(value, null, "\t")] };
	},
});

const PRINTED = 20;

const history = command({
	summary: "Prints who published which version of the topology, newest first.",
	details: "The newest 20 are printed of the 1,000 that are kept.",
	async run(_given, context) {
		await using store = openStoreForCommand(context);
		const versions = (await listVersions(store)).slice(0, PRINTED);
		const entries = await Promise.all(
			versions.map((version) => readVersion(store, version)),
		);
		const known = entries
			.filter((entry) => entry !== null)
			.map(({ topology: { version }, by, at, why, operation }) => ({
				version,
				at,
				by,
				why,
				operation,
			}));
		return { value: known, lines: printed(known) };
	},
});

function printed(
	known: readonly {
		readonly version: number;
		readonly at: string;
		readonly by: string;
		readonly why: string;
	}[],
): readonly string[] {
	if (known.length === 0) return ["no version was published yet"];
	return table([
		["version", "at (UTC)", "why", "by"],
		...known.map(({ version, at, by, why }) => [
			String(version),
			at.slice(0, 16).replace("T", " "),
			...[why, by],
		]),
	]);
}

const diff = command({
	summary: "Prints what differs between two versions of the topology.",
	arguments: { from: argument(version("OLD")), to: argument(version("NEW")) },
	async run({ from, to }, context) {
		await using store = openStoreForCommand(context);
		const old = await versionOf(store, from);
		const next = await versionOf(store, to);
		const changes = changesBetween(old, next);
		return {
			value: { from, to, changes },
			lines:
				changes.length === 0 ? ["no difference"] : changes.map(describeChange),
		};
	},
});

/** A file that was edited by hand has a version that no history knows. */
async function versionOf(
	store: TopologyStore,
	version: number,
): Promise<Topology> {
	const current = await newest(store);
	if (current.version === version) return current;
	return (await requireVersion(store, version)).topology;
}

const publish = command({
	summary: "Publishes the topology in FILE as the next version.",
	arguments: { file: argument("FILE") },
	options: {
		base: option(
			version("N"),
			"the version that FILE was made from (default: the one that it says)",
		),
		initial: flag("only if nothing is stored yet"),
		why: option("TEXT", "what the history says of it"),
		unchecked: UNCHECKED,
		...CHANGE_OPTIONS,
	},
	details: [
		"FILE is checked. It is published only if the stored version is the one that it was made from, and becomes the version after that. If nothing is stored yet, it becomes version 1.",
		"Hosts that get shards from elsewhere, or more new users, have to serve and to have their tables. For the first version no host is asked.",
		"Then it waits until every process serves it.",
	].join("\n"),
	exitCodes: CHANGE_EXIT_CODES,
	async run({ file, base, initial, why, ...given }, context) {
		const read = readTopology(file);
		if (initial) {
			await using store = openStoreForCommand(context);
			const current = await readCurrent(store);
			if (current !== null) {
				const { version } = current.topology;
				return {
					value: { version, dryRun: false, changes: [], members: null },
					lines: [`version ${version} is there already`],
				};
			}
		}
		return publishForCommand(context, given, {
			// The first has nothing to be made from.
			edit: () => read,
			why: why ?? `publish ${file}`,
			from: base ?? read.version,
		});
	},
});

const rollback = command({
	summary:
		"Publishes an older version's open ranges, weights and replicas again.",
	arguments: { version: argument(version()) },
	options: {
		onlyPlacement: flag("only open ranges and weights; hosts stay"),
		unwritten: option(
			list("HOSTS"),
			"primaries that do not answer and, as you know, never took a write, separated by commas",
			[],
		),
		unchecked: UNCHECKED,
		...CHANGE_OPTIONS,
	},
	details:
		"Primaries and generations stay as they are now. A former primary lacks what was written since, so a version that names one is refused. There is one exception: if the later primary never took a write, such as one at a wrong port, the former one comes back, with a higher generation. Shards that came later stay, closed.",
	exitCodes: CHANGE_EXIT_CODES,
	async run({ version, onlyPlacement, unwritten: stated, ...given }, context) {
		await using store = openStoreForCommand(context);
		const { topology: old } = await requireVersion(store, version);
		const current = await readCurrent(store);
		const { names: unwritten, reasons } = await findUnwritten(
			{ store, environment: context.env, stated },
			current === null || onlyPlacement
				? []
				: laterPrimaries(current.topology, old),
		);
		try {
			return await publishForCommand(context, given, {
				edit: (now) =>
					now === null
						? old
						: rollbackTo(now, old, { onlyPlacement, unwritten }),
				why: `roll back to version ${version}`,
			});
		} catch (thrown) {
			if (reasons.length === 0 || !(thrown instanceof CorkboardError)) {
				throw thrown;
			}
			throw new CorkboardError(
				thrown.code,
				[
					thrown.message,
					...reasons,
					"Open ranges and weights alone can go back: --only-placement.",
				].join("\n"),
				{ cause: thrown },
			);
		}
	},
});

const MAX_WAIT_MS = 60_000;

const wait = command({
	summary: "Waits until every process serves a version of the topology.",
	arguments: { version: argument(version()) },
	options: {
		timeout: option(
			duration(1_000, 86_400_000),
			"at most so long (default 1m)",
			MAX_WAIT_MS,
		),
	},
	exitCodes: { 3: "some processes do not serve it; they are named" },
	async run({ version, timeout }, context) {
		await using store = openStoreForCommand(context);
		const agreement = await agreed(store, version, timeout);
		return {
			value: { version, ...describeAgreement(agreement) },
			lines: [printAgreement(agreement, version)],
			code: codeOfAgreement(agreement),
		};
	},
});

export const verbs = {
	check,
	show,
	history,
	diff,
	publish,
	rollback,
	wait,
};
