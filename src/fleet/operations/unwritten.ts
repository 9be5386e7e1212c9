import { askMembers } from "../../topology/asks.ts";
import type { Environment } from "../../topology/secret.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type { LaterPrimary } from "../map/edits.ts";
import { FleetServer, withoutOperator } from "../server/fleetServer.ts";
import { readOperations } from "./operations.ts";

interface UnwrittenOptions {
	readonly store: TopologyStore;
	readonly environment: Environment;
	/** Names of primaries that do not answer, and took no write as the operator says. */
	readonly stated: readonly string[];
	/** How long a primary, and processes, may take to answer. Milliseconds. */
	readonly askMs?: number;
}

/** Which primaries never took a write, and of each other one why that is not known. */
interface Unwritten {
	readonly names: ReadonlySet<string>;
	readonly reasons: readonly string[];
}

const ASK_MS = 5_000;
const DATABASES = 500;

/**
 * Looks whether primaries ever took a write of what they are named for, so that
 * nothing is lost without them. One that answers did not where it has none of the
 * databases. One that does not answer is believed to be as the operator says,
 * unless a process has reached it, or an operation was about it.
 */
export async function findUnwritten(
	options: UnwrittenOptions,
	primaries: readonly LaterPrimary[],
): Promise<Unwritten> {
	const found = await Promise.all(
		primaries.map(async (primary) => ({
			name: primary.name,
			reason: await reasonOf(options, primary),
		})),
	);
	return {
		names: new Set(
			found.flatMap(({ name, reason }) => (reason === null ? [name] : [])),
		),
		reasons: found.flatMap(({ reason }) => (reason === null ? [] : [reason])),
	};
}

/** Null: it never took a write. */
async function reasonOf(
	{ store, environment, stated, askMs = ASK_MS }: UnwrittenOptions,
	{ name, url, databases }: LaterPrimary,
): Promise<string | null> {
	// With the account of the processes: what that does not see, they cannot write.
	await using server = new FleetServer(url, withoutOperator(environment));
	const silence = await server.silence(askMs);
	if (silence === null) {
		for (let at = 0; at < databases.length; at += DATABASES) {
			const [held] = await server.rows(
				"databases",
				"SELECT schema_name FROM information_schema.schemata WHERE schema_name IN (?) ORDER BY 1 LIMIT 1",
				[databases.slice(at, at + DATABASES)],
			);
			if (held === undefined) continue;
			return `${name} has ${held[0]}, so it may have taken writes.`;
		}
		return null;
	}
	const question = { host: name, missing: null };
	const { answered } = await askMembers(store, question, askMs);
	const reached = answered.filter(
		({ answer: { state, acknowledged } }) =>
			state === "reached" || acknowledged !== "",
	);
	const [{ member } = { member: null }] = reached;
	if (member !== null) {
		return `${name} does not answer, and the process ${member.id} has reached it, so it may have taken writes.`;
	}
	const { records, unknown } = await readOperations(store);
	const [known] = [
		...records.map(({ id, from, to }) => ({ id, hosts: [from, to] })),
		...unknown,
	].filter(({ hosts }) => hosts.includes(name));
	if (known !== undefined) {
		return `${name} does not answer, and ${known.id} knows it as a server of the fleet, so it may have taken writes.`;
	}
	return stated.includes(name)
		? null
		: `${name} does not answer, so whether it took writes is not known (${silence}). If you know that it never did, as at a wrong port, say so: --unwritten ${name}.`;
}
