import { createConnection, type RowDataPacket } from "mysql2/promise";
import type { LogBytes, QueueTarget } from "../queueSystem.ts";

export async function logBytes({ url }: QueueTarget): Promise<LogBytes> {
	const connection = await createConnection({ uri: url });
	try {
		const [[lsn]] = await connection.query<RowDataPacket[]>(
			"SHOW GLOBAL STATUS LIKE 'Innodb_redo_log_current_lsn'",
		);
		const [files] = await connection.query<RowDataPacket[]>("SHOW BINARY LOGS");
		return {
			log: Number(lsn?.Value),
			binlog: files.reduce((sum, file) => sum + Number(file.File_size), 0),
		};
	} finally {
		await connection.end();
	}
}

export async function holdSnapshot({
	url,
}: QueueTarget): Promise<AsyncDisposable> {
	const connection = await createConnection({ uri: url });
	await connection.query("START TRANSACTION WITH CONSISTENT SNAPSHOT");
	return {
		async [Symbol.asyncDispose]() {
			connection.destroy();
		},
	};
}
