import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App.tsx";
import "./style.css";

const root = document.getElementById("root");
if (root === null) throw new Error("expected an element with the id root");
createRoot(root).render(
	<StrictMode>
		<App
			url={import.meta.env.VITE_API_URL ?? "http://localhost:4000/graphql"}
		/>
	</StrictMode>,
);
