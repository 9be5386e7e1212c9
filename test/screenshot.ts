/**
 * `npm run screenshot`: writes docs/images/graphiql-explain.png, GraphiQL with
 * the Explain view of the demo's first query. `-- --dark FILE` writes the dark
 * theme to FILE instead, for a look.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { openBrowser } from "./helpers/browser.ts";
import { serveDemo } from "./helpers/demoServer.ts";
import { visitGraphiql } from "./helpers/graphiqlPage.ts";
import { temporaryFolder } from "./helpers/temporaryFolder.ts";

const README_IMAGE = join(
	import.meta.dirname,
	"../docs/images/graphiql-explain.png",
);

const { dark } = parseArgs({ options: { dark: { type: "string" } } }).values;

using data = temporaryFolder();
const env = { CORKBOARD_DATA: data.path };
// Makes the demo graph. The next server starts with empty caches, so its first
// execution sends statements.
await (await serveDemo(env))[Symbol.asyncDispose]();
await using demo = await serveDemo(env);
await using browser = await openBrowser();
await using visit = await visitGraphiql(browser, demo.url, {
	colorScheme: dark === undefined ? "light" : "dark",
});
const { page } = visit;
await page.getByRole("tab", { name: "Explain", exact: true }).click();
await visit.run();
await page.getByRole("heading", { name: "query Welcome" }).waitFor();
await page.evaluate(() => document.fonts.ready);
await page.mouse.move(0, 0);
await page.screenshot({ path: dark ?? README_IMAGE });
