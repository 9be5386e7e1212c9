import { join } from "node:path";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";
import { relayTags } from "./relayTags.ts";

const root = import.meta.dirname;

export default defineConfig({
	root,
	plugins: [
		relayTags(process.env.RELAY_ARTIFACTS ?? join(root, "src/__generated__")),
		react(),
	],
	// A single page: React, Relay and the app in one chunk.
	build: { chunkSizeWarningLimit: 700 },
});
