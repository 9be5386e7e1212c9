import assert from "node:assert/strict";
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { Browser, BrowserContext, Page, Route } from "playwright-core";
import { preview } from "vite";
import { run } from "../examples/pinboard.ts";
import { openBrowser, PAGE_LIMIT_MS } from "../helpers/browser.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { until } from "../helpers/until.ts";
import { type DemoServer, serveDemo } from "./demo.ts";
import { plainly } from "./lists.ts";
import { filesOf, installed, readPage } from "./pasted.ts";

const ROOT = join(import.meta.dirname, "../..");
const PAGE = readPage("docs/frontends/react-native.md");

/** What a phone has, and a browser lacks: stores that outlive a reload. */
const NATIVE: Readonly<Record<string, string>> = {
	"async-storage.ts": `const at = (key: string) => \`plain:\${key}\`;
export default {
	getItem: async (key: string) => localStorage.getItem(at(key)),
	setItem: async (key: string, value: string) => localStorage.setItem(at(key), value),
	removeItem: async (key: string) => localStorage.removeItem(at(key)),
};`,
	"expo-secure-store.ts": `const at = (key: string) => \`secure:\${key}\`;
export const AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY = 1;
export const getItemAsync = async (key: string) => localStorage.getItem(at(key));
export const setItemAsync = async (key: string, value: string, { keychainAccessible }: { keychainAccessible: number }) => {
	if (keychainAccessible !== AFTER_FIRST_UNLOCK_THIS_DEVICE_ONLY) throw new Error("not for the background");
	localStorage.setItem(at(key), value);
};
export const deleteItemAsync = async (key: string) => localStorage.removeItem(at(key));`,
};

const PROJECT: Readonly<Record<string, string>> = {
	...NATIVE,
	"package.json": '{ "type": "module" }',
	"index.html": `<!doctype html><html style="height: 100%"><head><link rel="icon" href="data:,"></head>
<body style="height: 100%; margin: 0"><div id="root" style="display: flex; height: 100%"></div><script type="module" src="/main.tsx"></script></body></html>`,
	// React Native's own fetch, and none of what Hermes and React Native lack.
	"main.tsx": `import "./phone.ts";
import { AppRegistry } from "react-native";
import App from "./App.tsx";
AppRegistry.registerComponent("app", () => App);
AppRegistry.runApplication("app", { rootTag: document.getElementById("root") });`,
	"phone.ts": `Reflect.deleteProperty(globalThis, "fetch");
for (const name of ["any", "timeout"]) Reflect.deleteProperty(AbortSignal, name);
Reflect.deleteProperty(Crypto.prototype, "randomUUID");
Reflect.deleteProperty(globalThis, "TextDecoder");
await import("whatwg-fetch");
export {};`,
	"vite.config.ts": `import react from "@vitejs/plugin-react";
const here = (path: string) => new URL(path, import.meta.url).pathname;
export default {
	plugins: [react()],
	build: { target: "es2022" },
	define: { "process.env.EXPO_PUBLIC_API_URL": JSON.stringify(process.env.EXPO_PUBLIC_API_URL), "process.env.NODE_ENV": '"production"' },
	resolve: { alias: {
		"react-native": "react-native-web",
		"@react-native-async-storage/async-storage": here("./async-storage.ts"),
		"expo-secure-store": here("./expo-secure-store.ts"),
	} },
};`,
};

/** The app of the page, with the files that it has copied. */
function filesOfPage(): Readonly<Record<string, string>> {
	const [, app = ""] =
		/^## App\.tsx$[\s\S]*?^```tsx\n([\s\S]*?)^```$/m.exec(PAGE) ?? [];
	const [, copied = ""] =
		/^ {4}cp \.\.\/corkboard\/(.*) src\/$/m.exec(PAGE) ?? [];
	const wanted = copied
		.split(" ")
		.flatMap((part) =>
			/^(.*)\{(.*)\}(.*)$/.exec(part) === null
				? [part]
				: part
						.replace(/^(.*)\{(.*)\}(.*)$/, (_, before, names, end) =>
							names
								.split(",")
								.map((name: string) => `${before}${name}${end}`)
								.join(" "),
						)
						.split(" "),
		)
		.map((path) => path.split("/").at(-1));
	const files = [...filesOf("shared"), ...filesOf("apollo")].filter(
		({ path }) => wanted.includes(path.split("/").at(-1)),
	);
	assert.equal(files.length, 3);
	return {
		"App.tsx": app,
		...Object.fromEntries(files.map(({ path, text }) => [path, text])),
	};
}

