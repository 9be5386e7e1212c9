import type { Domain } from "../../graph/domain.ts";
import type { FieldReaders } from "../../model/fieldReaders.ts";
import type { Model } from "../../model/types.ts";
import { naturalKeys, naturalKeyText } from "../import/existingData.ts";
import { createLineReader, type Missing } from "../import/lineReader.ts";
import { nameTakenReason } from "../import/planBatch.ts";
import { type BadGroup, type BadRow, groupByReason } from "./badRows.ts";
import type { TablePlan } from "./plan.ts";
import type { Source } from "./sources/source.ts";
import { linesThere, whyMissing } from "./whyMissing.ts";

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
		const referrers: { key: string; missing: Missing }[] = [];
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
					for (const field of ["from", "to"] as const) {
						const missing = { field, key: line[field], isWhole: true };
						referrers.push({ key, missing });
					}
				} else {
					const names = naturalKeys(line, (one) => `key ${one}`);
					const before = names.filter((one) => taken.has(naturalKeyText(one)));
					if (before.length > 0) {
						bad.push({ key, reason: nameTakenReason(line.type, before) });
					}
					for (const name of names) taken.add(naturalKeyText(name));
					const { parent, owner } = model.domain.visibility.keysOf(plan.name);
					for (const { reference, key: target } of line.references) {
						const isWhole = [parent, owner].includes(reference.key);
						const { field } = reference;
						const missing = { field, key: target, isWhole };
						referrers.push({ key, missing });
					}
				}
			}
		}
		const there = await linesThere(
			plans,
			source,
			referrers.map(({ missing }) => missing.key),
		);
		for (const { key, missing } of referrers) {
			const line = there.get(missing.key);
			if (line !== undefined && !line.isDeleted) continue;
			bad.push({ key, ...whyMissing(missing, line, undefined) });
		}
		const { name, table } = plan;
		yield { name, table, rows, deleted, leftOut, bad: groupByReason(bad) };
	}
}
