import { ApolloProvider } from "@apollo/client/react";
import { createRoot } from "react-dom/client";
import App from "./App.tsx";
import { createClient } from "./client.ts";

const { VITE_API_URL, VITE_TOKEN } = import.meta.env;
const client = createClient({
	url: VITE_API_URL ?? "http://localhost:4000/graphql",
	token: () => VITE_TOKEN ?? null,
});
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
createRoot(root).render(
	<ApolloProvider client={client}>
		<App />
	</ApolloProvider>,
);
