import { useGraphiQL, useGraphiQLActions } from "@graphiql/react";
import { type KeyboardEvent, useEffect, useRef } from "react";
import { ExplainReport } from "./ExplainReport.tsx";
import {
	openExplain,
	setActiveTab,
	useExplained,
	useExplainOpen,
} from "./explainStore.ts";
import { ResponseErrors } from "./ResponseErrors.tsx";

/** Tabs above the response: GraphiQL's own view of it, and how it was computed. */
export function ResponseViews() {
	const open = useExplainOpen();
	const tab = useGraphiQL(
		({ tabs, activeTabIndex }) => tabs[activeTabIndex]?.id ?? "",
	);
	useEffect(() => setActiveTab(tab), [tab]);

	const response = useRef<HTMLButtonElement>(null);
	const explain = useRef<HTMLButtonElement>(null);
	// The Tab key stops once for all tabs; arrow keys choose among them (WAI-ARIA APG, tabs pattern).
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
				aria-label="Views of the response"
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
	const { output, errors } = useExplained();
	const { run } = useGraphiQLActions();
	if (output !== null) return <ExplainReport output={output} errors={errors} />;
	if (errors.length > 0) {
		return (
			<>
				<ResponseErrors errors={errors} />
				<p className="explain-over">
					The request was refused, or was not explained: no step is known.
				</p>
			</>
		);
	}
	return (
		<div className="explain-nothing">
			<p>
				Run the operation while this view is open. It then shows each step of
				the execution: the lists scanned and objects fetched, the shards, cache
				hits, statements, rows and times.
			</p>
			<button type="button" onClick={() => run()}>
				Run and explain
			</button>
		</div>
	);
}
