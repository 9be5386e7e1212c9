import { useGraphiQL } from "@graphiql/react";

/** In the place of a response, before there is one. */
export function EmptyResponse() {
	const isEmpty = useGraphiQL(
		({ tabs, activeTabIndex, isFetching }) =>
			!isFetching && !tabs[activeTabIndex]?.response,
	);
	if (!isEmpty) return null;
	return (
		<div className="response-empty">
			<p>
				The response appears here. Run the operation with the button beside the
				editor, or with Ctrl-Enter (Cmd-Enter on a Mac) in it. Ctrl-Space lists
				the fields that fit.
			</p>
		</div>
	);
}
