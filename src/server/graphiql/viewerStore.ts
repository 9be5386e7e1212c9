import { useSyncExternalStore } from "react";
import type { DemoUser } from "./pageConfig.ts";

/**
 * Who requests are sent as. It is kept outside React because GraphiQL's fetcher
 * reads it too.
 */
interface ViewerState {
	/** The demo user that was chosen; null for an anonymous viewer. */
	readonly chosen: DemoUser | null;
	/** Authorization of the Headers editor of the active tab, which has precedence; null if it has none. */
	readonly header: string | null;
	/** The last Authorization that the server refused. */
	readonly refused: string | null;
}

/** Where the browser keeps the name of the chosen user. */
const KEPT = "corkboard:viewer";
const NOBODY = "";

let state: ViewerState = { chosen: null, header: null, refused: null };
const listeners = new Set<() => void>();

function update(changes: Partial<ViewerState>): void {
	state = { ...state, ...changes };
	for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

export const useViewer = (): ViewerState =>
	useSyncExternalStore(subscribe, () => state);

export const getChosen = (): DemoUser | null => state.chosen;

/** The user of the last visit, or else the first. */
export function restoreChosen(users: readonly DemoUser[]): void {
	const kept = sessionStorage.getItem(KEPT);
	const known = users.find(({ username }) => username === kept);
	update({ chosen: kept === NOBODY ? null : (known ?? users[0] ?? null) });
}

export function choose(chosen: DemoUser | null): void {
	sessionStorage.setItem(KEPT, chosen?.username ?? NOBODY);
	update({ chosen });
}

/** The text of the Headers editor. */
export function setHeaders(text: string): void {
	const header = authorizationIn(text);
	if (header !== state.header) update({ header });
}

export function setRefused(refused: string | null): void {
	if (refused !== state.refused) update({ refused });
}

function authorizationIn(text: string): string | null {
	try {
		const headers = JSON.parse(text) as Readonly<Record<string, unknown>>;
		const name = Object.keys(headers).find(
			(one) => one.toLowerCase() === "authorization",
		);
		return name === undefined ? null : String(headers[name]);
	} catch {
		// It is being written.
		return null;
	}
}

/** The subject of a token, unverified; null for what is no token. */
export function subjectOf(authorization: string): string | null {
	const [, payload = ""] =
		/^Bearer\s+[\w-]+\.([\w-]+)\.[\w-]*$/i.exec(authorization) ?? [];
	try {
		const claims: unknown = JSON.parse(
			atob(payload.replaceAll("-", "+").replaceAll("_", "/")),
		);
		const { sub } = claims as { readonly sub?: unknown };
		return typeof sub === "string" ? sub : null;
	} catch {
		return null;
	}
}
