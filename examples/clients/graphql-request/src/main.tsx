import { codeOf, createClient } from "./client.ts";
import { pinsOf } from "./pins.ts";

const { VITE_API_URL, VITE_TOKEN } = import.meta.env;
const client = createClient({
	url: VITE_API_URL ?? "http://localhost:4000/graphql",
	token: () => VITE_TOKEN ?? null,
});
const root = document.getElementById("root");
if (!root) throw new Error("index.html has no #root");
try {
	for await (const pin of pinsOf(client, "gardens")) {
		root.appendChild(document.createElement("li")).append(pin.details ?? "");
	}
} catch (error) {
	root.append(codeOf(error) ?? String(error));
}
