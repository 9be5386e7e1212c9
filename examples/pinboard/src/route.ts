import { useSyncExternalStore } from "react";

/** The part of the address after #: a page, and optionally a pin shown over it. */
export interface Route {
	readonly page: "interest" | "board" | "user" | "home";
	/** A slug, an id or a username; "" for the start page and the home feed. */
	readonly key: string;
	readonly pin: string | null;
	/** The section of a board; null for all its pins. */
	readonly section: string | null;
}

export function useRoute(): Route {
	return parse(useSyncExternalStore(listen, () => location.hash));
}

export function parse(hash: string): Route {
	const [path = "", query] = hash.replace(/^#\/?/, "").split("?");
	const [page = "", key = ""] = path.split("/");
	const parameters = new URLSearchParams(query);
	return {
		page:
			page === "board" || page === "user" || page === "home"
				? page
				: "interest",
		key: decodeURIComponent(key),
		pin: parameters.get("pin"),
		section: parameters.get("section"),
	};
}

export function address(page: Route["page"], key: string): string {
	return `#/${page}/${encodeURIComponent(key)}`;
}

/** A section of the board, or with null all of it. */
export function sectionAddress(board: string, section: string | null): string {
	const query = section === null ? "" : `?section=${section}`;
	return `${address("board", board)}${query}`;
}

/** The same page with a pin over it. */
export function pinAddress(pin: string): string {
	return withPin(pin);
}

/** Closes the pin and shows the page below it. */
export function closePin(): void {
	location.hash = withPin(null);
}

function withPin(pin: string | null): string {
	const [path = "", query] = location.hash.split("?");
	const parameters = new URLSearchParams(query);
	if (pin === null) parameters.delete("pin");
	else parameters.set("pin", pin);
	const rest = parameters.size > 0 ? `?${parameters}` : "";
	return `${path || "#/"}${rest}`;
}

function listen(changed: () => void): () => void {
	addEventListener("hashchange", changed);
	return () => removeEventListener("hashchange", changed);
}
