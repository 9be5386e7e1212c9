import type { Id } from "../../id/ids.ts";
import type { Store } from "../store/store.ts";

/**
 * Whether no list of the viewer hides one of these users, as far as the process
 * knows the lists: if it would have to read one, it says no.
 */
export function hidesNone(
	{ domain, cachedHead }: Pick<Store, "domain" | "cachedHead">,
	viewer: Id | null,
	users: ReadonlySet<Id>,
): boolean {
	if (viewer === null) return true;
	for (const { mapping } of domain.visibility.hides) {
		const list = cachedHead(mapping, viewer);
		if (!list?.complete) return false;
		for (let at = 0; at < list.size; at++) {
			if (users.has(list.to(at))) return false;
		}
	}
	return true;
}