describe("the app of docs/frontends/react-native.md, with react-native-web and React Native's fetch", () => {
	const stack = new AsyncDisposableStack();
	let browser: Browser;
	let demo: DemoServer;
	let address = "";
	before(async () => {
		[browser, demo] = await Promise.all([openBrowser(), serveDemo()]);
		stack.use(demo);
		stack.defer(() => browser.close());
		const folder = stack.use(temporaryFolder());
		symlinkSync(join(ROOT, "node_modules"), join(folder.path, "node_modules"));
		const files = { ...PROJECT, ...filesOfPage() };
		for (const [path, text] of Object.entries(files)) {
			mkdirSync(dirname(join(folder.path, path)), { recursive: true });
			writeFileSync(join(folder.path, path), text);
		}
		await run("vite", ["build", "--configLoader", "native"], {
			cwd: folder.path,
			env: { NODE_ENV: "production", EXPO_PUBLIC_API_URL: demo.url },
		});
		const server = await preview({
			configFile: false,
			root: folder.path,
			preview: { host: "127.0.0.1", port: 0 },
			logLevel: "silent",
		});
		stack.defer(() => server.close());
		address = server.resolvedUrls?.local[0] ?? "";
	});
	after(() => stack.disposeAsync());

	interface Phone extends AsyncDisposable {
		readonly context: BrowserContext;
		readonly page: Page;
		/** `after` of each request for pins. */
		readonly pages: (string | null)[];
		/** Bodies of requests with mutations. */
		readonly mutations: string[];
		readonly faults: string[];
	}

	/** The app on a new phone. */
	async function installApp(): Promise<Phone> {
		const context = await browser.newContext({
			viewport: { width: 390, height: 844 },
			hasTouch: true,
		});
		const page = await context.newPage();
		page.setDefaultTimeout(PAGE_LIMIT_MS);
		const pages: (string | null)[] = [];
		const mutations: string[] = [];
		const faults: string[] = [];
		page.on("request", (request) => {
			const body = request.postData() ?? "";
			if (/query Pins/.test(body)) {
				pages.push(JSON.parse(body).variables.after ?? null);
			}
			if (/mutation/.test(body)) mutations.push(body);
		});
		page.on("pageerror", (error) => faults.push(String(error)));
		await page.goto(address);
		return {
			context,
			page,
			pages,
			mutations,
			faults,
			[Symbol.asyncDispose]: () => context.close(),
		};
	}

	async function signIn(page: Page, token = demo.token): Promise<void> {
		await page.getByLabel("Token").fill(token);
		await page.getByRole("button", { name: "Sign in" }).click();
	}

	/** Puts the app into the background, or back. */
	function show(page: Page, state: "hidden" | "visible"): Promise<void> {
		return page.evaluate((state) => {
			Object.defineProperty(document, "visibilityState", {
				value: state,
				configurable: true,
			});
			document.dispatchEvent(new Event("visibilitychange"));
		}, state);
	}

	const stored = (page: Page) =>
		page.evaluate(() => ({ ...localStorage }) as Record<string, string>);

	const pins = async () => {
		const { interest } = await plainly(demo.url).data<{
			interest: { pins: { nodes: { details: string }[] } };
		}>(
			`{ interest(by: {slug: "gardens"}) { pins(first: 100) { nodes { details } } } }`,
		);
		return interest.pins.nodes.map(({ details }) => details);
	};

	const likes = (page: Page) =>
		page.getByRole("button", { name: /^Like \d+$/ });

	it("signs in, and reads each page of the list once while it is scrolled to its end", async () => {
		await using phone = await installApp();
		const { page, pages, faults } = phone;
		await signIn(page);
		const all = await pins();
		await likes(page).first().waitFor();
		const seen = new Set<string>();
		const texts = new Set(all);
		let steps = 0;
		await until("the end of the list", async () => {
			for (const text of await page
				.locator("[data-testid=pin], div[dir=auto]")
				.allTextContents()) {
				if (texts.has(text)) seen.add(text);
			}
			await page.mouse.move(195, 400);
			// The list shows what is near alone. A busy machine may be late with it: then it is met on the way back.
			const isDown = pages.length < 8 || steps++ % 80 < 40;
			await page.mouse.wheel(0, isDown ? 500 : -500);
			await page.waitForTimeout(60);
			return new Set(pages).size === 8 && seen.size === texts.size;
		});
		assert.equal(pages[0], null);
		assert.equal(new Set(pages).size, pages.length);
		assert.deepEqual(faults, []);
	});

	it("keeps the token apart from the cache, and nothing of either after a sign-out", async () => {
		await using phone = await installApp();
		const { page } = phone;
		await signIn(page);
		await likes(page).first().waitFor();
		await show(page, "hidden");
		await until("the cache kept", async () =>
			Object.keys(await stored(page)).includes("plain:corkboard-cache-1"),
		);
		const { "secure:corkboard-token": token, ...rest } = await stored(page);
		assert.equal(token, demo.token);
		assert.ok(!JSON.stringify(rest).includes(demo.token));
		await show(page, "visible");
		await page.getByRole("button", { name: "Sign out" }).click();
		await page.getByLabel("Token").waitFor();
		await until(
			"nothing kept",
			async () =>
				String(Object.keys(await stored(page))) === "plain:corkboard-installed",
		);
		await page.reload();
		await page.getByLabel("Token").waitFor();
	});

	it("shows what it kept when it starts without a network, and goes on when the network is back", async () => {
		await using phone = await installApp();
		const { page } = phone;
		await signIn(page);
		await likes(page).nth(3).waitFor();
		await show(page, "hidden");
		await until("the cache kept", async () =>
			Object.keys(await stored(page)).includes("plain:corkboard-cache-1"),
		);
		await page.route(demo.url, (route) => route.abort());
		await page.reload();
		await page.getByText("The server does not answer.").waitFor();
		await likes(page).nth(3).waitFor();
		await page.unroute(demo.url);
		await page.getByRole("button", { name: "Try again" }).click();
		await page
			.getByText("The server does not answer.")
			.waitFor({ state: "detached" });
		await likes(page).nth(3).waitFor();
	});

	it("keeps no cache that the store cannot read again", async () => {
		await using phone = await installApp();
		const { page } = phone;
		await page.route(demo.url, async (route) => {
			const response = await route.fetch();
			const body = await response.json();
			const [first] = body.data.interest.pins.edges;
			first.node.details = "x".repeat(1_000_001);
			await route.fulfill({ response, json: body });
		});
		await signIn(page);
		await likes(page).first().waitFor();
		// As an earlier version of the app may have left it.
		await page.evaluate(() =>
			localStorage.setItem("plain:corkboard-cache-1", "{}"),
		);
		await show(page, "hidden");
		await until(
			"no cache",
			async () =>
				!Object.keys(await stored(page)).includes("plain:corkboard-cache-1"),
		);
	});

	it("starts with a cache that is damaged", async () => {
		await using phone = await installApp();
		const { page } = phone;
		await signIn(page);
		await likes(page).first().waitFor();
		await page.evaluate(() =>
			localStorage.setItem("plain:corkboard-cache-1", "{ half"),
		);
		await page.reload();
		await likes(page).first().waitFor();
	});

	it("sends a query again that was under way in the background and never ended", async () => {
		await using phone = await installApp();
		const { page, pages } = phone;
		const frozen = Promise.withResolvers<Route>();
		await page.route(demo.url, (route) => frozen.resolve(route), { times: 1 });
		await signIn(page);
		await frozen.promise;
		assert.equal(await likes(page).count(), 0);
		await show(page, "hidden");
		await show(page, "visible");
		await likes(page).first().waitFor();
		assert.deepEqual(pages, [null, null]);
	});

	/** The button of the first pin that is not liked. */
	async function firstUnliked(page: Page) {
		await likes(page).first().waitFor();
		for (const [at, button] of (await likes(page).all()).entries()) {
			if (!(await button.isEnabled())) continue;
			const text = (await button.textContent()) ?? "";
			// The list grows at its end only.
			return { button: likes(page).nth(at), text };
		}
		throw new Error("expected a pin that is not liked");
	}

	it("does not send a mutation again, and ends one without a response", async () => {
		await using phone = await installApp();
		const { page, mutations } = phone;
		await page.clock.install();
		await signIn(page);
		const { button, text } = await firstUnliked(page);
		const frozen = Promise.withResolvers<void>();
		await page.route(demo.url, (route) =>
			/mutation/.test(route.request().postData() ?? "")
				? frozen.resolve()
				: route.continue(),
		);
		await button.click();
		await frozen.promise;
		await until("the like shown at once", () => button.isDisabled());
		await show(page, "hidden");
		await show(page, "visible");
		await page.clock.runFor(21_000);
		await page.getByText("The server does not answer.").waitFor();
		assert.equal(mutations.length, 1);
		assert.equal(await button.textContent(), text);
	});

	it("likes at once, and the like stays in what is kept", async () => {
		await using phone = await installApp();
		const { page, faults } = phone;
		await signIn(page);
		const { button, text } = await firstUnliked(page);
		const answered = page.waitForResponse((response) =>
			/mutation Like/.test(response.request().postData() ?? ""),
		);
		await button.click();
		assert.equal((await answered).status(), 200);
		await until("the pin liked", () => button.isDisabled());
		assert.equal(
			await button.textContent(),
			`Like ${Number(text.split(" ")[1]) + 1}`,
		);
		await show(page, "hidden");
		await until("the like kept", async () =>
			/"viewerLikes":true/.test(
				(await stored(page))["plain:corkboard-cache-1"] ?? "",
			),
		);
		assert.deepEqual(faults, []);
	});

	it("leads who has a token that is refused to the sign-in", async () => {
		await using phone = await installApp();
		const { page } = phone;
		await signIn(page, `${demo.token}x`);
		await page.getByRole("button", { name: "Sign in again" }).click();
		await page.getByLabel("Token").waitFor();
	});

	it("is signed out after an installation, whatever the keychain kept of an earlier one", async () => {
		await using phone = await installApp();
		const { page } = phone;
		await page.evaluate((token) => {
			localStorage.clear();
			localStorage.setItem("secure:corkboard-token", token);
		}, demo.token);
		await page.reload();
		await page.getByLabel("Token").waitFor();
		assert.deepEqual(Object.keys(await stored(page)), [
			"plain:corkboard-installed",
		]);
	});

	it("reaches the API by the address that an Android emulator has for its host, without an origin", async () => {
		const { port } = new URL(demo.url);
		const body = JSON.stringify({ query: "{ viewer { username } }" });
		const { promise, resolve, reject } = Promise.withResolvers<string>();
		request(
			{
				host: "127.0.0.1",
				port,
				path: "/graphql",
				method: "POST",
				headers: {
					host: `10.0.2.2:${port}`,
					"content-type": "application/json",
					authorization: `Bearer ${demo.token}`,
				},
			},
			async (response) => resolve((await response.toArray()).join("")),
		)
			.on("error", reject)
			.end(body);
		assert.deepEqual(JSON.parse(await promise), {
			data: { viewer: { username: "marigold_01" } },
		});
	});

	it("has the versions installed that run here", () => {
		const { dependencies, devDependencies } = JSON.parse(
			readFileSync(join(ROOT, "package.json"), "utf8"),
		);
		const ours = { ...dependencies, ...devDependencies };
		const named = installed(PAGE);
		assert.ok(named.size >= 3);
		for (const [name, version] of named)
			assert.equal(version, ours[name], name);
	});
});
