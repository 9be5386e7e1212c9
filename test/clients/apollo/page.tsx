import { ApolloProvider } from "@apollo/client/react";
import { createRoot } from "react-dom/client";
import { BoardPins } from "./BoardPins.tsx";
import { createClient } from "./client.ts";

const { url = "", token = null, board = "" } = history.state ?? {};
createRoot(document.body.appendChild(document.createElement("div"))).render(
	<ApolloProvider client={createClient({ url, token: () => token })}>
		<BoardPins id={board} />
	</ApolloProvider>,
);
