import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Browser, Page } from "playwright-core";
import { preview } from "vite";
import { PAGE_LIMIT_MS } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { compileArtifacts, PINBOARD } from "./artifacts.ts";

const ROOT = join(import.meta.dirname, "../..");
/** Time limit (ms) of a command, long enough for a busy machine. */
const LIMIT_MS = 240_000;

export interface Pinboard extends AsyncDisposable {
	readonly url: string;
}

/** Runs a package's command, by default in the example's folder. */
export async function run(
	command: string,
	args: readonly string[],
	{
		cwd = PINBOARD,
		env = {},
	}: { readonly cwd?: string; readonly env?: Record<string, string> } = {},
): Promise<string> {
	const { stdout } = await promisify(execFile)(
		join(ROOT, "node_modules/.bin", command),
		args,
		{
			cwd,
			env: {
				...process.env,
				PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH}`,
				...env,
			},
			timeout: LIMIT_MS,
		},
	);
	return stdout;
}

/** Builds the example for one API and serves it. */
export async function servePinboard(options: {
	readonly api: string;
	/** A folder of artifacts from another compiler configuration. */
	readonly artifacts?: string;
}): Promise<Pinboard> {
	const folder = temporaryFolder();
	try {
		if (options.artifacts === undefined) compileArtifacts();
		await run(
			"vite",
			["build", "--configLoader", "native", "--outDir", folder.path],
			{
				env: {
					NODE_ENV: "production",
					VITE_API_URL: options.api,
					...(options.artifacts ? { RELAY_ARTIFACTS: options.artifacts } : {}),
				},
			},
		);
		const server = await preview({
			configFile: false,
			root: PINBOARD,
			build: { outDir: folder.path },
			preview: { host: "127.0.0.1", port: 0 },
			logLevel: "silent",
		});
		return {
			url: server.resolvedUrls?.local[0] ?? "",
			async [Symbol.asyncDispose]() {
				await server.close();
				folder[Symbol.dispose]();
			},
		};
	} catch (error) {
		folder[Symbol.dispose]();
		throw error;
	}
}

/** Compiles the example's documents to persisted ids: the artifacts, and the server's document file. */
export async function compilePersisted(
	folder: string,
): Promise<{ readonly artifacts: string; readonly file: string }> {
	const config = JSON.parse(
		readFileSync(join(PINBOARD, "relay.persisted.json"), "utf8"),
	);
	cpSync(join(PINBOARD, "src"), join(folder, "src"), {
		recursive: true,
		filter: (path) => !path.includes("__generated__"),
	});
	cpSync(join(PINBOARD, config.schema), join(folder, "public.graphql"));
	mkdirSync(join(folder, config.artifactDirectory));
	writeFileSync(
		join(folder, "relay.json"),
		JSON.stringify({ ...config, schema: "./public.graphql" }),
	);
	const file = join(folder, config.persistConfig.file);
	writeFileSync(file, "{}");
	await run("relay-compiler", ["relay.json"], { cwd: folder });
	return { artifacts: join(folder, config.artifactDirectory), file };
}

export interface Visit {
	readonly page: Page;
	/** The page's requests to the API, in order. */
	readonly asked: readonly Asked[];
	/** The URLs of all the page's requests. */
	readonly addresses: readonly string[];
	/** The page's console warnings and errors, and its uncaught exceptions. */
	readonly faults: string[];
}

export interface Asked {
	readonly id?: string;
	readonly query?: string;
	readonly operationName: string;
	readonly variables: Readonly<Record<string, unknown>>;
}

/** Opens the page in a new browser context on a wide screen, logged in with a token if one is given. */
export async function visit(
	browser: Browser,
	address: string,
	token?: string,
): Promise<Visit> {
	const context = await browser.newContext({
		viewport: { width: 1280, height: 900 },
	});
	if (token !== undefined) {
		await context.addInitScript(
			(text) => sessionStorage.setItem("pinboard-token", text),
			token,
		);
	}
	const page = await context.newPage();
	page.setDefaultTimeout(PAGE_LIMIT_MS);
	const asked: Asked[] = [];
	const addresses: string[] = [];
	const faults: string[] = [];
	page.on("request", (request) => {
		addresses.push(request.url());
		if (request.method() === "POST") asked.push(request.postDataJSON());
	});
	page.on("console", (message) => {
		if (message.type() === "error" || message.type() === "warning") {
			faults.push(message.text());
		}
	});
	page.on("pageerror", (error) => faults.push(String(error)));
	await page.goto(address);
	return { page, asked, addresses, faults };
}

export async function logIn(page: Page, token: string): Promise<void> {
	await page.getByRole("button", { name: "Log in" }).click();
	const dialog = page.getByRole("dialog");
	await dialog.getByLabel("Token").fill(token);
	await dialog.getByRole("button", { name: "Log in" }).click();
}

/** Scrolls a page of pins to its end and returns the ids of the shown pins. */
export async function scrollToEnd(page: Page): Promise<readonly string[]> {
	const end = page.getByText("That is all.");
	await page.locator(".card").first().waitFor();
	await until("the end of the page", async () => {
		await page.mouse.wheel(0, 3_000);
		await page.waitForTimeout(50);
		return end.isVisible();
	});
	return page
		.locator("[data-pin]")
		.evaluateAll((cards) =>
			cards.map((card) => card.getAttribute("data-pin") ?? ""),
		);
}
