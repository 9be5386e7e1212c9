import { useSyncExternalStore } from "react";
import type { ExplainOutput } from "../../../plan/explainOutput.ts";

/** The state of the Explain view. It is kept outside React because GraphiQL's fetcher reads and sets it too. */
interface ExplainState {
	/** Requests ask for `extensions.explain` only while the view is open. */
	readonly isOpen: boolean;
	/** GraphiQL's active tab. */
	readonly activeTab: string;
	/** By tab: of the execution whose response the tab shows. */
	readonly outputs: ReadonlyMap<string, ExplainOutput>;
}

/** GraphiQL does not report closed tabs, so their outputs are evicted by age. */
const MAX_OUTPUTS = 30;

let state: ExplainState = { isOpen: false, activeTab: "", outputs: new Map() };
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

/** Null removes the tab's output: it belongs to an earlier execution than the response now shown. */
export function storeExplainOutput(
	tab: string,
	output: ExplainOutput | null,
): void {
	const outputs = new Map(state.outputs);
	outputs.delete(tab);
	if (output !== null) outputs.set(tab, output);
	for (const oldest of outputs.keys()) {
		if (outputs.size <= MAX_OUTPUTS) break;
		outputs.delete(oldest);
	}
	update({ outputs });
}

export const useExplainOutput = (): ExplainOutput | null =>
	useSyncExternalStore(
		subscribe,
		() => state.outputs.get(state.activeTab) ?? null,
	);
