import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { createConnection, type RowDataPacket } from "mysql2/promise";
import type { Random } from "../../../src/util/random.ts";
import { leftOfMoves } from "../move/besideFaults.ts";
import type { ApiServer } from "./apiServer.ts";
import type { CommandResult } from "./attackFleet.ts";
import { LISTS, type ObjectKind, type Thing, type User } from "./model.ts";
import { folded } from "./names.ts";
import { readNodes, readPages, readUsername } from "./reads.ts";
import type { Session } from "./session.ts";
import { createUser } from "./writes.ts";

/** The longest backoff of an entry is a minute. */
const DELIVERY_LIMIT_MS = 90_000;
/** What a process may keep showing, and a second. */
const CACHED_MS = 11_000;
/** Files that are imported again. */
const MAX_IMPORTS = 3;
const NODES = 50;
const READERS = 6;

/** After all faults: everything is delivered, everyone agrees, and nothing acknowledged is missing. */
export async function finish(
	session: Session,
	random: Random,
	imports: readonly string[],
): Promise<void> {
	const { model, timeline } = session;
	await settle(session);
	model.freshness.settledAt = timeline.now();
	await sleep(10);
	await compareGraph(session, random);
	await takeFreeNames(session, random);
	for (const file of imports.slice(-MAX_IMPORTS)) {
		await checkImport(session, file);
	}
	await verifyAll(session);
}

/** All servers run, moves have left nothing, outboxes are delivered, and nobody shows what it had before. */
export async function settle({ fleet, report }: Session): Promise<void> {
	for (const server of fleet.servers) {
		server.thaw();
		if (server.pid === null) await fleet.startServer(server);
	}
	const left = await leftOfMoves(fleet);
	if (left.length > 0) {
		report({
			kind: "move",
			promised: "moves that are over leave nothing but shards on their hosts",
			seen: left.join("\n"),
			objects: [],
		});
	}
	const rest = await untilDelivered(fleet.databases);
	if (rest.length > 0) {
		report({
			kind: "delivery",
			promised: `every outbox entry is delivered within ${DELIVERY_LIMIT_MS / 1_000} s after the faults`,
			seen: rest.join("\n"),
			objects: [],
		});
	}
	await sleep(CACHED_MS);
}

export async function verifyAll({ fleet, report }: Session): Promise<void> {
	const { code, out, err } = await fleet.command(["verify"]);
	if (code === 0) return;
	report({
		kind: "verify",
		promised: "verify finds no damage after the faults",
		seen: `exit code ${code}\n${out}${err}`,
		objects: [],
	});
}

/** A name that nobody has, and no write of unknown outcome wants, can be had. */
async function takeFreeNames(session: Session, random: Random): Promise<void> {
	const { model, report } = session;
	const wanted = new Set(
		model.users.flatMap(({ username }) =>
			username.writes.map(({ value }) => folded(value)),
		),
	);
	for (const name of wanted) {
		const isFree = model.users.every((user) => {
			const { username, create } = user;
			if (create.outcome === "refused") return true;
			const held = username.definite();
			return held !== undefined
				? folded(held) !== name
				: username.writes.every(
						({ value, operation }) =>
							folded(value) !== name || operation.outcome === "refused",
					);
		});
		if (!isFree) continue;
		const user = await createUser(session, random, name, null);
		const created = model.users.at(-1);
		if (user !== null || created?.create.outcome !== "refused") continue;
		report({
			kind: "name",
			promised: `the username ${name}, which nobody has, is free`,
			seen: `${created.create.detail} was refused`,
			objects: [],
		});
	}
}

/** The first run makes what is missing, the next one finds all of it. */
async function checkImport(
	{ fleet, report }: Session,
	file: string,
): Promise<void> {
	const isWhole = ({ code, out }: CommandResult) =>
		code === 0 && out.includes(" 0 objects and 0 edges created");
	if (isWhole(await fleet.command(["import", file]))) return;
	const again = await fleet.command(["import", file]);
	if (isWhole(again)) return;
	const { code, out, err } = again;
	report({
		kind: "import",
		promised: "an import that is repeated after the faults finds everything",
		seen: `exit code ${code}\n${out}${err}`,
		objects: [],
	});
}

