import { existsSync } from "node:fs";
import { CorkboardError } from "../errors.ts";
import {
	compareLocks,
	type LockDifference,
} from "../model/lock/compareLocks.ts";
import {
	compareLock,
	EMPTY_LOCK,
	type Lock,
	parseLock,
	printLock,
} from "../model/lock/lock.ts";
import { changeText, MODEL, type TopologyStore } from "../topology/store.ts";
import { readTextFileSync } from "../util/textFile.ts";
import { type AppModel, lockFileOf } from "./readApp.ts";

/** How many differences are named. */
const NAMED = 8;

/** What the program's lock file and the fleet's, as `init` left it, do not have in common. */
interface FleetModel extends LockDifference {
	/** False: no `init` has stored the fleet's. */
	readonly isStored: boolean;
}

/** Compares this program's model with the fleet's. Throws UNAVAILABLE, and BAD_MODEL if what is stored is no lock file. */
export async function compareWithFleet(
	own: OwnLock,
	store: Pick<TopologyStore, "get">,
): Promise<FleetModel> {
	const found = await store.get(MODEL);
	const fleet = found === null ? null : parseLock(found.text);
	return { ...compareLocks(ownLock(own), fleet), isStored: found !== null };
}

/** Throws BAD_MODEL if the program would misread what the fleet stores. */
export function requireNoContradiction({
	contradictions,
}: LockDifference): void {
	if (contradictions.length === 0) return;
	throw new CorkboardError(
		"BAD_MODEL",
		`This program's model contradicts the one that the fleet's tables were made for: ${named(contradictions)}. Run the version that fits, or compare schema/model.lock.json.`,
	);
}

/** A sentence if the program is older than the fleet's tables; null if it is not. */
export function olderModel({ unknown }: LockDifference): string | null {
	if (unknown.length === 0) return null;
	return `The fleet's tables were made for a newer model: this program does not know ${named(unknown)}. It serves without them, and keeps what is stored there.`;
}

/**
 * Stores this program's lock file as the fleet's, with what that has and ours
 * lacks. Returns whether it has changed. Throws BAD_MODEL at a contradiction, and UNAVAILABLE.
 */
export async function publishModel(
	own: OwnLock,
	store: TopologyStore,
): Promise<boolean> {
	return changeText(store, MODEL, (text) => {
		const difference = compareLocks(
			ownLock(own),
			text === null ? null : parseLock(text),
		);
		requireNoContradiction(difference);
		return printLock(difference.union);
	});
}

type OwnLock = Pick<AppModel, "app" | "model">;

/** The lock file of the app. Without one, as while a model is being made: what the model stores. */
function ownLock({ app, model }: OwnLock): Lock {
	const file = lockFileOf(app);
	return existsSync(file)
		? parseLock(readTextFileSync(file))
		: compareLock(EMPTY_LOCK, model).next;
}

/** The first of them. */
export function named(differences: readonly string[]): string {
	const more = differences.length - NAMED;
	return `${differences.slice(0, NAMED).join(", ")}${more > 0 ? ` and ${more} more` : ""}`;
}
