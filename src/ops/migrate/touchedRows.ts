import {
	currentEdges,
	edgeOfKey,
	edgeOfRow,
	partsOfRow,
	type RowEdge,
} from "./edgeRows.ts";
import { nameOfKey, type Parts, partsOfKey } from "./keys.ts";
import type { Row } from "./mapping.ts";
import type { LogOfPlan, RowLine, TablePlan } from "./plan.ts";
import type { RowImage } from "./sources/log.ts";
import type { Source } from "./sources/source.ts";

interface OfPlan {
	/** Rows that are to be read, by their key. */
	readonly rows: Map<string, Parts>;
	/** Edges that rows once made, by their key. */
	readonly edges: Map<string, RowEdge>;
}

/** Rows of the old database that its log has named, and what is to be done about them. */
export class TouchedRows {
	readonly #plans: readonly TablePlan[];
	readonly #byTable: ReadonlyMap<
		string,
		readonly (Pick<LogOfPlan, "columns"> & { readonly plan: TablePlan })[]
	>;
	readonly #touched = new Map<TablePlan, OfPlan>();
	/** The keys of what the log has not named. */
	readonly #again = new Set<string>();

	constructor(plans: readonly TablePlan[]) {
		this.#plans = plans;
		this.#byTable = Map.groupBy(
			plans.flatMap((plan) => plan.logs.map((log) => ({ ...log, plan }))),
			({ table }) => table,
		);
	}

	get size(): number {
		let size = 0;
		for (const { rows, edges } of this.#touched.values()) {
			size += rows.size + edges.size;
		}
		return size;
	}

	add({ table, row, isBefore }: RowImage): void {
		for (const { plan, columns } of this.#byTable.get(table) ?? []) {
			const own = columns === null ? row : renamed(row, columns);
			// The row of another table names the ends of an edge, and not its key.
			const isEdge = plan.kind === "edge" && (isBefore || columns !== null);
			if (isEdge) this.#addEdge(plan, own);
			else this.#addRow(plan, own);
		}
	}

	/** What has this key, without that the log named it: `Photo:8123`, or an edge with both ends. */
	addKey(key: string): void {
		const plan = this.#plans.find(({ name }) => name === nameOfKey(key));
		if (plan === undefined) return;
		const { rows, edges } = this.#of(plan);
		if (rows.has(key) || edges.has(key)) return;
		if (plan.kind === "object") rows.set(key, partsOfKey(plan.key, key));
		else {
			const edge = edgeOfKey(plan, key);
			if (edge === null) return;
			edges.set(key, edge);
		}
		this.#again.add(key);
	}

	/** Whether the log has not named it. Known when there are lines. */
	isAgain(key: string): boolean {
		return this.#again.has(key);
	}

	/** The lines of an import that do it: what refers to others after them, what is gone last. */
	async lines(source: Source): Promise<readonly RowLine[]> {
		const lines: RowLine[] = [];
		const gone: RowLine[] = [];
		for (const plan of this.#plans) {
			const own = this.#touched.get(plan);
			if (own === undefined) continue;
			const rows = await source.rowsOf(plan, [...own.rows.values()]);
			if (plan.kind === "object") {
				const seen = new Set<string>();
				for (const row of rows) {
					const line = plan.lineOf(row);
					if (line === null) continue;
					seen.add(line.key);
					lines.push(line);
				}
				for (const key of own.rows.keys()) {
					if (seen.has(key)) continue;
					const line = { type: plan.name, key, deleted: true };
					gone.unshift({ key, isDeleted: true, line });
				}
				continue;
			}
			// Other rows may say something of the same edges.
			const edges = new Map(own.edges);
			for (const row of rows) {
				const edge = edgeOfRow(plan, row);
				if (edge === null) continue;
				edges.set(edge.gone.key, edge);
				this.#again.delete(edge.gone.key);
			}
			for (const line of (await currentEdges(plan, source, edges)).values()) {
				if (line.isDeleted) gone.unshift(line);
				else lines.push(line);
			}
		}
		return [...lines, ...gone];
	}

	#of(plan: TablePlan): OfPlan {
		const own = this.#touched.get(plan) ?? {
			rows: new Map(),
			edges: new Map(),
		};
		this.#touched.set(plan, own);
		return own;
	}

	#addRow(plan: TablePlan, row: Row): void {
		const parts = partsOfRow(plan.key, row);
		if (parts === null) return;
		const key =
			plan.kind === "object" ? plan.goneLine(row)?.key : rowKey(plan, row);
		if (key === undefined) return;
		this.#of(plan).rows.set(key, parts);
		this.#again.delete(key);
	}

	#addEdge(plan: TablePlan, row: Row): void {
		const made = edgeOfRow(plan, row);
		if (made === null) return;
		this.#of(plan).edges.set(made.gone.key, made);
		this.#again.delete(made.gone.key);
	}
}

function renamed(row: Row, columns: Readonly<Record<string, string>>): Row {
	return Object.fromEntries(
		Object.entries(columns).map(([own, column]) => [own, row[column]]),
	);
}

function rowKey(plan: TablePlan, row: Row): string {
	return JSON.stringify([plan.name, ...(partsOfRow(plan.key, row) ?? [])]);
}
