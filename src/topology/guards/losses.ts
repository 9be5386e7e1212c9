import { CorkboardError } from "../../errors.ts";
import type { StoreChange, TopologyStore } from "../store.ts";

/**
 * A failover behind the name of a database host whose new server lacks what was
 * acknowledged, at `losses/HOST`, until an operator accepts it. Nobody writes to
 * that server meanwhile. Servers write it themselves: it has to outlive them.
 */
export interface RecordedLoss {
	/** `host:port` */
	readonly host: string;
	/** The server that lacks it, as it calls itself. */
	readonly server: string;
	/** As a set of GTIDs; null: the server has none, so that it cannot say what it lacks. */
	readonly missing: string | null;
	/** ISO 8601, in UTC. */
	readonly at: string;
}

/** What an operator gave up of a host, at `accepted/HOST`. */
interface AcceptedLoss {
	/** The server that is the host's since then. */
	readonly server: string;
	/** All that was given up so far, as a set of GTIDs. */
	readonly gtids: string;
}

const LOSSES = "losses";
const ACCEPTED = "accepted";

const pathOf = (kind: string, host: string) =>
	`${kind}/${host.replaceAll(/[^A-Za-z0-9._:-]/g, "_")}`;

export async function readLosses(
	store: Pick<TopologyStore, "get" | "list">,
): Promise<readonly RecordedLoss[]> {
	const names = await store.list(LOSSES);
	const texts = await Promise.all(
		names.map(async (name) => (await store.get(`${LOSSES}/${name}`))?.text),
	);
	return texts.flatMap((text) =>
		text === undefined ? [] : [JSON.parse(text) as RecordedLoss],
	);
}

/** Calls `hint` when there may be another. */
export function watchLosses(
	store: Pick<TopologyStore, "watch">,
	hint: () => void,
): Disposable {
	return store.watch(LOSSES, hint);
}

export async function readAccepted(
	store: Pick<TopologyStore, "get">,
	host: string,
): Promise<AcceptedLoss | null> {
	const found = await store.get(pathOf(ACCEPTED, host));
	return found === null ? null : (JSON.parse(found.text) as AcceptedLoss);
}

/** Writes the record, or removes it: null. If two write at the same time, the first one counts. */
export async function recordLoss(
	store: Pick<TopologyStore, "get" | "write">,
	host: string,
	loss: RecordedLoss | null,
): Promise<void> {
	const path = pathOf(LOSSES, host);
	const found = await store.get(path);
	const text = loss && JSON.stringify(loss);
	if (found === null && text === null) return;
	const before = found && (JSON.parse(found.text) as RecordedLoss);
	const isKnown =
		before?.server === loss?.server && before?.missing === loss?.missing;
	if (isKnown) return;
	try {
		await store.write([{ path, revision: found?.revision ?? null, text }]);
	} catch (thrown) {
		const isOvertaken =
			thrown instanceof CorkboardError && thrown.code === "CONFLICT";
		if (!isOvertaken) throw thrown;
	}
}

/** The changes that end a loss, to be written together with the map that raises the generation. */
export async function acceptance(
	store: Pick<TopologyStore, "get">,
	host: string,
	{ server, gtids }: AcceptedLoss,
): Promise<readonly StoreChange[]> {
	const accepted = pathOf(ACCEPTED, host);
	const before = await store.get(accepted);
	const known = before && (JSON.parse(before.text) as AcceptedLoss).gtids;
	const path = pathOf(LOSSES, host);
	const loss = await store.get(path);
	const all = [known ?? "", gtids].filter((set) => set !== "").join(",");
	return [
		{
			path: accepted,
			revision: before?.revision ?? null,
			text: JSON.stringify({ server, gtids: all } satisfies AcceptedLoss),
		},
		...(loss === null ? [] : [{ path, revision: loss.revision, text: null }]),
	];
}

/** What is wrong, and what to do about it. */
export function describeRecordedLoss({
	host,
	server,
	missing,
}: RecordedLoss): string {
	const what =
		missing === null
			? "has no GTIDs, so that nobody knows what it lacks of what the server before acknowledged"
			: `lacks transactions that the server before acknowledged: ${missing}`;
	return `${host} leads to another server, ${server}, which ${what}. Nobody writes there. See what is lost, and accept it: corkboard hosts accept-loss ${host} --dry-run.`;
}
