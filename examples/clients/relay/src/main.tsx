import { createRoot } from "react-dom/client";
import { RelayEnvironmentProvider } from "react-relay";
import App from "./App.tsx";
import { createEnvironment } from "./environment.ts";

const { VITE_API_URL, VITE_TOKEN } = import.meta.env;
const environment = createEnvironment({
	url: VITE_API_URL ?? "http://localhost:4000/graphql",
	token: VITE_TOKEN ?? null,
});
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
createRoot(root).render(
	<RelayEnvironmentProvider environment={environment}>
		<App />
	</RelayEnvironmentProvider>,
);
