import { useSyncExternalStore } from "react";

/** The part of the address after #: a page, and optionally a pin shown over it. */
export interface Route {
	readonly page: "interest" | "board" | "user";
	/** A slug, an id or a username; "" for the start page. */
	readonly key: string;
	readonly pin: string | null;
}

export function useRoute(): Route {
	return parse(useSyncExternalStore(listen, () => location.hash));
}

export function parse(hash: string): Route {
	const [path = "", query] = hash.replace(/^#\/?/, "").split("?");
	const [page = "", key = ""] = path.split("/");
	return {
		page: page === "board" || page === "user" ? page : "interest",
		key: decodeURIComponent(key),
		pin: new URLSearchParams(query).get("pin"),
	};
}

export function address(page: Route["page"], key: string): string {
	return `#/${page}/${encodeURIComponent(key)}`;
}

/** The same page with a pin over it. */
export function pinAddress(pin: string): string {
	const [path] = location.hash.split("?");
	return `${path || "#/"}?pin=${encodeURIComponent(pin)}`;
}

/** Closes the pin and shows the page below it. */
export function closePin(): void {
	const [path] = location.hash.split("?");
	location.hash = path || "#/";
}

function listen(changed: () => void): () => void {
	addEventListener("hashchange", changed);
	return () => removeEventListener("hashchange", changed);
}
