import { relative } from "node:path";
import { ROOT } from "./assetFolder.ts";
import { buildGraphiql } from "./buildGraphiql.ts";

// `npm run build:graphiql`
const assets = await buildGraphiql();
if (assets === null) {
	console.error(
		"Cannot build GraphiQL: the development packages are not installed. Run npm ci first.",
	);
	process.exitCode = 1;
} else {
	console.log(relative(ROOT, assets.folder));
}
