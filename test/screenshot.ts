/**
 * `npm run screenshot`: writes docs/images/graphiql-explain.png, GraphiQL with
 * the Explain view of the demo's first query, and docs/images/pinboard.png, the
 * example app. `-- --dark FILE` writes GraphiQL's dark theme to FILE instead,
 * for a look.
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import {
	logIn,
	visit as openPinboard,
	servePinboard,
} from "./examples/pinboard.ts";
import { openBrowser } from "./helpers/browser.ts";
import { serveDemo } from "./helpers/demoServer.ts";
import { visitGraphiql } from "./helpers/graphiqlPage.ts";
import { temporaryFolder } from "./helpers/temporaryFolder.ts";

const README_IMAGE = join(
	import.meta.dirname,
	"../docs/images/graphiql-explain.png",
);

const PINBOARD_IMAGE = join(import.meta.dirname, "../docs/images/pinboard.png");

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

if (dark === undefined) {
	await using pinboard = await servePinboard({ api: `${demo.url}/graphql` });
	const { page } = await openPinboard(browser, pinboard.url);
	await logIn(page, demo.token);
	await page.getByRole("button", { name: "Create" }).waitFor();
	await page.locator(".card").nth(11).waitFor();
	// A card that shows its button.
	await page.locator(".card").nth(1).locator(".frame").hover();
	await page.evaluate(() => scrollTo(0, 0));
	await page.locator(".card .save").nth(1).evaluate(shown);
	await page.screenshot({ path: PINBOARD_IMAGE });
}

/** Resolves when transitions have ended. */
async function shown(element: Element): Promise<void> {
	await Promise.all(element.getAnimations().map(({ finished }) => finished));
}
