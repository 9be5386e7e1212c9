import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser } from "playwright-core";
import { type DemoServer, serveDemo } from "../clients/demo.ts";
import { axeFindings } from "../helpers/axeFindings.ts";
import { openBrowser } from "../helpers/browser.ts";
import { type Pinboard, servePinboard } from "./pinboard.ts";
import { openPlace, type Place, places, SCREENS } from "./places.ts";

/** A folder for a picture of each, to look at: `PICTURES=FOLDER npm test -- examples/looks`. */
const { PICTURES } = process.env;

describe("each page, form and message of Pinboard", () => {
	let browser: Browser;
	let demo: DemoServer;
	let pinboard: Pinboard;
	let all: readonly Place[];
	before(async () => {
		[browser, demo] = await Promise.all([openBrowser(), serveDemo()]);
		pinboard = await servePinboard({ api: demo.url });
		all = await places(demo);
	});
	after(async () => {
		await browser?.close();
		await pinboard?.[Symbol.asyncDispose]();
		await demo?.[Symbol.asyncDispose]();
	});

	for (const screen of SCREENS) {
		it(`has no finding of axe, in light and dark, and is as wide as the window: ${screen.name}`, async () => {
			assert.ok(all.length > 40);
			const found: string[] = [];
			const queue = all.values();
			// Four at a time: a page waits more than it computes.
			await Promise.all(
				[1, 2, 3, 4].map(async () => {
					for (const place of queue) found.push(...(await look(place, screen)));
				}),
			);
			assert.deepEqual(found, []);
		});
	}

	/** What is wrong with a place in a window, in both themes. */
	async function look(
		place: Place,
		screen: (typeof SCREENS)[number],
	): Promise<readonly string[]> {
		const found: string[] = [];
		const { page, context } = await openPlace(
			browser,
			pinboard.url,
			place,
			screen,
		);
		for (const colorScheme of ["light", "dark"] as const) {
			await page.emulateMedia({ colorScheme });
			const name = `${place.name}, ${screen.name}, ${colorScheme}`;
			if (PICTURES) {
				await page.screenshot({ path: join(PICTURES, `${name}.png`) });
			}
			const findings = await axeFindings(page);
			found.push(...findings.map((one) => `${name}: ${one}`));
		}
		const width = await page.evaluate(
			() => document.documentElement.scrollWidth - innerWidth,
		);
		if (width > 0) found.push(`${place.name}: ${width} px too wide`);
		await context.close();
		return found;
	}
});
