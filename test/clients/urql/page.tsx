import { createRoot } from "react-dom/client";
import { Provider } from "urql";
import { BoardPins } from "./BoardPins.tsx";
import { createClient } from "./client.ts";

const { url = "", token = null, board = "" } = history.state ?? {};
createRoot(document.body.appendChild(document.createElement("div"))).render(
	<Provider value={createClient({ url, token: () => token })}>
		<BoardPins id={board} />
	</Provider>,
);
