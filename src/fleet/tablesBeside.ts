import { CorkboardError } from "../errors.ts";
import { openPoolsOf } from "../feed/pools/openPools.ts";
import { openJobStoreOf } from "../queue/openJobStore.ts";
import {
	CREATE_TABLES,
	type HostReport,
	NAMED_TABLES,
} from "../storage/hostReport.ts";
import type { Topology } from "../topology/types.ts";
import { type Deadline, withDeadline } from "../util/deadline.ts";
import { databasesByHost } from "./map/databases.ts";

/** What queues and pools lack, which the storage of the graph does not know. */
interface TablesBeside {
	/** As `pool00000.pool`. */
	readonly missing: readonly string[];
	/** Why they could not be asked: a sentence for each. */
	readonly problems: readonly string[];
}

const FOREVER: Deadline = { until: Number.POSITIVE_INFINITY };

/** Asks queues and pools that the topology names for their tables. */
export async function tablesBeside(
	{ pools = [], queues = [] }: Topology,
	/** Whether the app has one; else nobody makes tables of pools. */
	hasFeed: boolean,
	deadline = FOREVER,
): Promise<TablesBeside> {
	const looks = await Promise.all([
		pools.length === 0 || !hasFeed
			? NOTHING
			: missingOf(
					"The pools of home feeds do",
					openPoolsOf(pools, { readOnly: true }),
					deadline,
				),
		queues.length === 0
			? NOTHING
			: missingOf(
					"The queues do",
					openJobStoreOf({ queues }, { readOnly: true }),
					deadline,
				),
	]);
	return {
		missing: looks.flatMap(({ missing }) => missing),
		problems: looks.flatMap(({ problems }) => problems),
	};
}

const NOTHING: TablesBeside = { missing: [], problems: [] };

async function missingOf(
	who: string,
	asked: Asked,
	deadline: Deadline,
): Promise<TablesBeside> {
	const { missing, failure } = await askTables(asked, deadline);
	if (failure === null) return { missing, problems: [] };
	const { host, message } = failure;
	const where = host === null ? "" : ` on ${host}`;
	return { missing, problems: [`${who} not answer${where}: ${message}`] };
}

type Asked = AsyncDisposable & {
	missingTables(): Promise<readonly string[]>;
};

/** What the tables of a store lack, which is closed then; or why it did not say. */
export async function askTables(
	asked: Asked,
	deadline = FOREVER,
): Promise<{
	readonly missing: readonly string[];
	readonly failure: {
		readonly host: string | null;
		readonly message: string;
	} | null;
}> {
	await using opened = asked;
	try {
		const missing = await withDeadline(opened.missingTables(), deadline);
		return { missing, failure: null };
	} catch (error) {
		const { message } = error as Error;
		const { host = null } =
			error instanceof CorkboardError ? error.details : {};
		return {
			missing: [],
			failure: { host: typeof host === "string" ? host : null, message },
		};
	}
}

/** The reports with what is missing beside the graph, each at its host; and a sentence for what is on hosts that have nothing else. */
export function withTablesBeside(
	reports: readonly HostReport[],
	topology: Topology,
	{ missing, problems }: TablesBeside,
): {
	readonly reports: readonly HostReport[];
	readonly problems: readonly string[];
} {
	const databases = databasesByHost(topology);
	const placed = new Set<string>();
	const next = reports.map((report) => {
		if (report.role !== "primary" || report.missingTables === null) {
			return report;
		}
		const here = new Set(databases.get(report.host));
		const beside = missing.filter((table) =>
			here.has(table.slice(0, table.indexOf("."))),
		);
		for (const table of beside) placed.add(table);
		return { ...report, missingTables: [...report.missingTables, ...beside] };
	});
	const rest = missing.filter((table) => !placed.has(table));
	return {
		reports: next,
		problems:
			rest.length === 0
				? problems
				: [
						...problems,
						`Tables of queues and pools missing: ${rest.length}: ${rest.slice(0, NAMED_TABLES).join(", ")}. Create them with ${CREATE_TABLES}.`,
					],
	};
}
