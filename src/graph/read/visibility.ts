import { CorkboardError } from "../../errors.ts";
import type { Id } from "../../id/ids.ts";
import type { Mapping } from "../../model/types.ts";
import type { KeyResult } from "../../storage/rows.ts";
import type { HidingList } from "../domain.ts";
import type { CachedObject } from "../store/cachedObject.ts";
import type { ViewerRecord } from "../store/store.ts";
import type { Node } from "../types.ts";

/** The objects that are loaded. */
interface Objects {
	/** Undefined if the object has to be read, an error if it could not be. */
	find(id: Id): KeyResult<CachedObject> | undefined;
}

/** The lists of the viewer, as far as they are loaded. */
interface Lists {
	/** Whether a list leads to an object; undefined if that has to be read. */
	has(mapping: Mapping, to: Id): KeyResult<boolean> | undefined;
}

/** Whether the viewer may see an object; undefined while something has to be read to say so. */
type Verdict = KeyResult<boolean> | undefined;

/**
 * Decides what one viewer may see of what is loaded. It reads nothing and waits
 * for nothing: where something is missing, the object is not decided, and an
 * attempt after the next read decides it.
 *
 * An object is visible if all of these hold: its own rule shows it to the viewer, or it is
 * shared with the viewer; its parent and its owner are visible; no list of the
 * viewer's hides the user whom it belongs to.
 *
 * An attempt runs without a pause, so what it decided holds until its end.
 */
export class VisibilityDecider {
	readonly #viewer: Id | null;
	/** None for a request without a viewer. */
	readonly #hides: readonly HidingList[];
	/** The type of those whom lists hide. */
	readonly #userType: string | undefined;
	readonly #objects: Objects;
	readonly #lists: Lists;
	readonly #record: Pick<ViewerRecord, "users" | "isPersonal"> | null;
	/** What the attempt decided: an object if the viewer may see it, otherwise null. */
	readonly #decided = new Map<Id, Node | null>();
	/** Objects that are being decided, and the objects that this depends on. */
	readonly #deciding: Id[] = [];
	/** What the attempt said last of a parent and an owner: the objects of a list often have both in common. */
	#parent: Id | null = null;
	#owner: Id | null = null;
	#ofBoth: Verdict = true;

	constructor(
		viewer: Id | null,
		hides: readonly HidingList[],
		objects: Objects,
		lists: Lists,
		/** Where it notes who else would see the same; null: nowhere. */
		record: Pick<ViewerRecord, "users" | "isPersonal"> | null,
	) {
		this.#viewer = viewer;
		this.#hides = viewer === null ? [] : hides;
		this.#userType = hides[0]?.mapping.to;
		this.#objects = objects;
		this.#lists = lists;
		this.#record = record;
	}

	/** Begins an attempt: objects and lists may have changed since the one before. */
	begin(): void {
		this.#decided.clear();
		this.#deciding.length = 0;
		this.#parent = null;
		this.#owner = null;
		this.#ofBoth = true;
	}

	/** The object if the viewer may see it, otherwise null. */
	see(id: Id): KeyResult<Node | null> | undefined {
		const decided = this.#decided.get(id);
		if (decided !== undefined) return decided;
		const object = this.#objects.find(id);
		if (object === undefined || object instanceof CorkboardError) return object;
		// An object that is a part of itself is not visible.
		if (this.#deciding.includes(id)) return null;
		this.#deciding.push(id);
		const verdict = this.#apply(object);
		this.#deciding.pop();
		if (typeof verdict !== "boolean") return verdict;
		const seen = verdict ? object.node : null;
		this.#decided.set(id, seen);
		return seen;
	}

	#isVisible(id: Id): Verdict {
		const seen = this.see(id);
		return seen === undefined || seen instanceof CorkboardError
			? seen
			: seen !== null;
	}

	#apply({ read }: CachedObject): Verdict {
		if (read === null || read.facts === null) return false;
		const { node, facts } = read;
		const { isVisible, sharedBy, parent, owner } = facts;
		let verdict: Verdict = true;
		const record = this.#record;
		// Its owner sees it, and whom it is shared with.
		if (record !== null && isVisible?.(node, null) === false) {
			record.isPersonal = true;
		}
		if (isVisible !== null && !isVisible(node, this.#viewer)) {
			if (sharedBy === null) return false;
			verdict = this.#lists.has(sharedBy, node.id);
		}
		const isUser = node.type === this.#userType;
		const user = isUser ? node.id : owner;
		if (user !== null) record?.users.add(user);
		if (verdict === false) return false;
		const related = isUser
			? this.#isShownWith(parent, owner, user, true)
			: this.#showsWhatBelongsTo(parent, owner);
		return both(verdict, related);
	}

	/** Whether the viewer may see what belongs to this parent and this owner. */
	#showsWhatBelongsTo(parent: Id | null, owner: Id | null): Verdict {
		if (parent !== this.#parent || owner !== this.#owner) {
			const verdict = this.#isShownWith(parent, owner, owner, false);
			this.#parent = parent;
			this.#owner = owner;
			this.#ofBoth = verdict;
		}
		return this.#ofBoth;
	}

	/** Whether parent and owner are visible, and no list hides what is the user's. */
	#isShownWith(
		parent: Id | null,
		owner: Id | null,
		user: Id | null,
		isUser: boolean,
	): Verdict {
		let verdict: Verdict = true;
		if (parent !== null) verdict = this.#isVisible(parent);
		if (verdict !== false && owner !== null) {
			verdict = both(verdict, this.#isVisible(owner));
		}
		if (verdict !== false && user !== null && user !== this.#viewer) {
			verdict = both(verdict, this.#shows(user, isUser));
		}
		return verdict;
	}

	/** Whether no list hides the user, or else what belongs to the user. */
	#shows(user: Id, isUser: boolean): Verdict {
		let verdict: Verdict = true;
		// Once for each object: an iterator would be garbage.
		for (let at = 0; at < this.#hides.length; at++) {
			const { mapping, hides } = this.#hides[at] as HidingList;
			if (isUser && hides === "belongings") continue;
			const isListed = this.#lists.has(mapping, user);
			if (isListed === true) {
				if (this.#record !== null) this.#record.isPersonal = true;
				return false;
			}
			if (isListed !== false) verdict = both(verdict, isListed);
		}
		return verdict;
	}
}

/** Whatever hides an object hides it, whether or not the rest could be read. */
function both(one: Verdict, other: Verdict): Verdict {
	if (one === true || other === false) return other;
	if (one === false || other === true) return one;
	return one === undefined || other === undefined ? undefined : one;
}
