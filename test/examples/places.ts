import type { Browser, BrowserContext, Page } from "playwright-core";
import type { DemoServer } from "../clients/demo.ts";
import { longBoard } from "../clients/lists.ts";
import { PAGE_LIMIT_MS } from "../helpers/browser.ts";
import { newUser } from "./newUser.ts";

/** The windows in which a page is looked at. */
export const SCREENS = [
	{ name: "desktop", width: 1280, height: 900, hasTouch: false },
	{ name: "phone", width: 390, height: 844, hasTouch: true },
] as const;

/** A page, a form or a message of Pinboard, and how one gets to it from its address. */
export interface Place {
	readonly name: string;
	/** The part of the address after #. */
	readonly address: string;
	readonly token: string | null;
	reach(page: Page): Promise<void>;
}

/** All of Pinboard: each page, each form, and what it shows while it waits and when something fails. */
export async function places(demo: DemoServer): Promise<readonly Place[]> {
	const { url, token } = demo;
	const board = await longBoard(url);
	const maker = await newUser(url, "looks_at_pinboard");
	const button = (page: Page, name: string | RegExp) =>
		page.getByRole("button", { name, exact: true }).first().click();
	const dialog = (page: Page) => page.getByRole("dialog").last();
	const cards = (page: Page) => page.locator(".card").nth(3).waitFor();
	const ownBoard = `/board/${maker.board}`;
	const place = (
		name: string,
		address: string,
		token: string | null,
		reach: Place["reach"],
	): Place => ({ name, address, token, reach });
	/** A form behind a button. */
	const form = (
		name: string,
		address: string,
		open: string | RegExp,
		label: string,
	) =>
		place(name, address, maker.token, async (page) => {
			await button(page, open);
			await dialog(page).getByLabel(label, { exact: true }).waitFor();
		});
	const failing = async (page: Page, status: number) => {
		await page.context().route(url, (route) =>
			route.fulfill({
				status,
				json: { errors: [{ message: "The server is busy.", extensions: {} }] },
				headers: { "access-control-allow-origin": "*" },
			}),
		);
	};
	return [
		place("start", "/", null, cards),
		place("interest", "/interest/baking", token, cards),
		place("missing interest", "/interest/nothing", token, (page) =>
			page.getByRole("heading", { name: "There is no such" }).waitFor(),
		),
		place("home feed", "/home/", token, (page) =>
			page.locator(".why").first().waitFor(),
		),
		place("home feed of nobody", "/home/", null, (page) =>
			page.getByRole("heading", { name: "A feed of your own" }).waitFor(),
		),
		place("empty home feed", "/home/", maker.token, (page) =>
			page
				.getByRole("button", { name: /^Follow / })
				.first()
				.waitFor(),
		),
		place("user", "/user/marigold_01", null, (page) =>
			page.locator(".boards li").first().waitFor(),
		),
		place("user to follow", "/user/basil_02", token, (page) =>
			page
				.getByRole("button", { name: /^(Unf|F)ollow / })
				.first()
				.waitFor(),
		),
		place("own profile", "/user/marigold_01", token, (page) =>
			page.getByRole("button", { name: "Edit profile" }).waitFor(),
		),
		place("missing user", "/user/nobody_at_all", token, (page) =>
			page.getByRole("heading", { name: "There is no such" }).waitFor(),
		),
		place("board", `/board/${board.id}`, null, cards),
		place("own board", ownBoard, maker.token, (page) =>
			page.locator(".card").first().waitFor(),
		),
		place("missing board", "/board/1", token, (page) =>
			page.getByRole("heading", { name: "There is no such" }).waitFor(),
		),
		place("pin", `/board/${board.id}?pin=${board.pins[2]}`, token, (page) =>
			page.getByLabel("Your comment").waitFor(),
		),
		place(
			"pin of an anonymous visitor",
			`/?pin=${board.pins[2]}`,
			null,
			(page) => dialog(page).getByRole("heading").first().waitFor(),
		),
		place("own pin", `${ownBoard}?pin=${maker.pins[0]}`, maker.token, (page) =>
			dialog(page).getByRole("button", { name: "Edit" }).waitFor(),
		),
		place("missing pin", `${ownBoard}?pin=1`, maker.token, (page) =>
			page.getByText("There is no such pin").waitFor(),
		),
		place("log in", "/", null, async (page) => {
			await button(page, "Log in");
			await dialog(page).getByLabel("Token").waitFor();
		}),
		place("sign up", "/", null, async (page) => {
			await button(page, "Log in");
			await dialog(page).getByRole("button", { name: "Sign up" }).click();
			await dialog(page).getByLabel("Username").fill("x y");
			await dialog(page).getByRole("button", { name: "Sign up" }).click();
			await dialog(page).locator("[aria-invalid=true]").first().waitFor();
		}),
		place("interests after a sign-up", "/", null, async (page) => {
			await button(page, "Log in");
			await dialog(page).getByRole("button", { name: "Sign up" }).click();
			await dialog(page)
				.getByLabel("Username")
				.fill(`new_${Math.floor(performance.now())}_${process.pid}`);
			await dialog(page).getByLabel("Name", { exact: true }).fill("Made Up");
			await dialog(page).getByRole("button", { name: "Sign up" }).click();
			await dialog(page)
				.getByRole("button", { name: /^Follow / })
				.first()
				.waitFor();
		}),
		place("search", "/", token, async (page) => {
			await page.getByLabel("Search people").fill("basil");
			await page.locator(".search li").first().waitFor();
		}),
		place("search without a match", "/", token, async (page) => {
			await page.getByLabel("Search people").fill("zzzz");
			await page.locator(".search li.none").waitFor();
		}),
		place("more interests", "/", token, (page) => button(page, "More")),
		form("new pin", ownBoard, "Create", "Title"),
		place("new pin with faults", ownBoard, maker.token, async (page) => {
			await button(page, "Create");
			await dialog(page).getByLabel("Link").fill("nowhere");
			await dialog(page)
				.getByRole("button", { name: "Create", exact: true })
				.click();
			await dialog(page).locator("[aria-invalid=true]").first().waitFor();
		}),
		place("new board", ownBoard, maker.token, async (page) => {
			await button(page, "Create");
			await dialog(page)
				.getByRole("button", { name: "Create a board instead" })
				.click();
			await dialog(page).getByLabel("Name").waitFor();
		}),
		form("edited board", ownBoard, "Edit board", "Name"),
		form("sections", ownBoard, /sections$/, "A new section"),
		form("collaborators", ownBoard, "Collaborators", "Add somebody"),
		form(
			"edited profile",
			`/user/${maker.username}`,
			"Edit profile",
			"Username",
		),
		place(
			"closing an account",
			`/user/${maker.username}`,
			maker.token,
			async (page) => {
				await button(page, "Edit profile");
				await dialog(page)
					.getByRole("button", { name: "Close the account" })
					.click();
				await dialog(page).getByLabel("Your username, to be sure").waitFor();
			},
		),
		place(
			"edited pin",
			`${ownBoard}?pin=${maker.pins[0]}`,
			maker.token,
			async (page) => {
				await dialog(page).getByRole("button", { name: "Edit" }).click();
				await dialog(page).getByLabel("Title").waitFor();
			},
		),
		place(
			"moved pin",
			`${ownBoard}?pin=${maker.pins[0]}`,
			maker.token,
			async (page) => {
				await dialog(page)
					.getByRole("button", { name: "Move", exact: true })
					.click();
				await dialog(page).getByLabel("Where to").waitFor();
			},
		),
		place("saved pin", `/?pin=${board.pins[2]}`, maker.token, async (page) => {
			await dialog(page).locator(".save").click();
			await dialog(page).getByLabel("A new board").waitFor();
		}),
		place("report", `/?pin=${board.pins[2]}`, maker.token, async (page) => {
			await dialog(page)
				.getByRole("button", { name: "Report" })
				.first()
				.click();
			await dialog(page).getByLabel("Why").waitFor();
		}),
		place("block", "/user/basil_02", maker.token, async (page) => {
			await button(page, "Block");
			await dialog(page).getByRole("button", { name: "Block" }).waitFor();
		}),
		place("arranged pins", ownBoard, maker.token, async (page) => {
			await button(page, "Arrange pins");
			await page.locator("[data-arranged]").first().waitFor();
		}),
		place("arranged boards", "/user/marigold_01", token, async (page) => {
			await button(page, "Arrange boards");
			await page.locator("[data-arranged]").first().waitFor();
		}),
		place("message", "/", `${token}x`, (page) =>
			page.getByText("The server did not take that token.").waitFor(),
		),
		place("loading", "/interest/baking", token, async (page) => {
			await page.context().route(url, () => {});
			await page.reload();
			await page.locator(".skeleton").waitFor();
		}),
		place("server error", "/interest/baking", token, async (page) => {
			await failing(page, 503);
			await page.reload();
			await page.getByRole("heading", { name: "That did not work." }).waitFor();
		}),
		place("offline", "/", token, async (page) => {
			await cards(page);
			await page.context().setOffline(true);
			await page.evaluate(() => {
				location.hash = "#/interest/baking";
			});
			await page.getByRole("heading", { name: "You are offline." }).waitFor();
		}),
	];
}

/** Goes there in a browser context of its own. */
export async function openPlace(
	browser: Browser,
	origin: string,
	place: Place,
	screen: (typeof SCREENS)[number],
): Promise<{ readonly page: Page; readonly context: BrowserContext }> {
	const { width, height, hasTouch } = screen;
	const context = await browser.newContext({
		viewport: { width, height },
		hasTouch,
		// A color on its way to another has a contrast of its own.
		reducedMotion: "reduce",
	});
	if (place.token !== null) {
		await context.addInitScript(
			(text) => sessionStorage.setItem("pinboard-token", text),
			place.token,
		);
	}
	const page = await context.newPage();
	page.setDefaultTimeout(PAGE_LIMIT_MS);
	await page.goto(`${origin}#${place.address}`);
	await place.reach(page);
	return { page, context };
}
