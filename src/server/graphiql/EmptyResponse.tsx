import { useGraphiQL, useGraphiQLActions } from "@graphiql/react";

/** In the place of a response, before there is one. */
export function EmptyResponse() {
	const isEmpty = useGraphiQL(
		({ tabs, activeTabIndex, isFetching }) =>
			!isFetching && !tabs[activeTabIndex]?.response,
	);
	const { run } = useGraphiQLActions();
	if (!isEmpty) return null;
	return (
		<div className="response-empty">
			<p>
				The response appears here. Run the operation with the button, or with
				Ctrl-Enter (Cmd-Enter on a Mac) in the editor. Ctrl-Space lists the
				fields that fit.
			</p>
			<button type="button" onClick={() => run()}>
				Run
			</button>
		</div>
	);
}
