import { join } from "node:path";
import type { Plugin } from "vite";

const TAG = /\bgraphql`\s*(?:query|mutation|fragment)\s+(\w+)[^`]*`/g;

/**
 * Replaces each graphql`…` tag by the compiler's artifact, as babel-plugin-relay
 * does, but without Babel: that plugin brings a second copy of graphql.
 */
export function relayTags(artifacts: string): Plugin {
	return {
		name: "relay-tags",
		enforce: "pre",
		transform: {
			filter: { id: /\.tsx?$/, code: "graphql`" },
			handler(source) {
				const names = new Set<string>();
				const code = source.replace(TAG, (tag, name: string) => {
					names.add(name);
					// Line numbers stay the same, so no source map is needed.
					return `${name}_artifact${tag.replace(/[^\n]/g, "")}`;
				});
				const imports = [...names].map(
					(name) =>
						`import ${name}_artifact from ${JSON.stringify(join(artifacts, `${name}.graphql.ts`))};`,
				);
				return { code: imports.join(" ") + code, map: null };
			},
		},
	};
}
