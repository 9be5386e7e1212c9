import type {
	DocumentCount,
	NamedCount,
	Period,
} from "../../usage/usageReport.ts";
import { formatNumber, plural } from "../../util/format.ts";
import { columns } from "../arguments.ts";

/** Most clients or documents in one line. */
const NAMED = 5;

/** `web 1,204, ios 17 and 2 more` */
export function clientsLine(clients: readonly NamedCount[]): string {
	return listed(
		clients.map(({ name, requests }) => `${name} ${formatNumber(requests)}`),
	);
}

/** `Home (1a2b3c4d5e6f) 1,204` */
export function documentsLine(documents: readonly DocumentCount[]): string {
	return listed(
		documents.map(
			(document) =>
				`${documentName(document)} ${formatNumber(document.requests)}`,
		),
	);
}

export function documentName({
	sha256,
	operation,
}: Pick<DocumentCount, "sha256" | "operation">): string {
	if (sha256 === null) return "other documents";
	const hash = sha256.slice(0, 12);
	return operation === null ? hash : `${operation} (${hash})`;
}

export function periodLine({ from, to, recordedDays, missingDays }: Period) {
	return `${plural(recordedDays, "day")} recorded of ${formatNumber(recordedDays + missingDays)}, ${from} to ${to}`;
}

export interface UsageRow {
	readonly requests: number;
	readonly lastDay: string | null;
	readonly clients: readonly NamedCount[];
	/** If it is listed. */
	readonly files?: readonly string[];
}

/** A line for each row: how often, when last and by whom; or only when last. */
export function usageTable(
	period: Period,
	names: readonly string[],
	rows: readonly UsageRow[],
	isUnused: boolean,
): string {
	const counts = rows.map(({ requests }) => formatNumber(requests));
	const width = Math.max(0, ...counts.map(({ length }) => length));
	const cells = rows.map(({ lastDay, clients, files = [] }, index) =>
		isUnused
			? [lastDay === null ? "never" : `last on ${lastDay}`, ...files].join("  ")
			: `${counts[index]?.padStart(width)}  ${lastDay}  ${clientsLine(clients)}`,
	);
	return [
		periodLine(period),
		...columns(names.map((name, index) => [name, cells[index] ?? ""])),
	].join("\n");
}

/** What to know before you call something unused. */
export function incompleteLine({ missingDays }: Period): string {
	return `not known: ${plural(missingDays, "day")} of the period ${missingDays === 1 ? "was" : "were"} not recorded`;
}

function listed(items: readonly string[]): string {
	const more = items.length - NAMED;
	return `${items.slice(0, NAMED).join(", ")}${more > 0 ? ` and ${formatNumber(more)} more` : ""}`;
}
