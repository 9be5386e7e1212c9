/** The page a browser gets at `/graphql`. Node never runs this file: esbuild bundles it. */
import "./workers.ts";
import { GraphiQL, type GraphiQLProps } from "graphiql";
import { createRoot } from "react-dom/client";
import type { PageConfig } from "./config.ts";

const { demo } = JSON.parse(
	document.getElementById("config")?.textContent ?? '{"demo":null}',
) as PageConfig;

const fetcher: GraphiQLProps["fetcher"] = async (operation, options) => {
	const response = await fetch("/graphql", {
		method: "POST",
		headers: { "content-type": "application/json", ...options?.headers },
		body: JSON.stringify(operation),
	});
	return response.json();
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
	return (
		<>
			<header className="banner">
				<h1>Corkboard</h1>
				<p>{demo === null ? <Anonymous /> : <DemoUser {...demo} />}</p>
			</header>
			<main>
				<GraphiQL
					fetcher={fetcher}
					defaultQuery={demo?.query ?? ANONYMOUS_QUERY}
					defaultHeaders={
						demo === null
							? ""
							: JSON.stringify(
									{ Authorization: `Bearer ${demo.token}` },
									null,
									2,
								)
					}
					defaultEditorToolsVisibility={demo === null ? "variables" : "headers"}
				/>
			</main>
		</>
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
