import { ToolbarButton, useGraphiQL } from "@graphiql/react";
import { useState } from "react";

/** An operation in the page's address. */
interface LinkedOperation {
	readonly query: string;
	/** JSON. */
	readonly variables: string;
}

/** `?query=…&variables=…`; null where the address has no query. A token is never in an address. */
export function readLink(search: string): LinkedOperation | null {
	const parameters = new URLSearchParams(search);
	const query = parameters.get("query");
	if (!query) return null;
	return { query, variables: parameters.get("variables") ?? "" };
}

export function linkTo({ query, variables }: LinkedOperation): string {
	const parameters = new URLSearchParams({
		query,
		...(variables.trim() === "" ? {} : { variables }),
	});
	return `${location.origin}${location.pathname}?${parameters}`;
}

/** How long the button says what it did. Milliseconds. */
const SAID_MS = 3_000;

/** Copies a link that opens the active tab's operation with its variables. */
export function CopyLink() {
	const queryEditor = useGraphiQL((state) => state.queryEditor);
	const variableEditor = useGraphiQL((state) => state.variableEditor);
	const [said, say] = useState("");
	const copy = async () => {
		const link = linkTo({
			query: queryEditor?.getValue() ?? "",
			variables: variableEditor?.getValue() ?? "",
		});
		// Absent on pages that are not served over HTTPS, except on localhost.
		const copied = await navigator.clipboard?.writeText(link).then(
			() => true,
			() => false,
		);
		if (copied) say("Link copied");
		else {
			history.replaceState(null, "", link);
			say("The address of this page is the link now");
		}
		setTimeout(say, SAID_MS, "");
	};
	return (
		<>
			<ToolbarButton
				label={said || "Copy link to this operation"}
				onClick={copy}
			>
				<svg
					className="graphiql-toolbar-icon"
					viewBox="0 0 16 16"
					fill="none"
					stroke="currentColor"
					strokeWidth="1.5"
					strokeLinecap="round"
					aria-hidden="true"
				>
					<path d="M6.5 9.5a3 3 0 0 0 4.3 0l2.3-2.3a3 3 0 0 0-4.3-4.3l-1 1M9.5 6.5a3 3 0 0 0-4.3 0L2.9 8.8a3 3 0 0 0 4.3 4.3l1-1" />
				</svg>
			</ToolbarButton>
			<span className="unseen" role="status">
				{said}
			</span>
		</>
	);
}
