import type { Sql } from "../../../storage/mysql/driver/mysqlConnection.ts";
import { deadlineIn } from "../../../util/deadline.ts";
import type { Round } from "../../rotationStore.ts";
import type { QueueDatabase } from "./rotationSession.ts";
import { NOW, rotatedQueue } from "./rotationSql.ts";

/** For the statements that take and end a round. Milliseconds. */
const ROUND_MS = 10_000;

export async function takeRound(
	{ host, database, at }: QueueDatabase,
	everyMs: number,
): Promise<Round | null> {
	const tables = rotatedQueue(database, at.queue);
	const options = { shard: at.shard, deadline: deadlineIn(ROUND_MS) };
	const take: Sql = {
		name: `take rotation ${at.queue}`,
		text: `UPDATE ${tables.rotations} SET next_at = ${NOW} + ?
			WHERE name = ? AND next_at <= ${NOW}`,
		values: [everyMs * 1_000, at.queue],
	};
	const read = () =>
		host.rows(
			{
				name: `read rotation ${at.queue}`,
				text: `SELECT ${NOW}, refusals, refused_since, changes_at
					FROM ${tables.rotations} WHERE name = ?`,
				values: [at.queue],
			},
			options,
		);
	if ((await host.run(take, options)).affectedRows === 0) {
		if ((await read()).length > 0) return null;
		const first: Sql = {
			name: `first rotation ${at.queue}`,
			text: `INSERT INTO ${tables.rotations} (name, next_at, refusals, refused_since, changes_at)
				VALUES (?, 0, 0, 0, 0) ON DUPLICATE KEY UPDATE name = name`,
			values: [at.queue],
		};
		await host.run(first, options);
		if ((await host.run(take, options)).affectedRows === 0) return null;
	}
	const [row] = await read();
	if (row === undefined) return null;
	const [now = 0, refusals = 0, since = 0, changesAt = 0] = row.map(Number);
	return { now, refusals, refusedSince: since || null, changesAt };
}

export async function endRound(
	{ host, database, at }: QueueDatabase,
	{ refusals, refusedSince, changesAt }: Round,
): Promise<void> {
	const { rotations } = rotatedQueue(database, at.queue);
	await host.run(
		{
			name: `end rotation ${at.queue}`,
			text: `UPDATE ${rotations} SET refusals = ?, refused_since = ?, changes_at = ?
				WHERE name = ?`,
			values: [refusals, refusedSince ?? 0, changesAt, at.queue],
		},
		{ shard: at.shard, deadline: deadlineIn(ROUND_MS) },
	);
}