/** Whole lists, all objects and all names, each from more than one server. */
async function compareGraph(session: Session, random: Random): Promise<void> {
	const { fleet, model } = session;
	const things: readonly Thing[] = [
		...model.users,
		...model.boards,
		...model.pins,
		...model.comments,
	].filter(({ id }) => id !== null);
	const tasks: (() => Promise<unknown>)[] = [];
	const other = (n: number) =>
		fleet.servers[n % fleet.servers.length] as ApiServer;
	for (let at = 0; at < things.length; at += NODES) {
		const some = things.slice(at, at + NODES);
		for (const server of fleet.servers) {
			tasks.push(() => readNodes(session, random, null, some, server));
		}
	}
	for (const [n, thing] of things.entries()) {
		const owner = ownerOf(thing);
		const viewer =
			owner.active.definite() === true && owner.token ? owner : null;
		const kind: ObjectKind = thing.kind;
		for (const name of Object.keys(LISTS)) {
			const [type, field = ""] = name.split(".");
			if (type !== kind) continue;
			if (LISTS[name]?.isPrivate && viewer !== thing) continue;
			tasks.push(() =>
				readPages(session, random, viewer, thing, field, {
					size: 50,
					isForward: true,
					servers: [other(n)],
				}),
			);
		}
	}
	const names = new Set(
		model.users.flatMap(({ username }) => [
			folded(username.initial),
			...username.writes.map(({ value }) => folded(value)),
		]),
	);
	names.delete("");
	for (const [n, name] of [...names].entries()) {
		for (const server of [other(n), other(n + 1)]) {
			tasks.push(() => readUsername(session, random, null, name, server));
		}
	}
	const left = tasks.values();
	await Promise.all(
		Array.from({ length: READERS }, async () => {
			for (const task of left) await task();
		}),
	);
}

function ownerOf(thing: Thing): User {
	if (thing.kind === "User") return thing;
	return thing.kind === "Comment" ? thing.author : thing.owner;
}

/** What is left in the outboxes when the time is up. */
async function untilDelivered(
	databases: readonly string[],
): Promise<readonly string[]> {
	const deadline = performance.now() + DELIVERY_LIMIT_MS;
	for (;;) {
		const rest = (await Promise.all(databases.map(pendingEntries))).flat();
		if (rest.length === 0 || performance.now() > deadline) return rest;
		await sleep(500);
	}
}

async function pendingEntries(url: string): Promise<readonly string[]> {
	const connection = await createConnection({ uri: url });
	try {
		const [tables] = await connection.query<RowDataPacket[]>(
			"SELECT table_schema AS name FROM information_schema.tables WHERE table_name = 'outbox'",
		);
		const rows: string[] = [];
		for (const { name } of tables) {
			const [entries] = await connection.query<RowDataPacket[]>(
				`SELECT * FROM \`${name}\`.outbox LIMIT 5`,
			);
			rows.push(...entries.map((entry) => `${name}: ${JSON.stringify(entry)}`));
		}
		return rows;
	} finally {
		connection.destroy();
	}
}

/** Unexpected errors in the logs of the servers. */
export async function checkLogs({ fleet, report }: Session): Promise<void> {
	for (const server of fleet.servers) {
		const log = await readFile(server.logFile, "utf8").catch(() => "");
		for (const line of log.split("\n")) {
			const isWrong =
				line.includes('"msg":"unexpected error"') ||
				/^(?:\w*Error|Uncaught|node:)/.test(line);
			if (!isWrong) continue;
			report({
				kind: "internal",
				promised: "no server logs an unexpected error",
				seen: `server ${server.number}: ${line.slice(0, 2_000)}`,
				objects: [],
			});
		}
	}
}
