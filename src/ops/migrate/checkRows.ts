import type { Domain } from "../../graph/domain.ts";
import type { FieldReaders } from "../../model/fieldReaders.ts";
import type { Model } from "../../model/types.ts";
import { naturalKeys, naturalKeyText } from "../import/existingData.ts";
import { createLineReader } from "../import/lineReader.ts";
import { nameTakenReason } from "../import/planBatch.ts";
import { type BadGroup, type BadRow, groupByReason } from "./badRows.ts";
import { partsOfKey } from "./keys.ts";
import type { TablePlan } from "./plan.ts";
import type { Source } from "./sources/source.ts";

export interface TableCheck {
	readonly name: string;
	readonly table: string;
	/** That were read. */
	readonly rows: number;
	/** That are marked as deleted. */
	readonly deleted: number;
	/** That the mapping leaves out. */
	readonly leftOut: number;
	readonly bad: readonly BadGroup[];
}

/** Which of the first rows of each table would be refused, and why. Reads the old database alone. */
export async function* checkRows(
	plans: readonly TablePlan[],
	source: Source,
	{
		fields,
		limit,
		...model
	}: {
		readonly model: Model;
		readonly domain: Domain;
		readonly fields: FieldReaders;
		readonly limit: number;
	},
): AsyncGenerator<TableCheck> {
	const reader = createLineReader(model, fields);
	const taken = new Set<string>();
	for (const plan of plans) {
		const bad: BadRow[] = [];
		const referrers: { key: string; field: string; target: string }[] = [];
		let [rows, deleted, leftOut] = [0, 0, 0];
		for await (const page of source.scan(plan, { limit })) {
			for (const { row } of page) {
				rows++;
				const one = plan.lineOf(row);
				if (one === null) {
					leftOut++;
					continue;
				}
				if (one.isDeleted) {
					deleted++;
					continue;
				}
				const { key } = one;
				const line =
					"problem" in one.line
						? { kind: "bad" as const, reason: String(one.line.problem) }
						: reader.read(JSON.stringify(one.line), rows);
				if (line.kind === "bad") {
					bad.push({ key, reason: line.reason });
				} else if (line.kind === "edge") {
					referrers.push({ key, field: "from", target: line.from });
					referrers.push({ key, field: "to", target: line.to });
				} else {
					const names = naturalKeys(line).map(naturalKeyText);
					if (names.some((name) => taken.has(name))) {
						bad.push({ key, reason: nameTakenReason(line) });
					}
					for (const name of names) taken.add(name);
					for (const { reference, key: target } of line.references) {
						referrers.push({ key, field: reference.field, target });
					}
				}
			}
		}
		const there = await keysThere(
			plans,
			source,
			referrers.map(({ target }) => target),
		);
		for (const { key, field, target } of referrers) {
			if (there.has(target)) continue;
			const reason = `${field}: no row has the key ${JSON.stringify(target)}, or it is deleted.`;
			bad.push({ key, reason });
		}
		const { name, table } = plan;
		yield { name, table, rows, deleted, leftOut, bad: groupByReason(bad) };
	}
}

async function keysThere(
	plans: readonly TablePlan[],
	source: Source,
	keys: readonly string[],
): Promise<ReadonlySet<string>> {
	const there = new Set<string>();
	for (const plan of plans) {
		if (plan.kind === "edge") continue;
		const own = new Set(keys.filter((key) => key.startsWith(`${plan.name}:`)));
		if (own.size === 0) continue;
		const parts = [...own].map((key) => partsOfKey(plan.key, key));
		for (const row of await source.rowsOf(plan, parts)) {
			const line = plan.lineOf(row);
			if (line !== null && !line.isDeleted) there.add(line.key);
		}
	}
	return there;
}
