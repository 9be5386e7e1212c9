import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { build } from "esbuild";
import type { Browser, Page } from "playwright-core";
import { openBrowser } from "../helpers/browser.ts";
import { type DemoServer, serveDemo } from "./demo.ts";
import { longBoard } from "./lists.ts";

describe("clients in React, in a browser", { timeout: 120_000 }, () => {
	let browser: Browser;
	let demo: DemoServer;
	/** An empty page on localhost: those may ask in development. */
	const host = createServer((_request, response) => {
		response.setHeader("content-type", "text/html");
		response.end(
			'<!doctype html><html><head><link rel="icon" href="data:,"></head><body></body></html>',
		);
	});
	let origin: string;
	before(async () => {
		[browser, demo] = await Promise.all([openBrowser(), serveDemo()]);
		host.listen(0, "127.0.0.1");
		await once(host, "listening");
		origin = `http://localhost:${(host.address() as AddressInfo).port}`;
	});
	after(async () => {
		await browser?.close();
		host.closeAllConnections();
		host.close();
		await demo?.[Symbol.asyncDispose]();
	});

	for (const name of ["apollo", "urql"]) {
		it(`${name} pages through a board with its hooks, each pin once and in order`, async () => {
			const board = await longBoard(demo.url);
			const { page, faults } = await open(name, board.id, demo.token);
			const shown = page.locator("li");
			const more = page.getByRole("button", { name: "More" });
			let read = 10;
			for (; read < board.pins.length; read += 10) {
				await shown.nth(read - 1).waitFor();
				assert.equal(await shown.count(), read);
				await more.click();
			}
			await shown.nth(board.pins.length - 1).waitFor();
			assert.deepEqual(await shown.allTextContents(), board.pins);
			assert.equal(await more.count(), 0);
			assert.deepEqual(faults, []);
			await page.context().close();
		});

		it(`${name} shows the code of an error, and what there is not`, async () => {
			const refused = await open(name, "1", `${demo.token}x`);
			await refused.page
				.getByRole("alert")
				.filter({ hasText: "UNAUTHENTICATED" })
				.waitFor();
			await refused.page.context().close();
			const { page } = await open(name, "1", null);
			await page.getByText("There is no such board.").waitFor();
			await page.context().close();
		});
	}

	async function open(
		name: string,
		board: string,
		token: string | null,
	): Promise<{ readonly page: Page; readonly faults: string[] }> {
		const { outputFiles } = await build({
			entryPoints: [join(import.meta.dirname, name, "page.tsx")],
			bundle: true,
			write: false,
			format: "esm",
			jsx: "automatic",
			define: { "process.env.NODE_ENV": '"production"' },
		});
		const context = await browser.newContext();
		const page = await context.newPage();
		page.setDefaultTimeout(20_000);
		const faults: string[] = [];
		page.on("console", (message) => {
			if (message.type() === "error") faults.push(message.text());
		});
		page.on("pageerror", (error) => faults.push(String(error)));
		await page.goto(origin);
		await page.evaluate((state) => history.replaceState(state, ""), {
			url: demo.url,
			token,
			board,
		});
		await page.addScriptTag({
			type: "module",
			content: outputFiles[0]?.text ?? "",
		});
		return { page, faults };
	}
});
