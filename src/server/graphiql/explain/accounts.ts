import { useSyncExternalStore } from "react";
import type { Explained } from "../../../plan/explain.ts";

/** What the Explain view knows, outside of React: the fetcher reads and fills it. */
interface Known {
	/** Whether the view is open: only then an account is asked for. */
	readonly open: boolean;
	/** The tab of GraphiQL that is shown. */
	readonly tab: string;
	/** By tab: of the run whose response it shows. */
	readonly accounts: ReadonlyMap<string, Explained>;
}

/** Tabs that were closed leave theirs behind. */
const MAX_ACCOUNTS = 30;

let known: Known = { open: false, tab: "", accounts: new Map() };
const listeners = new Set<() => void>();

function change(to: Partial<Known>): void {
	known = { ...known, ...to };
	for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

export const isExplainOpen = (): boolean => known.open;
export const openExplain = (open: boolean): void => change({ open });
export const useExplainOpen = (): boolean =>
	useSyncExternalStore(subscribe, isExplainOpen);

export const shownTab = (): string => known.tab;
export const showTab = (tab: string): void => change({ tab });

/** Without an account, what was known of an earlier run goes: it is not that of the response beside it. */
export function keepAccount(tab: string, account: Explained | null): void {
	const accounts = new Map(known.accounts);
	accounts.delete(tab);
	if (account !== null) accounts.set(tab, account);
	for (const oldest of accounts.keys()) {
		if (accounts.size <= MAX_ACCOUNTS) break;
		accounts.delete(oldest);
	}
	change({ accounts });
}

export const useAccount = (): Explained | null =>
	useSyncExternalStore(subscribe, () => known.accounts.get(known.tab) ?? null);
