import { mock } from "node:test";
import { CorkboardError } from "../../../src/errors.ts";
import { databasesOf } from "../../../src/fleet/move/findMove.ts";
import type { MoveOptions } from "../../../src/fleet/move/moveRun.ts";
import { planMove } from "../../../src/fleet/move/planMove.ts";
import { cancelMove, reverseMove } from "../../../src/fleet/move/redirect.ts";
import { startMove } from "../../../src/fleet/move/startMove.ts";
import { FleetServer } from "../../../src/fleet/server/fleetServer.ts";
import { readCurrent } from "../../../src/topology/history.ts";
import { ask } from "../../helpers/mysqlStorage.ts";
import type { Server } from "../../services/server.ts";
import { faultsOf, type Judgement, judgeAll } from "./judgement.ts";
import {
	type LoadOptions,
	type MoveFleet,
	startMoveFleet,
} from "./moveFleet.ts";

const KINDS = [
	"a row is changed on the target",
	"an event is dropped",
	"a row of the source is damaged",
] as const;

type Kind = (typeof KINDS)[number];

export interface DefectReport extends Judgement {
	/** How many of each kind there were, and how many a comparison found before anything switched. */
	readonly defects: readonly {
		readonly kind: Kind;
		readonly planted: number;
		readonly found: number;
	}[];
	readonly broken: readonly string[];
}

interface Row {
	readonly database: string;
	readonly table: string;
	readonly id: string;
}

/** Begins moves under load, each with one row that is made different behind its back: none may switch. */
export async function attackWithDefects(
	options: LoadOptions,
	count: number,
	say: (line: string) => void,
): Promise<DefectReport> {
	await using moved = await startMoveFleet(options, say);
	const defects: DefectReport["defects"][number][] = [];
	for (const kind of KINDS) {
		let found = 0;
		for (let nth = 0; nth < count; nth++) {
			const result = await plant(moved, options, kind);
			if (result === "found") found++;
			say(`${kind}, ${nth + 1} of ${count}: ${result}`);
		}
		defects.push({ kind, planted: count, found });
	}
	const judgement = await judgeAll(moved, say);
	return {
		...judgement,
		defects,
		broken: [
			...defects
				.filter(({ planted, found }) => found < planted)
				.map(
					({ kind, planted, found }) => `${kind}: found ${found} of ${planted}`,
				),
			...faultsOf(judgement),
		],
	};
}

/** What became of a move with one defect; all is as before then. */
async function plant(
	{ fleet, pairs: [source, target], store }: MoveFleet,
	{ shards, wave }: LoadOptions,
	kind: Kind,
): Promise<string> {
	const row = await someRow(source.primary, shards);
	const isEarly = Math.random() < 0.5;
	let id = "";
	const options: MoveOptions = {
		store,
		environment: fleet.env,
		lookMs: 100,
		againMs: 100,
		async onStep(step, operation) {
			id = operation;
			const isOnTarget = kind === "a row is changed on the target";
			const isDamage = kind === "a row of the source is damaged";
			if (step === (isDamage && isEarly ? "prepared" : "copied")) {
				const server = isOnTarget ? target.primary : source.primary;
				await change(server, row, "CONCAT(data, ' ')", isDamage);
			}
		},
	};
	const before = (await readCurrent(store))?.topology.version;
	const plan = await planMove(options, {
		...({ list: "shards", range: [0, shards - 1], wave } as const),
		to: target.primary.url,
		replica: target.replica.url,
	});
	using _dropped = kind === "an event is dropped" ? dropEventsOf(row) : null;
	let result: string;
	try {
		await startMove(
			options,
			plan.found,
			plan.faults.map(({ fault }) => fault),
			{ settleMs: 0 },
		);
		result = "it switched";
	} catch (thrown) {
		if (!(thrown instanceof CorkboardError)) throw thrown;
		const after = (await readCurrent(store))?.topology.version;
		const isNamed = thrown.message.includes(
			`${row.database}.${row.table}, local_id ${row.id}:`,
		);
		result =
			thrown.code === "CONFLICT" && isNamed && before === after
				? "found"
				: `${thrown.code}: ${thrown.message}`;
	}
	if (result === "it switched") {
		await reverseMove(options, id, { keepsWay: false });
	} else if (id !== "") await cancelMove(options, id);
	if (kind !== "a row is changed on the target") {
		const isDamage = kind === "a row of the source is damaged";
		await change(source.primary, row, "TRIM(data)", isDamage);
	}
	return result;
}

/** A row of an object that the load does not change again. */
async function someRow(server: Server, shards: number): Promise<Row> {
	const databases = databasesOf("shards", [0, shards - 1]);
	const tables = await ask(
		server,
		`SELECT table_schema AS db, table_name AS name FROM information_schema.columns
			WHERE column_name = 'data' AND table_schema IN (${databases.map((each) => `'${each}'`).join()})
				AND table_name IN ('pins', 'comments', 'boards', 'users')
			ORDER BY RAND()`,
	);
	for (const { db, name } of tables) {
		const [row] = await ask(
			server,
			`SELECT local_id AS id FROM ${db}.${name} ORDER BY RAND() LIMIT 1`,
		);
		if (row !== undefined) {
			return { database: db, table: name, id: String(row.id) };
		}
	}
	throw new Error("expected an object on the shards that move");
}

/** A blank after its JSON: no reader sees it. */
async function change(
	server: Server,
	{ database, table, id }: Row,
	data: string,
	isUnlogged: boolean,
): Promise<void> {
	await ask(
		server,
		`SET SESSION sql_log_bin = ${isUnlogged ? 0 : 1}`,
		`UPDATE ${database}.${table} SET data = ${data} WHERE local_id = ${id}`,
	);
}

/** Makes streams of this process pass over what happens to a row. */
function dropEventsOf({ database, table, id }: Row): Disposable {
	const readBinlog = FleetServer.prototype.readBinlog;
	const dropped = mock.method(
		FleetServer.prototype,
		"readBinlog",
		async function* (
			this: FleetServer,
			...[options]: Parameters<typeof readBinlog>
		) {
			for await (const transactions of readBinlog.call(this, options)) {
				yield transactions.map((transaction) => ({
					...transaction,
					rows: transaction.rows.filter(({ table: changed, after }) => {
						const at = changed.columns.findIndex(
							({ name }) => name === "local_id",
						);
						const isIt =
							changed.database === database && changed.name === table;
						return !isIt || String(after?.[at]) !== id;
					}),
				}));
			}
		},
	);
	return { [Symbol.dispose]: () => dropped.mock.restore() };
}
