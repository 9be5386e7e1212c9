import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Databases } from "../databases.ts";
import type { Flavor } from "../queries.ts";
import { SECRET } from "./corkboard.ts";
import { type ServerProcess, startServer } from "./serverProcess.ts";

const FOLDER = join(import.meta.dirname, "../peers");
const DATABASE = "relational";
const LOAD_LIMIT_MS = 1_800_000;

export interface Peer {
	readonly title: string;
	readonly flavor: Flavor;
	readonly database: "mysql" | "postgres" | "none";
}

export const PEERS = {
	mercurius: {
		title: "Mercurius",
		flavor: "standard",
		database: "mysql",
	},
	postgraphile: {
		title: "PostGraphile",
		flavor: "postgraphile",
		database: "postgres",
	},
	yoga: { title: "Yoga + DataLoader", flavor: "standard", database: "mysql" },
	drizzle: {
		title: "Apollo + DataLoader + Drizzle",
		flavor: "standard",
		database: "mysql",
	},
	drizzlePromises: {
		title: "Apollo + Drizzle, with the same promises",
		flavor: "standard",
		database: "mysql",
	},
	byHand: { title: "by hand", flavor: "standard", database: "mysql" },
	canned: { title: "node:http, canned", flavor: "standard", database: "none" },
} as const satisfies Readonly<Record<string, Peer>>;
export type PeerName = keyof typeof PEERS;

/** The peers' packages are installed on the first use. */
export function installPeers(
	say: (text: string) => void,
	signal: AbortSignal,
): Promise<void> {
	return installPackages(FOLDER, {
		packages: [
			"mercurius",
			"postgraphile",
			"drizzle-orm",
			"graphql-yoga",
			"ioredis",
		],
		without: "--only canned",
		say,
		signal,
	});
}

/** Installs the packages of a folder with a lock file of its own, unless these are there. */
export async function installPackages(
	folder: string,
	{
		packages,
		without,
		say,
		signal,
	}: {
		readonly packages: readonly string[];
		/** The options that need none of them. */
		readonly without: string;
		readonly say: (text: string) => void;
		readonly signal: AbortSignal;
	},
): Promise<void> {
	const isInstalled = packages.every((name) =>
		existsSync(join(folder, "node_modules", name)),
	);
	if (isInstalled) return;
	say(`installing packages into ${folder}/node_modules, once (npm ci)`);
	const child = spawn(
		"npm",
		["ci", "--ignore-scripts", "--no-audit", "--no-fund"],
		{ cwd: folder, stdio: ["ignore", "ignore", "inherit"], signal },
	);
	const [code] = await once(child, "exit");
	if (code !== 0) {
		throw new Error(
			`npm ci ended with ${code} in ${folder}. Without network, choose what needs no packages: ${without}.`,
		);
	}
}

/** Loads the tables of `folder` into the peers' databases. */
export async function loadPeers(
	folder: string,
	{ mysql, postgres }: Databases,
	signal: AbortSignal,
): Promise<void> {
	if (mysql === null && postgres === null) return;
	await promisify(execFile)(
		process.execPath,
		[join(FOLDER, "load.ts"), folder, mysql?.url ?? "-", postgres?.url ?? "-"],
		{ timeout: LOAD_LIMIT_MS, signal, cwd: FOLDER },
	);
}

export function startPeer(
	name: PeerName,
	{ mysql, postgres, redis }: Databases,
): Promise<ServerProcess> {
	const { title, database } = PEERS[name];
	const server = { mysql, postgres, none: null }[database];
	return startServer({
		name: title,
		command: [process.execPath, join(FOLDER, `${name}.ts`)],
		env: {
			TOKEN_SECRET: SECRET,
			...(server === null ? {} : { DATABASE_URL: `${server.url}/${DATABASE}` }),
			...(redis === null ? {} : { REDIS_URL: redis.url }),
		},
		readiness: "printed",
	});
}
