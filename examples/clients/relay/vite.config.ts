import react from "@vitejs/plugin-react";
import { defineConfig, type Plugin } from "vite";

const TAG = /\bgraphql`\s*(?:query|mutation|fragment)\s+(\w+)[^`]*`/g;

const relay: Plugin = {
	name: "relay",
	enforce: "pre",
	transform(source, id) {
		if (!/\.tsx?$/.test(id) || !source.includes("graphql`")) return null;
		const names = new Set<string>();
		const code = source.replace(TAG, (tag, name: string) => {
			names.add(name);
			// Keeps line numbers, so no source map is needed.
			return `${name}_artifact${tag.replace(/[^\n]/g, "")}`;
		});
		const imports = [...names].map(
			(name) =>
				`import ${name}_artifact from "/src/__generated__/${name}.graphql.ts";`,
		);
		return { code: imports.join(" ") + code, map: null };
	},
};

export default defineConfig({ plugins: [relay, react()] });
