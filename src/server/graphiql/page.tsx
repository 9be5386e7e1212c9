/** The page that browsers get at `/graphql`. It runs in the browser only, bundled by esbuild. */
import "./monacoWorkers.ts";
import { explorerPlugin } from "@graphiql/plugin-explorer";
import { GraphiQL, type GraphiQLProps, HISTORY_PLUGIN } from "graphiql";
import { createRoot } from "react-dom/client";
import { EXPLAIN_HEADER } from "../graphql/explainAccess.ts";
import { EmptyResponse } from "./EmptyResponse.tsx";
import {
	getActiveTab,
	isExplainOpen,
	storeExplained,
} from "./explain/explainStore.ts";
import { ResponseViews } from "./explain/ResponseViews.tsx";
import { CopyLink, readLink } from "./linkedTab.tsx";
import type { PageConfig, PageExample } from "./pageConfig.ts";
import { watchRoles } from "./repairRoles.ts";
import { ViewerBar, WatchHeaders } from "./ViewerBar.tsx";
import { getChosen, restoreChosen, setRefused } from "./viewerStore.ts";

const { demo, operator, explain } = JSON.parse(
	document.getElementById("config")?.textContent ??
		'{"demo":null,"operator":null,"explain":false}',
) as PageConfig;

restoreChosen(demo?.users ?? []);

const fetcher: GraphiQLProps["fetcher"] = async (operation, options) => {
	// GraphiQL's own introspection is not explained.
	const isUserOperation = operation.operationName !== "IntrospectionQuery";
	const tab = getActiveTab();
	const headers = new Headers(options?.headers);
	headers.set("content-type", "application/json");
	headers.set("apollographql-client-name", "GraphiQL");
	if (isUserOperation && isExplainOpen()) headers.set(EXPLAIN_HEADER, "1");
	// Not in GraphiQL's Headers editor, because its history stores those.
	const token = operator?.token ?? getChosen()?.token;
	if (token !== undefined && !headers.has("authorization")) {
		headers.set("authorization", `Bearer ${token}`);
	}
	const response = await fetch("/graphql", {
		method: "POST",
		headers,
		body: JSON.stringify(operation),
	});
	setRefused(response.status === 401 ? headers.get("authorization") : null);
	const result = await response.json();
	if (!isUserOperation) return result;
	const { explain: output, ...extensions } = result.extensions ?? {};
	storeExplained(tab, { output: output ?? null, errors: result.errors ?? [] });
	// The Response view shows the rest: the output is long, and has its own view.
	if (output === undefined) return result;
	if (Object.keys(extensions).length > 0) return { ...result, extensions };
	delete result.extensions;
	return result;
};

/** Made once: GraphiQL compares plugins by identity. */
const PLUGINS = [
	HISTORY_PLUGIN,
	{ ...explorerPlugin(), title: "Field Explorer" },
];

const linked = readLink(location.search);
// The tab is stored: a reload would open it again.
if (linked !== null) history.replaceState(null, "", location.pathname);

const ANONYMOUS_QUERY = `# To run this, press the button or Ctrl-Enter.
{
  __schema {
    queryType {
      fields {
        name
        description
      }
    }
  }
}
`;

function Page() {
	const tabs = (demo?.examples ?? []).map(toTab);
	return (
		<>
			<header className="banner">
				<h1>Corkboard</h1>
				{operator === null ? (
					<ViewerBar users={demo?.users ?? []} />
				) : (
					<>
						<Operator />
						<SignOut />
					</>
				)}
			</header>
			<main>
				<GraphiQL
					fetcher={fetcher}
					defaultQuery={demo?.examples[0]?.query ?? ANONYMOUS_QUERY}
					{...(linked !== null
						? {
								// On a first visit, the tabs are these; later it is added to those stored.
								defaultTabs: [linked, ...tabs],
								initialQuery: linked.query,
								initialVariables: linked.variables,
							}
						: tabs.length > 0 && { defaultTabs: tabs })}
					defaultEditorToolsVisibility="variables"
					plugins={PLUGINS}
				>
					<GraphiQL.Toolbar>
						{({ prettify, merge, copy }) => (
							<>
								{prettify}
								{merge}
								{copy}
								<CopyLink />
							</>
						)}
					</GraphiQL.Toolbar>
					<GraphiQL.Footer>
						{explain && <ResponseViews />}
						<EmptyResponse />
						<WatchHeaders />
					</GraphiQL.Footer>
				</GraphiQL>
			</main>
		</>
	);

	function toTab({ query, variables }: PageExample) {
		return {
			// Example queries show the default address of a local server.
			query: query.replaceAll("http://localhost:4000", location.origin),
			variables: variables ? JSON.stringify(variables, null, 2) : "",
		};
	}
}

function Operator() {
	return (
		<p>
			You are signed in as an <strong>operator</strong>. Requests send your
			token unless you set Authorization under Headers.
		</p>
	);
}

function SignOut() {
	return (
		<form method="post" action="/graphiql/sign-out">
			<button type="submit">Sign out</button>
		</form>
	);
}

const root = document.getElementById("root");
if (root !== null) {
	watchRoles(root);
	createRoot(root).render(<Page />);
}
