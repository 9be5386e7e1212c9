import type { Browser, Page, Response } from "playwright-core";
import { PAGE_LIMIT_MS } from "./browser.ts";

/** GraphiQL, opened by a fresh visitor, and all that went wrong on the page. */
export interface Visit extends AsyncDisposable {
	readonly page: Page;
	readonly faults: string[];
	/** The addresses of all requests, of the page and its workers. */
	readonly requests: string[];
	/** Presses the button; the response as it came. */
	run(): Promise<Response>;
	/** Opens the page again. What of the old one was still on its way is cut off, which is no fault. */
	reload(): Promise<void>;
}

export async function visitGraphiql(
	browser: Browser,
	url: string,
	options: {
		readonly width?: number;
		readonly height?: number;
		readonly colorScheme?: "light" | "dark";
		/** What the page finds stored: one tab, with this operation. */
		readonly stored?: { readonly name: string; readonly query: string };
		/** Where the page is for operators: whose token to sign in with. */
		readonly operatorToken?: string;
	} = {},
): Promise<Visit> {
	const { width = 1280, height = 800, colorScheme = "light" } = options;
	const context = await browser.newContext({
		viewport: { width, height },
		colorScheme,
	});
	const page = await context.newPage();
	page.setDefaultTimeout(PAGE_LIMIT_MS);
	const faults: string[] = [];
	const requests: string[] = [];
	page.on("console", (message) => {
		if (message.type() === "error" || message.type() === "warning") {
			faults.push(message.text());
		}
	});
	page.on("pageerror", (error) => faults.push(String(error)));
	let leaving = false;
	page.on("requestfailed", (request) => {
		const reason = request.failure()?.errorText;
		if (leaving && reason === "net::ERR_ABORTED") return;
		faults.push(`${request.url()}: ${reason}`);
	});
	page.on("response", (response) => {
		if (response.status() >= 400) {
			faults.push(`${response.status()} ${response.url()}`);
		}
	});
	context.on("request", (request) => requests.push(request.url()));
	await page.addInitScript(() => {
		document.addEventListener("securitypolicyviolation", (event) => {
			console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`);
		});
	});
	if (options.stored) {
		const { name, query } = options.stored;
		const tab = {
			id: "1",
			hash: null,
			title: name,
			query,
			variables: null,
			headers: null,
			operationName: name,
			response: null,
		};
		const state = { activeTabIndex: 0, tabs: [tab] };
		await page.addInitScript(
			(text) => localStorage.setItem("graphiql:tabState", text),
			JSON.stringify(state),
		);
	}
	await page.goto(`${url}/graphql`);
	if (options.operatorToken !== undefined) {
		await page.getByLabel("An operator's token").fill(options.operatorToken);
		await page.getByRole("button", { name: "Sign in" }).click();
	}
	await editorOf(page);
	return {
		page,
		faults,
		requests,
		async run() {
			const answered = page.waitForResponse(
				(response) => response.request().method() === "POST",
			);
			await page.getByRole("button", { name: "Execute query" }).click();
			return answered;
		},
		async reload() {
			leaving = true;
			await page.reload();
			await editorOf(page);
			leaving = false;
		},
		[Symbol.asyncDispose]: () => context.close(),
	};
}

async function editorOf(page: Page): Promise<void> {
	await page.locator(".graphiql-query-editor .view-line").first().waitFor();
}
