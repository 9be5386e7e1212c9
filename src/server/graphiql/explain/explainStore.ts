import { useSyncExternalStore } from "react";
import type { ExplainOutput } from "../../../plan/explainRecorder.ts";

/** What the Explain view knows, outside of React: the fetcher reads and fills it. */
interface Known {
	/** Whether the view is open: only then an account is asked for. */
	readonly open: boolean;
	/** The tab of GraphiQL that is shown. */
	readonly tab: string;
	/** By tab: of the run whose response it shows. */
	readonly outputs: ReadonlyMap<string, ExplainOutput>;
}

/** Tabs that were closed leave theirs behind. */
const MAX_OUTPUTS = 30;

let known: Known = { open: false, tab: "", outputs: new Map() };
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
export function storeExplainOutput(
	tab: string,
	account: ExplainOutput | null,
): void {
	const accounts = new Map(known.outputs);
	accounts.delete(tab);
	if (account !== null) accounts.set(tab, account);
	for (const oldest of accounts.keys()) {
		if (accounts.size <= MAX_OUTPUTS) break;
		accounts.delete(oldest);
	}
	change({ outputs: accounts });
}

export const useExplainOutput = (): ExplainOutput | null =>
	useSyncExternalStore(subscribe, () => known.outputs.get(known.tab) ?? null);
