import { useGraphiQL, useGraphiQLActions } from "@graphiql/react";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { ExplainReport } from "./ExplainReport.tsx";
import {
	openExplain,
	showTab,
	useExplainOpen,
	useExplainOutput,
} from "./explainStore.ts";

/** Two views of an answer, as tabs over it: GraphiQL's own, and how it came about. */
export function ResponseViews() {
	const open = useExplainOpen();
	const tab = useGraphiQL(
		({ tabs, activeTabIndex }) => tabs[activeTabIndex]?.id ?? "",
	);
	useEffect(() => showTab(tab), [tab]);

	const response = useRef<HTMLButtonElement>(null);
	const explain = useRef<HTMLButtonElement>(null);
	// Tabs are one stop of the Tab key, and arrows choose among them (WAI-ARIA APG).
	const onKeyDown = (event: KeyboardEvent) => {
		const toExplain = ["ArrowRight", "End"].includes(event.key);
		if (!toExplain && !["ArrowLeft", "Home"].includes(event.key)) return;
		event.preventDefault();
		openExplain(toExplain);
		(toExplain ? explain : response).current?.focus();
	};

	return (
		<div className="response-views" data-open={open}>
			<div
				className="response-tabs"
				role="tablist"
				aria-label="Views of the answer"
				onKeyDown={onKeyDown}
			>
				<button
					type="button"
					role="tab"
					ref={response}
					aria-selected={!open}
					tabIndex={open ? -1 : 0}
					onClick={() => openExplain(false)}
				>
					Response
				</button>
				<button
					type="button"
					role="tab"
					ref={explain}
					id="explain-tab"
					aria-selected={open}
					aria-controls="explain"
					tabIndex={open ? 0 : -1}
					onClick={() => openExplain(true)}
				>
					Explain
				</button>
			</div>
			<section
				className="explain"
				id="explain"
				role="tabpanel"
				aria-labelledby="explain-tab"
				hidden={!open}
			>
				{open && <Explain />}
			</section>
		</div>
	);
}

function Explain() {
	const account = useExplainOutput();
	const { run } = useGraphiQLActions();
	return account === null ? (
		<div className="explain-nothing">
			<p>
				Run the operation with this view open, and see how its answer came
				about: which lists were scanned and objects fetched, on which shards,
				what the caches answered, and how long it took.
			</p>
			<button type="button" onClick={() => run()}>
				Run and explain
			</button>
		</div>
	) : (
		<ExplainReport account={account} />
	);
}
