import type { Environment } from "../../topology/secret.ts";
import { binlogFaults } from "../ferry/movedTables.ts";
import type { DatabaseKind } from "../map/databases.ts";
import { accountFaults } from "../server/accountGrants.ts";
import { fencedOf } from "../server/fences.ts";
import { FleetServer, withoutOperator } from "../server/fleetServer.ts";
import { grantFaults, NEEDED_GRANTS } from "./operatorGrants.ts";
import { readVersion } from "./preflight.ts";
import { PROMOTION_SETTINGS, settingFaults } from "./serverSettings.ts";

/** One end of a move: the primary, its URL, and its replica. */
interface MoveEnd {
	readonly url: string;
	readonly primary: FleetServer;
	readonly replica: FleetServer | null;
}

interface CheckedMove {
	readonly from: MoveEnd;
	readonly to: MoveEnd;
	readonly kind: DatabaseKind;
	readonly databases: readonly string[];
	/** What they are called while they are parked, and the ferry's own. */
	readonly others: readonly string[];
	/** How long it may take, in seconds. */
	readonly seconds: number;
	readonly environment: Environment;
}

/** Everything that would refuse a move, by its name, each as a sentence with its cure. */
export interface MoveFault {
	readonly check: string;
	readonly fault: string;
}

/** Null: none. */
type Faults = readonly string[] | string | null;
type Check = (move: CheckedMove) => Promise<Faults>;

/** Without these, nothing else can be asked. */
const FIRST: Readonly<Record<string, Check>> = {
	answer: ({ from, to }) =>
		each(serversOf(from, to), async (server) => {
			const silence = await server.silence(ANSWER_MS);
			return silence === null
				? null
				: `${server.name} does not answer: ${silence}. It has to, with the account of the operator (CORKBOARD_ADMIN_FILE) or that of its URL.`;
		}),
	version: ({ from, to }) =>
		each([from.primary, to.primary], async (server) => {
			const { version, faults } = await readVersion(server);
			return faults.length === 0
				? null
				: /maria/i.test(version)
					? `${server.name} is MariaDB ${version}, which cannot fence one database, so its shards cannot be moved. Move them by a promotion of the whole server.`
					: `${server.name} is MySQL ${version}: moving needs 8.0.26 or later, which can fence one database.`;
		}),
	grants: ({ from, to, databases, others }) =>
		each([from.primary, to.primary], (server) =>
			grantFaults(
				server,
				NEEDED_GRANTS.move,
				[...databases, ...others],
				MOVING,
			),
		),
};

