import { CorkboardError } from "../../errors.ts";
import { GtidSet } from "../../storage/mysql/driver/gtidSet.ts";
import type { Environment } from "../../topology/secret.ts";
import type { TopologyStore } from "../../topology/store.ts";
import type { Topology } from "../../topology/types.ts";
import type { MovedTable } from "../ferry/movedTables.ts";
import { binlogFaults, readMovedTables } from "../ferry/movedTables.ts";
import { HOST_DATABASE } from "../map/databases.ts";
import { allRanges, namedSo, nameOf } from "../map/mapRanges.ts";
import { namesHost } from "../map/promotionHosts.ts";
import { requireCurrent } from "../map/publish.ts";
import { withHost } from "../map/replicaHosts.ts";
import {
	type OperationRecord,
	unknownRecordError,
} from "../operations/operationRecord.ts";
import { isOver, readOperations } from "../operations/operations.ts";
import { grantFaults, NEEDED_GRANTS } from "../preflight/operatorGrants.ts";
import { FleetServer } from "../server/fleetServer.ts";

const ANSWER_MS = 10_000;
/** What is merged row by row. Jobs come back with outbox entries; pools are filled again. */
const MERGED = `^((db|mod|feed)[0-9]{5}|${HOST_DATABASE})$`;

/** An old primary that is back, and what it has that nobody else has. */
export interface SalvageSource {
	/** Names of the old primary, and of the one that took its place. */
	readonly host: string;
	readonly successor: string;
	/** The promotion that gave it up. */
	readonly operation: string;
	readonly url: string;
	/** All that the old primary has committed, all that its successor has, and what only the old one has: sets of GTIDs. */
	readonly executed: string;
	readonly known: string;
	readonly missing: string;
	readonly transactions: number;
	readonly tables: readonly MovedTable[];
	readonly isFenced: boolean;
	/** A sentence for each thing that stands against it. */
	readonly faults: readonly string[];
}

interface FindOptions {
	readonly store: TopologyStore;
	readonly environment: Environment;
}

/**
 * Finds what `hosts salvage HOST` would bring back. Changes nothing. Throws CONFLICT
 * if no promotion gave the host up, or the topology names it; UNAVAILABLE
 * if one of the two servers does not answer.
 */
export async function findSalvage(
	options: FindOptions,
	given: string,
): Promise<SalvageSource> {
	const { topology } = await requireCurrent(options.store);
	const { records, unknown } = await readOperations(options.store);
	const { id, from: host, to } = givenUp(records, given);
	if (namesHost(topology, host)) {
		throw new CorkboardError(
			"CONFLICT",
			`The topology names ${host}, so it serves: there is nothing to bring back from it. Was it rebuilt by replicas add?`,
		);
	}
	const successor = successorOf(records, to);
	const faults = records
		.filter((record) => !isOver(record))
		.filter(({ from, to: other }) => [from, other].includes(host))
		.map(
			(record) =>
				`${host} is locked by ${record.id}. Resume or abort that: corkboard operations list.`,
		);
	faults.push(
		...unknown
			.filter((record) => !isOver(record) && record.hosts.includes(host))
			.map((record) => unknownRecordError(record).message),
	);
	const [url, successorUrl] = [host, successor].map((name) =>
		urlOf(topology, name),
	) as [string, string];
	await using old = new FleetServer(url, options.environment);
	await using next = new FleetServer(successorUrl, options.environment);
	for (const server of [old, next]) {
		const silence = await server.silence(ANSWER_MS);
		if (silence === null) continue;
		throw new CorkboardError(
			"UNAVAILABLE",
			`${server.name} does not answer: ${silence}`,
		);
	}
	const executed = await old.executed();
	const known = await next.executed();
	const missing = await next.subtract(executed, known);
	const isFenced = await old.isFenced();
	if (missing !== "") {
		faults.push(
			...(await binlogFaults(old)),
			...(await grantFaults(old, ["REPLICATION SLAVE", "REPLICATION CLIENT"])),
			...(isFenced ? [] : await grantFaults(old, NEEDED_GRANTS.fence)),
			...(await purgeFaults(old, missing)),
		);
	}
	const { tables, faults: tableFaults } = await readMovedTables(
		old,
		await databasesOn(old),
	);
	faults.push(...tableFaults);
	return {
		host,
		successor,
		operation: id,
		url,
		executed,
		known,
		missing,
		transactions: new GtidSet(missing).size,
		tables,
		isFenced,
		faults,
	};
}

/** The newest promotion that gave the host up. */
function givenUp(
	records: readonly OperationRecord[],
	given: string,
): OperationRecord {
	const dead = records.filter(
		({ kind, step }) =>
			kind === "promote --dead" && (step === "done" || step === "published"),
	);
	const names = new Set(dead.map(({ from }) => from));
	const [name, ...others] = namedSo(names, given);
	const record = dead.findLast(({ from }) => from === name);
	if (record === undefined || others.length > 0) {
		throw new CorkboardError(
			"CONFLICT",
			`${record === undefined ? "No promotion" : "More than one promotion"} of a dead primary gave ${given} up: ${names.size === 0 ? "there was none" : `these were given up: ${[...names].join(", ")}`}.`,
		);
	}
	return record;
}

/** The host that took its place, or the one that took the place of that, and so on: it has all that they had. */
function successorOf(
	records: readonly OperationRecord[],
	first: string,
): string {
	let successor = first;
	for (const { kind, step, from, to } of records) {
		const isPromotion = kind === "promote" || kind === "promote --dead";
		if (isPromotion && step === "done" && from === successor) successor = to;
	}
	return successor;
}

/** With the account of the topology's servers. */
function urlOf(topology: Topology, host: string): string {
	const urls = allRanges(topology).flatMap(({ primary, replica }) =>
		replica === undefined ? [primary] : [primary, replica],
	);
	return (
		urls.find((url) => nameOf(url) === host) ?? withHost(urls[0] ?? "", host)
	);
}

async function databasesOn(server: FleetServer): Promise<readonly string[]> {
	const rows = await server.rows(
		"databases",
		"SELECT schema_name FROM information_schema.schemata WHERE schema_name REGEXP ?",
		[MERGED],
	);
	return rows.map(([name]) => String(name));
}

async function purgeFaults(
	old: FleetServer,
	missing: string,
): Promise<readonly string[]> {
	const [purged] = await old.row(
		"purged",
		"SELECT GTID_SUBTRACT(?, GTID_SUBTRACT(?, @@GLOBAL.gtid_purged))",
		[missing, missing],
	);
	const gone = String(purged ?? "");
	return gone === ""
		? []
		: [
				`The binary log of ${old.name} has no more of ${gone}: what they changed can only be found by hand, in the tables of ${old.name}.`,
			];
}
