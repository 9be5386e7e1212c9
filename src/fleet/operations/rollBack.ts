import { CorkboardError } from "../../errors.ts";
import type { TopologyStore } from "../../topology/store.ts";
import { namesPrimary } from "../map/promotionHosts.ts";
import { requireCurrent } from "../map/publish.ts";
import type { FleetServer } from "../server/fleetServer.ts";
import { isTakenOver, type Operation } from "./operations.ts";

export interface UndoOptions {
	/** Whether the operation ends also where something cannot be undone. */
	readonly isLeaving?: boolean;
}

/** How long a primary that may be dead is asked. Milliseconds. */
const TRY_MS = 1_500;

/**
 * Undoes a promotion that has not published: the topology names the old primary,
 * and nothing that is still on its way can change that. Each thing is tried,
 * whatever becomes of the others, and only what was done is undone: an account that
 * could not set a fence cannot lift it either. Returns what could not be undone.
 */
export async function rollBack(
	store: TopologyStore,
	operation: Operation,
	old: FleetServer,
	next: FleetServer,
	why: string,
	{ isLeaving = false }: UndoOptions = {},
): Promise<readonly string[]> {
	if (operation.record.step === "locked") {
		await operation.end("rolled back", `${why}; nothing had changed yet`);
		return [];
	}
	if (operation.record.step !== "rolling back") {
		await operation.save({ step: "rolling back" }, `rolling back: ${why}`);
	}
	await operation.requireHeld();
	const { from } = operation.record;
	const isDead = operation.record.kind === "promote --dead";
	const { topology } = await requireCurrent(store);
	const failures: CorkboardError[] = [];
	const attempt = async (body: () => Promise<void>) => {
		try {
			await body();
		} catch (thrown) {
			if (!(thrown instanceof CorkboardError)) throw thrown;
			failures.push(thrown);
		}
	};
	let isSilent = false;
	if (namesPrimary(topology, from)) {
		// First: writes wait for it, and the other server may be what failed.
		await attempt(async () => {
			isSilent = isDead && (await old.silence(TRY_MS)) !== null;
			if (!isSilent) await old.unfence();
		});
		// Nobody wrote there: no topology named it.
		await attempt(() => next.refence());
		await attempt(async () => {
			if ((await next.replica()) === null) await next.follow(old);
			else await next.startFollowing();
		});
	} else {
		// Edited by hand meanwhile: two primaries are worse than none.
		failures.push(
			new CorkboardError(
				"CONFLICT",
				`Version ${topology.version} does not name ${from} as a primary any more, so nothing is undone.`,
			),
		);
	}
	const left = failures.map(({ message }) => message);
	const [first] = failures;
	if (first !== undefined && !isLeaving) {
		throw new CorkboardError(
			first.code,
			`${left.join("\n")}\nTo end it with that undone by nobody: corkboard operations abort ${operation.record.id} --leave.`,
			{ cause: first },
		);
	}
	const silent = isSilent
		? [`${from} does not answer, and may be super_read_only when it is back`]
		: [];
	await operation.end(
		"rolled back",
		left.length > 0
			? `not undone: ${[...left, ...silent].join(" ")}`
			: ["nothing changed", ...silent].join("; "),
	);
	return left;
}

/** What to throw after a failure before the publication, which is undone where it can be. */
export async function undone(
	thrown: unknown,
	operation: Operation,
	body: (why: string) => Promise<unknown>,
): Promise<unknown> {
	const { step, from } = operation.record;
	if (!(thrown instanceof CorkboardError) || step === "rolled back") {
		return thrown;
	}
	try {
		// Fails where it was published after all, or somebody else has taken over.
		await body(thrown.message);
	} catch (failed) {
		return isTakenOver(failed) ? failed : thrown;
	}
	return new CorkboardError(
		thrown.code,
		`${thrown.message} So it was rolled back: ${from} is the primary.`,
		{ cause: thrown },
	);
}
