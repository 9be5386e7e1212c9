import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { axeFindings } from "../helpers/axeFindings.ts";
import { openBrowser } from "../helpers/browser.ts";
import { type DemoServer, serveDemo } from "../helpers/demoServer.ts";
import { type Visit, visitGraphiql } from "../helpers/graphiqlPage.ts";

/** Presses the button of GraphiQL's side bar, and waits for what it opens. */
const opens =
	(button: RegExp, shown: string) =>
	async ({ page }: Visit) => {
		await page.getByLabel(button).first().click();
		await page.locator(shown).first().waitFor();
	};

const VIEWS: Readonly<Record<string, (visit: Visit) => Promise<unknown>>> = {
	"the editors": async () => {},
	"a response": async (visit) => {
		await visit.run();
		await visit.page
			.locator(".graphiql-response .view-line", { hasText: "127" })
			.waitFor();
	},
	"the Explain view": async (visit) => {
		const { page } = visit;
		await page.getByRole("tab", { name: "Explain", exact: true }).click();
		await visit.run();
		await page.getByRole("heading", { name: "query Welcome" }).waitFor();
	},
	"the documentation": opens(
		/Documentation Explorer/,
		".graphiql-doc-explorer-type-name",
	),
	"the history": opens(/History/, ".graphiql-history"),
	"the Field Explorer": opens(/Field Explorer/, ".graphiql-explorer-root"),
	"the settings": opens(/settings dialog/i, ".graphiql-dialog"),
	"the short keys": opens(/short keys/i, ".graphiql-dialog"),
};

describe("GraphiQL", () => {
	let browser: Browser;
	let demo: DemoServer;
	before(async () => {
		[browser, demo] = await Promise.all([openBrowser(), serveDemo()]);
	});
	after(async () => {
		await browser?.close();
		await demo?.[Symbol.asyncDispose]();
	});

	for (const [screen, width, height] of [
		["desktop", 1280, 800],
		["phone", 390, 844],
	] as const) {
		for (const colorScheme of ["light", "dark"] as const) {
			it(`has no finding of axe in any view, and is as wide as the window: ${screen}, ${colorScheme}`, async () => {
				const found: string[] = [];
				for (const [name, reach] of Object.entries(VIEWS)) {
					await using visit = await visitGraphiql(browser, demo.url, {
						width,
						height,
						colorScheme,
					});
					const { page } = visit;
					await page.emulateMedia({ reducedMotion: "reduce" });
					await reach(visit);
					const findings = await axeFindings(page);
					found.push(...findings.map((one) => `${name}: ${one}`));
					const wider = await page.evaluate(
						() => document.documentElement.scrollWidth - innerWidth,
					);
					if (wider > 0) found.push(`${name}: ${wider} px too wide`);
				}
				assert.deepEqual(found, []);
			});
		}
	}
});
