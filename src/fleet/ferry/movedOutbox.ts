import { FEED_SHARDS } from "../../storage/feedShards.ts";
import { HOST_OUTBOX } from "../../storage/mysql/ddl.ts";
import { HOST_DATABASE } from "../map/databases.ts";
import type { FleetServer } from "../server/fleetServer.ts";
import type { FerryState } from "./ferryState.ts";
import { inGroups, quoted } from "./rowSql.ts";

const OUTBOX = `${HOST_DATABASE}.${HOST_OUTBOX.name}`;
/** In the order of the table; the local id is given anew. */
const COLUMNS = Object.keys(HOST_OUTBOX.columns)
	.filter((name) => name !== "local_id")
	.map(quoted)
	.join(", ");

/** As the outbox calls the shards of these databases; those of lookups and pools have no entries. */
export function outboxShards(databases: readonly string[]): readonly number[] {
	return databases.flatMap((database) => {
		const [, kind, number] = /^(db|feed)(\d{5})$/.exec(database) ?? [];
		if (kind === undefined) return [];
		return [Number(number) + (kind === "feed" ? FEED_SHARDS : 0)];
	});
}

/** How many entries a server has of some databases. */
export async function outboxSize(
	server: FleetServer,
	databases: readonly string[],
): Promise<number> {
	const shards = outboxShards(databases);
	if (shards.length === 0) return 0;
	const [count] = await server.row(
		"outbox size",
		`SELECT COUNT(*) FROM ${OUTBOX} WHERE shard IN (?)`,
		[shards],
	);
	return Number(count);
}

/**
 * Copies the outbox entries of some databases under new local ids, in the place of
 * those that the target has of them. The databases are fenced: no entry is added,
 * and one that is delivered meanwhile is delivered twice. The target's counter has
 * to be above that of the source.
 */
export async function moveOutbox(
	source: FleetServer,
	state: FerryState,
	databases: readonly string[],
): Promise<number> {
	const shards = outboxShards(databases);
	if (shards.length === 0) return 0;
	const entries = await source.rows(
		"outbox to move",
		`SELECT ${COLUMNS} FROM ${OUTBOX} WHERE shard IN (?) ORDER BY local_id`,
		[shards],
	);
	await state.write(async ({ rows }) => {
		const before = await rows({
			name: "outbox moved before",
			text: `SELECT local_id FROM ${OUTBOX} WHERE shard IN (?)`,
			values: [shards],
		});
		return {
			last: [
				...deletions(before),
				...entries.map((entry) => ({
					name: "move outbox",
					text: `INSERT INTO ${OUTBOX} (${COLUMNS}) VALUES (${entry.map(() => "?").join(", ")})`,
					values: entry.map((value) => (value === null ? null : String(value))),
				})),
			],
		};
	});
	return entries.length;
}

/** Deletes the entries that a server still has of databases which are not on it any more. */
export async function clearOutbox(
	server: FleetServer,
	databases: readonly string[],
): Promise<void> {
	const shards = outboxShards(databases);
	if (shards.length === 0) return;
	await server.transaction(async ({ rows }) => ({
		last: deletions(
			await rows({
				name: "outbox to clear",
				text: `SELECT local_id FROM ${OUTBOX} WHERE shard IN (?)`,
				values: [shards],
			}),
		),
		valueOf: () => null,
		commit: true,
	}));
}

/** By primary key: a DELETE by shard would wait for every entry that somebody takes. */
function deletions(rows: readonly (readonly unknown[])[]) {
	const ids = rows.map(([id]) => Number(id));
	return [...inGroups(ids)].map((some) => ({
		name: "delete outbox",
		text: `DELETE FROM ${OUTBOX} WHERE local_id IN (?)`,
		values: [some],
	}));
}
