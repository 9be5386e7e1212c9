import {
	type Connection,
	createConnection,
	type RowDataPacket,
} from "mysql2/promise";
import type { Cell } from "../cell.ts";
import { PEERS } from "../servers/peers.ts";
import { VARIANTS, type VariantName } from "../variants.ts";
import type { World } from "../world.ts";

/** With which a commit is on disk before it is acknowledged. */
const DURABLE =
	"SET GLOBAL innodb_flush_log_at_trx_commit = 1, GLOBAL sync_binlog = 1";
/** As test/services/sql.ts starts servers. */
const FAST =
	"SET GLOBAL innodb_flush_log_at_trx_commit = 2, GLOBAL sync_binlog = 0";

/** Until disposed of, every commit of both sides waits for the disk. */
export async function commitDurably({
	databases: { fleet, mysql },
}: World): Promise<AsyncDisposable> {
	const urls = [...(fleet?.hosts ?? []), ...(mysql === null ? [] : [mysql])];
	const set = async (sql: string) => {
		for (const { url } of urls) {
			const connection = await createConnection({ uri: url });
			await connection.query(sql);
			await connection.end();
		}
	};
	await set(DURABLE);
	return { [Symbol.asyncDispose]: () => set(FAST) };
}

/** Counts what a server's database does from now on; null if it is no MySQL of this benchmark. */
export async function countStatements(
	{ databases: { fleet, mysql } }: World,
	variant: VariantName,
): Promise<Counting | null> {
	const { server } = VARIANTS[variant];
	const hosts =
		server.kind === "corkboard"
			? server.store === "sqlite"
				? []
				: (fleet?.hosts ?? [])
			: PEERS[server.peer].database === "mysql" && mysql !== null
				? [mysql]
				: [];
	if (hosts.length === 0) return null;
	const connections = await Promise.all(
		hosts.map(({ url }) => createConnection({ uri: url })),
	);
	return new Counting(connections, await total(connections));
}

interface Counts {
	readonly statements: number;
	readonly transactions: number;
}

class Counting implements AsyncDisposable {
	readonly #connections: readonly Connection[];
	readonly #before: Counts;

	constructor(connections: readonly Connection[], before: Counts) {
		this.#connections = connections;
		this.#before = before;
	}

	async count(requests: number): Promise<Cell["figures"]> {
		const after = await total(this.#connections);
		const per = (name: keyof Counts) =>
			(after[name] - this.#before[name]) / Math.max(1, requests);
		return {
			"statements a write": per("statements"),
			"transactions a write": per("transactions"),
		};
	}

	async [Symbol.asyncDispose](): Promise<void> {
		for (const connection of this.#connections) connection.destroy();
	}
}

/** BEGIN and COMMIT are no statements here; what wrote to the binary log is a transaction, even if it was committed by itself. */
async function total(connections: readonly Connection[]): Promise<Counts> {
	const counts = { statements: 0, transactions: 0 };
	for (const connection of connections) {
		const [rows] = await connection.query<RowDataPacket[]>(
			"SHOW GLOBAL STATUS WHERE Variable_name IN ('Com_select', 'Com_insert', 'Com_insert_select', 'Com_update', 'Com_delete', 'Com_replace', 'Binlog_cache_use')",
		);
		for (const { Variable_name: name, Value: value } of rows) {
			if (name === "Binlog_cache_use") counts.transactions += Number(value);
			else counts.statements += Number(value);
		}
	}
	return counts;
}
