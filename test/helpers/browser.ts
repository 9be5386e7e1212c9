import { execFile } from "node:child_process";
import { randomUUID } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import {
	access,
	constants,
	mkdir,
	readFile,
	rename,
	rm,
	writeFile,
} from "node:fs/promises";
import { delimiter, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { createBrotliDecompress } from "node:zlib";
import { type Browser, chromium } from "playwright-core";

const ROOT = join(import.meta.dirname, "../..");
const PACKAGE = join(ROOT, "node_modules/@sparticuz/chromium");

const FLAGS = [
	"--no-sandbox",
	"--disable-gpu",
	"--disable-quic",
	"--no-first-run",
	"--disable-background-networking",
	"--disable-component-update",
	"--disable-sync",
];

/** Nothing that a test waits for in a browser takes nearly as long (ms), even on busy cores. */
export const PAGE_LIMIT_MS = 120_000;

/**
 * A headless Chromium: the machine's own if there is one, else the one the
 * package @sparticuz/chromium carries, with the libraries and fonts it needs, so
 * that a bare machine runs the test without root.
 */
export async function openBrowser(): Promise<Browser> {
	const installed = await onPath("chromium");
	if (installed !== null) {
		return chromium.launch({
			executablePath: installed,
			args: FLAGS,
			timeout: PAGE_LIMIT_MS,
		});
	}
	const folder = await unpacked();
	return chromium.launch({
		executablePath: join(folder, "chromium"),
		args: FLAGS,
		timeout: PAGE_LIMIT_MS,
		env: {
			...process.env,
			LD_LIBRARY_PATH: [join(folder, "lib"), process.env.LD_LIBRARY_PATH]
				.filter((path) => path !== undefined)
				.join(delimiter),
			FONTCONFIG_FILE: join(folder, "fonts-here.conf"),
		},
	});
}

async function onPath(program: string): Promise<string | null> {
	for (const folder of (process.env.PATH ?? "").split(delimiter)) {
		const path = join(folder, program);
		try {
			await access(path, constants.X_OK);
			return path;
		} catch {
			// Not in this folder.
		}
	}
	return null;
}

/** Unpacked once, beside its place and moved there whole: several tests may want it at a time. */
async function unpacked(): Promise<string> {
	const { version } = JSON.parse(
		await readFile(join(PACKAGE, "package.json"), "utf8"),
	) as { version: string };
	const folder = join(ROOT, ".cache", `chromium-${version}-fonts`);
	if (await exists(folder)) return folder;

	const building = `${folder}.${randomUUID()}`;
	await mkdir(building, { recursive: true });
	try {
		await inflate("chromium.br", join(building, "chromium"), 0o755);
		// Libraries, fonts, and the software renderer.
		for (const archive of ["al2023.tar", "fonts.tar", "swiftshader.tar"]) {
			const file = join(building, archive);
			await inflate(`${archive}.br`, file, 0o644);
			await promisify(execFile)("tar", ["-xf", file, "-C", building]);
			await rm(file);
		}
		await writeFile(
			join(building, "fonts-here.conf"),
			`<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd"><fontconfig><dir prefix="relative">fonts</dir><cachedir>${escaped(join(folder, "fonts-cache"))}</cachedir></fontconfig>`,
		);
		await rename(building, folder);
	} catch (error) {
		await rm(building, { recursive: true, force: true });
		if (!(await exists(folder))) throw error;
	}
	return folder;
}

/** A path as text of XML. fontconfig takes a relative cache folder for one of the working directory. */
function escaped(path: string): string {
	return path.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}

function inflate(name: string, target: string, mode: number): Promise<void> {
	return pipeline(
		createReadStream(join(PACKAGE, "bin", name)),
		createBrotliDecompress(),
		createWriteStream(target, { mode }),
	);
}

async function exists(path: string): Promise<boolean> {
	try {
		await access(path);
		return true;
	} catch {
		return false;
	}
}
