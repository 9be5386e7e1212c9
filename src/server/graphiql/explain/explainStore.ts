import { useSyncExternalStore } from "react";
import type { ExplainOutput } from "../../../plan/explain/explainOutput.ts";

/** An error as the response has it. */
export interface ResponseError {
	readonly message: string;
	readonly path?: readonly (string | number)[];
	readonly locations?: readonly {
		readonly line: number;
		readonly column: number;
	}[];
	readonly extensions?: { readonly code?: string };
}

/** What is known of the execution whose response a tab shows. */
export interface Explained {
	/** Null if the request did not ask for it, or was refused before it ran. */
	readonly output: ExplainOutput | null;
	readonly errors: readonly ResponseError[];
}

/** The state of the Explain view. It is kept outside React because GraphiQL's fetcher reads and sets it too. */
interface ExplainState {
	/** Requests ask for `extensions.explain` only while the view is open. */
	readonly isOpen: boolean;
	/** GraphiQL's active tab. */
	readonly activeTab: string;
	readonly byTab: ReadonlyMap<string, Explained>;
}

/** GraphiQL does not report closed tabs, so what is known of them is evicted by age. */
const MAX_TABS = 30;

const NOTHING: Explained = { output: null, errors: [] };

let state: ExplainState = { isOpen: false, activeTab: "", byTab: new Map() };
const listeners = new Set<() => void>();

function update(changes: Partial<ExplainState>): void {
	state = { ...state, ...changes };
	for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
	listeners.add(listener);
	return () => listeners.delete(listener);
}

export const isExplainOpen = (): boolean => state.isOpen;
export const openExplain = (isOpen: boolean): void => update({ isOpen });
export const useExplainOpen = (): boolean =>
	useSyncExternalStore(subscribe, isExplainOpen);

export const getActiveTab = (): string => state.activeTab;
export const setActiveTab = (activeTab: string): void => update({ activeTab });

/** Replaces what is known of the tab's earlier execution. */
export function storeExplained(tab: string, explained: Explained): void {
	const byTab = new Map(state.byTab);
	byTab.delete(tab);
	byTab.set(tab, explained);
	for (const oldest of byTab.keys()) {
		if (byTab.size <= MAX_TABS) break;
		byTab.delete(oldest);
	}
	update({ byTab });
}

export const useExplained = (): Explained =>
	useSyncExternalStore(
		subscribe,
		() => state.byTab.get(state.activeTab) ?? NOTHING,
	);
