/** The page a browser gets at `/graphql`. Node never runs this file: esbuild bundles it. */
import "./monacoWorkers.ts";
import { GraphiQL, type GraphiQLProps } from "graphiql";
import { createRoot } from "react-dom/client";
import { EXPLAIN_HEADER } from "../graphql/explainAccess.ts";
import {
	isExplainOpen,
	shownTab,
	storeExplainOutput,
} from "./explain/explainStore.ts";
import { ResponseViews } from "./explain/ResponseViews.tsx";
import type { PageConfig, PageExample } from "./pageConfig.ts";

const { demo, operator, explain } = JSON.parse(
	document.getElementById("config")?.textContent ??
		'{"demo":null,"operator":null,"explain":false}',
) as PageConfig;

const fetcher: GraphiQLProps["fetcher"] = async (operation, options) => {
	// GraphiQL's own question about the schema is no run to look at.
	const isRun = operation.operationName !== "IntrospectionQuery";
	const asks = isRun && isExplainOpen();
	const tab = shownTab();
	const headers = new Headers(options?.headers);
	headers.set("content-type", "application/json");
	if (asks) headers.set(EXPLAIN_HEADER, "1");
	// Not under Headers, as GraphiQL's history stores those.
	if (operator !== null && !headers.has("authorization")) {
		headers.set("authorization", `Bearer ${operator.token}`);
	}
	const response = await fetch("/graphql", {
		method: "POST",
		headers,
		body: JSON.stringify(operation),
	});
	const answer = await response.json();
	if (!isRun) return answer;
	const { explain: account, ...extensions } = answer.extensions ?? {};
	storeExplainOutput(tab, account ?? null);
	// It has a view of its own, and would bury the answer.
	if (account === undefined) return answer;
	if (Object.keys(extensions).length > 0) return { ...answer, extensions };
	delete answer.extensions;
	return answer;
};

const ANONYMOUS_QUERY = `# Press the button, or Ctrl-Enter, to run this.
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
	const headers =
		demo === null
			? ""
			: JSON.stringify({ Authorization: `Bearer ${demo.token}` }, null, 2);
	return (
		<>
			<header className="banner">
				<h1>Corkboard</h1>
				<p>
					{demo !== null ? (
						<DemoUser {...demo} />
					) : operator !== null ? (
						<Operator />
					) : (
						<Anonymous />
					)}
				</p>
				{operator !== null && <SignOut />}
			</header>
			<main>
				<GraphiQL
					fetcher={fetcher}
					defaultQuery={demo?.examples[0]?.query ?? ANONYMOUS_QUERY}
					{...(demo && { defaultTabs: demo.examples.map(toTab) })}
					defaultHeaders={headers}
					defaultEditorToolsVisibility={demo === null ? "variables" : "headers"}
				>
					{explain && (
						<GraphiQL.Footer>
							<ResponseViews />
						</GraphiQL.Footer>
					)}
				</GraphiQL>
			</main>
		</>
	);

	function toTab({ query, variables }: PageExample) {
		return {
			// Examples of calls from elsewhere name the server as it names itself here.
			query: query.replaceAll("http://localhost:4000", location.origin),
			variables: variables ? JSON.stringify(variables, null, 2) : "",
			headers,
		};
	}
}

function Operator() {
	return (
		<>
			You are an <strong>operator</strong>, and your token goes with what you
			run. An Authorization under Headers takes its place.
		</>
	);
}

function SignOut() {
	return (
		<form method="post" action="/graphiql/sign-out">
			<button type="submit">Sign out</button>
		</form>
	);
}

function DemoUser({ username }: { readonly username: string }) {
	return (
		<>
			You are <strong>@{username}</strong>, a demo user: the token under Headers
			says so. Without it you are anonymous.
		</>
	);
}

function Anonymous() {
	return (
		<>
			You are anonymous. To be somebody, put a token under Headers below:{" "}
			<code>{'{"Authorization": "Bearer …"}'}</code>
		</>
	);
}

const root = document.getElementById("root");
if (root !== null) createRoot(root).render(<Page />);
