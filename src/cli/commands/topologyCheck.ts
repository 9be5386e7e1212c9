import { readConfiguredTopology } from "../../app/openTopology.ts";
import { readConfig } from "../../config/config.ts";
import { hostProblems, tableProblems } from "../../storage/hostReport.ts";
import { checkTopologyChange } from "../../topology/checkChange.ts";
import { redactHostUrl } from "../../topology/hostUrl.ts";
import {
	prefixErrorsWithPath,
	readTopology,
} from "../../topology/parseTopology.ts";
import { modShards, openShards, shardsOf } from "../../topology/ranges.ts";
import type {
	HostRange,
	QueueRange,
	ShardRange,
	Topology,
} from "../../topology/types.ts";
import { compact } from "../../util/compact.ts";
import { columns } from "../arguments.ts";
import { command, flag, optional } from "../command.ts";
import type { CommandContext } from "../commandContext.ts";

export const { usage, run } = command({
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
				follows !== null && describeChange(follows),
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
	/** What it may follow; null where it was not compared. */
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

function describeChange({ file, version, isSame }: Follows): string {
	return isSame
		? `the same as ${file}`
		: `may follow version ${version} of ${file}`;
}

/** Null where there is nothing to ask yet: an embedded folder is made at the first start. */
async function problemsOfHosts(
	context: CommandContext,
	topology: Topology,
): Promise<readonly string[] | null> {
	// Loaded on demand: a file alone is checked faster without it.
	const { inspectTopology } = await import("../../fleet/fleetStatus.ts");
	const { tablesBeside, withTablesBeside } = await import(
		"../../fleet/tablesBeside.ts"
	);
	const { model } = await context.app();
	const graph = await inspectTopology(model, topology);
	const { reports, problems } = withTablesBeside(
		graph.reports,
		topology,
		await tablesBeside(topology),
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
	/** Null where no host was asked. */
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
