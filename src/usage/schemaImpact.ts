import type { SchemaChange } from "../model/schema/schemaChanges.ts";
import {
	type DocumentCount,
	type NamedCount,
	type UsageReport,
	usesTogether,
} from "./usageReport.ts";

/** A change of the schema, and whom it affects. */
export interface ChangeImpact extends SchemaChange {
	/**
	 * - `breaking`: for `clients`, which used it within the period.
	 * - `unknown`: breaking, if anybody uses it. Nobody was seen, but not every day was recorded.
	 * - `unused`: it would be breaking, but nobody used it on any day of the period.
	 * - `dangerous`, `safe`: as the change is.
	 */
	readonly effect: "breaking" | "unknown" | "unused" | "dangerous" | "safe";
	/** The last day of use, among all days that are kept; null if never. */
	readonly lastDay: string | null;
	readonly requests: number;
	readonly clients: readonly NamedCount[];
	readonly documents: readonly DocumentCount[];
}

/** What each change does to those who use the old schema. */
export function impactOf(
	changes: readonly SchemaChange[],
	/** Use on all days that are kept; null if nothing is known. */
	usage: UsageReport | null,
	period: {
		/** The first day that counts as recent. */
		readonly from: string;
		/** Whether usage was recorded on each of its days. */
		readonly isComplete: boolean;
	},
): readonly ChangeImpact[] {
	return changes.map((change) => {
		const use = usesTogether(
			change.affects.flatMap(
				(coordinate) => usage?.coordinates.get(coordinate) ?? [],
			),
		);
		const isRecent = use !== null && use.lastDay >= period.from;
		const effect =
			change.kind !== "breaking"
				? change.kind
				: isRecent
					? "breaking"
					: usage !== null && period.isComplete
						? "unused"
						: "unknown";
		return {
			...change,
			effect,
			lastDay: use?.lastDay ?? null,
			requests: use?.requests ?? 0,
			clients: use?.clients ?? [],
			documents: use?.documents ?? [],
		};
	});
}