const CHECKS: Readonly<Record<string, Check>> = {
	"same server": async ({ from, to }) => {
		const [one, other] = await Promise.all(
			[from, to].map(({ primary }) => uuidOf(primary)),
		);
		return one === other
			? `${from.primary.name} and ${to.primary.name} are two names of one server.`
			: null;
	},
	settings: ({ from, to }) =>
		each([from.primary, to.primary], (server) =>
			settingFaults(server, PROMOTION_SETTINGS),
		),
	"binary log": ({ from, to }) =>
		each([from.primary, to.primary], (server) => binlogFaults(server)),
	retention: async ({ from, seconds }) => {
		const [kept] = await from.primary.row(
			"retention",
			"SELECT @@GLOBAL.binlog_expire_logs_seconds",
		);
		const needed = Math.ceil(seconds * RETENTION_TIMES);
		return Number(kept) === 0 || Number(kept) >= needed
			? null
			: `${from.primary.name} keeps its binary log for ${kept} s, and the copy may take ${Math.ceil(seconds)}: SET PERSIST binlog_expire_logs_seconds = ${needed}, or move less at a time.`;
	},
	writable: ({ from, to }) =>
		each([from.primary, to.primary], async (server) => {
			const { takesWrites } = await server.identity();
			return takesWrites
				? null
				: `${server.name} takes no writes: super_read_only or read_only is on. A new primary has to take them: SET GLOBAL super_read_only = OFF, read_only = OFF.`;
		}),
	follows: async ({ to }) =>
		(await to.primary.replica()) === null
			? null
			: `${to.primary.name} follows another server, which would overwrite what is moved there: STOP REPLICA; RESET REPLICA ALL.`,
	replicas: async ({ from, to }) =>
		(
			await Promise.all(
				[from, to].map(async ({ primary, replica }) => {
					if (replica === null) return null;
					const state = await replica.replica();
					const isFollowing =
						state?.isReceiving &&
						state.isApplying &&
						state.sourceUuid === (await uuidOf(primary));
					return isFollowing
						? null
						: `${replica.name} does not follow ${primary.name}${state === null || state.error === "" ? "" : `: ${state.error}`}: corkboard replicas add ${replica.name} --of ${primary.name}.`;
				}),
			)
		).flatMap(listOf),
	"account of processes": async ({ to, kind, databases, environment }) => {
		// With the account of the processes: what that cannot do, they cannot.
		await using server = new FleetServer(to.url, withoutOperator(environment));
		const silence = await server.silence(ANSWER_MS);
		if (silence !== null) {
			return `${server.name} refuses the account of the processes: ${silence}. Create it as on the other hosts: corkboard grants show.`;
		}
		const host = kind === "db" || kind === "feed" ? ["corkboard"] : [];
		return await accountFaults(server, [...databases, ...host]);
	},
	"fenced databases": async ({ from, databases }) => {
		const fenced = await fencedOf(from.primary, databases);
		const [name] = fenced;
		return name === undefined
			? null
			: `${from.primary.name}: ${name}${fenced.length > 1 ? ` and ${fenced.length - 1} more are` : " is"} read-only, and this move did not make it so: ALTER DATABASE ${name} READ ONLY = 0.`;
	},
	"names in use": async ({ from, to, databases, others }) => {
		const held = async (server: FleetServer, names: readonly string[]) => {
			const rows = await server.rows(
				"names in use",
				"SELECT DISTINCT table_schema FROM information_schema.tables WHERE table_schema IN (?)",
				[names],
			);
			return rows.map(([name]) => `${server.name} has ${name}`);
		};
		const parks = others.filter((name) => name.startsWith("park_"));
		const all = [
			...(await held(to.primary, [...databases, ...parks])),
			...(await held(from.primary, parks)),
		];
		return all.length === 0
			? null
			: `${all[0]} already${all.length > 1 ? `, and ${all.length - 1} more are there` : ""}: of a move that was not ended (corkboard operations list --all), or of a backup. Look at what it holds, and drop it.`;
	},
	"schema changes": ({ from, to }) =>
		each([from.primary, to.primary], async (server) => {
			const rows = await server.rows(
				"schema changes",
				"SELECT LEFT(info, 60) FROM information_schema.processlist WHERE info REGEXP '^[[:space:]]*(ALTER|CREATE|DROP|RENAME|OPTIMIZE|TRUNCATE)[[:space:]]' AND id <> CONNECTION_ID()",
			);
			const [[text] = []] = rows;
			return text === undefined
				? null
				: `${server.name} runs a change of a schema: ${text}. Wait until it has ended.`;
		}),
};

const ANSWER_MS = 5_000;
/** The binary log is kept for so many times the time that the copy takes. */
const RETENTION_TIMES = 3;
/** What is done with a database that moves: rows, tables, fences and names. */
const MOVING = [
	"SELECT",
	"INSERT",
	"UPDATE",
	"DELETE",
	"CREATE",
	"DROP",
	"ALTER",
];

/** All faults at once; only the first ones if nothing more can be asked. */
export async function moveFaults(
	move: CheckedMove,
): Promise<readonly MoveFault[]> {
	for (const [check, find] of Object.entries(FIRST)) {
		const faults = listOf(await find(move));
		if (faults.length > 0) return faults.map((fault) => ({ check, fault }));
	}
	const found = await Promise.all(
		Object.entries(CHECKS).map(async ([check, find]) =>
			listOf(await find(move)).map((fault) => ({ check, fault })),
		),
	);
	return found.flat();
}

function serversOf(...ends: readonly MoveEnd[]): readonly FleetServer[] {
	return ends.flatMap(({ primary, replica }) => [
		primary,
		...(replica === null ? [] : [replica]),
	]);
}

async function each(
	servers: readonly FleetServer[],
	find: (server: FleetServer) => Promise<Faults>,
): Promise<readonly string[]> {
	return (await Promise.all(servers.map(find))).flatMap(listOf);
}

function listOf(faults: Faults): readonly string[] {
	return [faults ?? []].flat();
}

async function uuidOf(server: FleetServer): Promise<string> {
	const [uuid] = await server.row("identity", "SELECT @@server_uuid");
	return String(uuid);
}
