import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync } from "node:fs";
import {
	chmod,
	mkdir,
	readdir,
	readFile,
	readlink,
	rename,
	rm,
	stat,
	symlink,
	writeFile,
} from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { promisify } from "node:util";
import { makeOnce } from "../helpers/makeOnce.ts";
import { say } from "./say.ts";

/** sid has a MySQL, which the stable suites have not. */
const SUITE = "sid";
const KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
const SOURCES = [
	"/etc/apt/sources.list.d/debian.sources",
	"/etc/apt/sources.list",
];
/** Without a byte for so long (s) a download has failed. */
const IDLE_LIMIT_S = 60;
const WHOLE_LIMIT_MS = 840_000;
const UNPACK_LIMIT_MS = 300_000;

const MACHINES: Partial<Record<NodeJS.Architecture, readonly string[]>> = {
	x64: ["x86_64-linux-gnu", "ld-linux-x86-64.so.2"],
	arm64: ["aarch64-linux-gnu", "ld-linux-aarch64.so.1"],
};

/**
 * Packages of Debian with every library they need, unpacked into a folder of
 * their own: nothing is installed, and nobody has to be root. apt checks
 * signatures with the machine's own keyring and downloads from the machine's
 * own mirror; what it had of a download that was cut off it takes up again.
 * TEST_SERVICES_UNSIGNED=yes does without signatures: for a machine so old that
 * its keyring lacks sid's keys. Programs that match `wrapped` are replaced by
 * scripts that start them with the folder's loader and libraries.
 */
export async function unpackDebian(
	folder: string,
	packages: readonly string[],
	wrapped: readonly string[] = [],
	/** False: these packages alone, without those that they need. */
	{ withDependencies = true }: { readonly withDependencies?: boolean } = {},
): Promise<void> {
	await makeOnce(folder, async (building) => {
		const apt = `${folder}.apt`;
		const started = performance.now();
		const names = packages.join(", ");
		const mirror = await mirrorOf(SOURCES);
		const conf = await privateApt(apt, mirror);
		say(`downloading ${names} of Debian ${SUITE}, once, to ${folder}`);
		await aptGet(conf, ["update"], "the list of packages");
		const archives = join(apt, "cache/archives");
		await aptGet(
			conf,
			withDependencies
				? [
						"install",
						"--download-only",
						"--yes",
						"--no-install-recommends",
						...packages,
					]
				: ["download", ...packages],
			names,
			archives,
		);
		const debs = (await readdir(archives)).filter((name) =>
			name.endsWith(".deb"),
		);
		let bytes = 0;
		for (const deb of debs) {
			bytes += (await stat(join(archives, deb))).size;
			await promisify(execFile)("dpkg", ["-x", join(archives, deb), building], {
				timeout: UNPACK_LIMIT_MS,
			});
		}
		await keepLinksInside(building);
		for (const program of globSync([...wrapped], { cwd: building })) {
			await wrap(building, program);
		}
		await rm(apt, { recursive: true, force: true });
		say(
			`unpacked ${names}: ${debs.length} packages, ${Math.round(bytes / 1e6)} MB, ${((performance.now() - started) / 1_000).toFixed(1)} s`,
		);
	});
}

/** Links to absolute paths, as those of a Java to its settings in /etc, then lead to the folder's own files. */
async function keepLinksInside(folder: string): Promise<void> {
	const entries = await readdir(folder, {
		recursive: true,
		withFileTypes: true,
	});
	for (const entry of entries.filter((one) => one.isSymbolicLink())) {
		const file = join(entry.parentPath, entry.name);
		const target = await readlink(file);
		const inside = join(folder, target);
		if (!isAbsolute(target) || !existsSync(inside)) continue;
		await rm(file);
		await symlink(relative(dirname(file), inside), file);
	}
}

/** The script finds the folder by its own name: the folder is renamed when it is whole. */
async function wrap(folder: string, program: string): Promise<void> {
	const file = join(folder, program);
	const [triplet, loader] = machine();
	const libraries = `$here/${relative(dirname(program), `usr/lib/${triplet}`)}`;
	await rename(file, `${file}.program`);
	await writeFile(
		file,
		`#!/bin/sh
here=$(dirname "$0")
exec "${libraries}/${loader}" --argv0 "$0" --library-path "${libraries}" "$0.program" "$@"
`,
	);
	await chmod(file, 0o755);
}

/** How a program of such a folder is started: by the folder's own loader, with the folder's own libraries. */
export function unpackedCommand(
	folder: string,
	program: string,
	calledAs = program,
): readonly string[] {
	const [triplet, loader] = machine();
	const libraries = join(folder, "usr/lib", triplet);
	return [
		join(libraries, loader),
		"--argv0",
		calledAs,
		"--library-path",
		libraries,
		join(folder, program),
	];
}

function machine(): readonly [triplet: string, loader: string] {
	const [triplet, loader] = MACHINES[process.arch] ?? [];
	if (triplet === undefined || loader === undefined) {
		throw new Error(
			`expected a machine with x64 or arm64 but got: ${process.arch}`,
		);
	}
	return [triplet, loader];
}

/** An apt whose every file is in `folder`. The empty status file makes it fetch all libraries: nothing of the host is used. */
async function privateApt(folder: string, mirror: string): Promise<string> {
	const lists = join(folder, "lists");
	const cache = join(folder, "cache");
	const status = join(folder, "status");
	const sources = join(folder, "sources.list");
	const conf = join(folder, "apt.conf");
	await mkdir(join(lists, "partial"), { recursive: true });
	await mkdir(join(cache, "archives/partial"), { recursive: true });
	await writeFile(status, "");
	const trust =
		process.env.TEST_SERVICES_UNSIGNED === "yes"
			? "trusted=yes"
			: `signed-by=${KEYRING}`;
	await writeFile(sources, `deb [${trust}] ${mirror} ${SUITE} main\n`);
	const settings = {
		"Dir::Etc::sourcelist": sources,
		"Dir::Etc::sourceparts": "/dev/null",
		"Dir::State::lists": lists,
		"Dir::State::status": status,
		"Dir::Cache": cache,
		"Acquire::Languages": "none",
		"Acquire::Retries": "3",
		"Acquire::http::Timeout": String(IDLE_LIMIT_S),
		"Acquire::https::Timeout": String(IDLE_LIMIT_S),
		"APT::Sandbox::User": "",
		"APT::Status-Fd": "3",
	};
	await writeFile(
		conf,
		[
			// The host's hooks are about the host's packages.
			"#clear APT::Update::Pre-Invoke;",
			"#clear APT::Update::Post-Invoke;",
			"#clear APT::Update::Post-Invoke-Success;",
			...Object.entries(settings).map(([name, value]) => `${name} "${value}";`),
			"",
		].join("\n"),
	);
	return conf;
}

/** Runs apt-get and reports its progress at each quarter. */
async function aptGet(
	conf: string,
	args: readonly string[],
	what: string,
	/** Where `download` puts the packages. */
	folder = process.cwd(),
): Promise<void> {
	// Ends with us: it would keep its folder locked against the next try.
	const child = spawn(
		"setpriv",
		["--pdeathsig", "KILL", "apt-get", "--config-file", conf, ...args],
		{
			stdio: ["ignore", "pipe", "pipe", "pipe"],
			cwd: folder,
			env: { ...process.env, DEBIAN_FRONTEND: "noninteractive", LC_ALL: "C" },
			timeout: WHOLE_LIMIT_MS,
		},
	);
	let printed = "";
	for (const stream of [child.stdout, child.stderr]) {
		stream?.setEncoding("utf8").on("data", (text: string) => {
			printed = (printed + text).slice(-20_000);
		});
	}
	let reported = 0;
	// `dlstatus:NUMBER:PERCENT:…`, on the descriptor that APT::Status-Fd names.
	createInterface({ input: child.stdio[3] as Readable }).on("line", (line) => {
		const percent = Number(/^dlstatus:\d+:([\d.]+):/.exec(line)?.[1] ?? 0);
		const quarter = Math.floor(percent / 25);
		if (quarter <= reported || percent >= 100) return;
		reported = quarter;
		say(`${what}: ${Math.round(percent)} %`);
	});
	const [code, signal] = await once(child, "close");
	// `update` takes a mirror that cannot be reached for a warning.
	const faults = printed.match(/^(?:E|Err|W: Failed|W: Some).*$/gm);
	if (code === 0 && !faults) return;
	const reason = (faults ?? [`ended with ${signal ?? code}`]).slice(0, 3);
	throw new Error(`apt-get ${args[0]}: ${reason.join("; ")}`);
}

/** The mirror the machine's own packages come from. */
async function mirrorOf(files: readonly string[]): Promise<string> {
	for (const file of files) {
		const text = await readFile(file, "utf8").catch(() => "");
		const found = file.endsWith(".sources")
			? mirrorInStanzas(text)
			: mirrorInLines(text);
		if (found !== undefined) return found;
	}
	throw new Error(
		`expected Debian's address in ${files.join(" or ")} but got: none`,
	);
}

function mirrorInStanzas(text: string): string | undefined {
	for (const stanza of text.split(/\n\s*\n/)) {
		const field = (name: string) =>
			new RegExp(`^${name}:\\s*(.+)$`, "im").exec(stanza)?.[1]?.trim() ?? "";
		const binary = field("Types").split(/\s+/).includes("deb");
		if (!binary || /security/.test(field("Suites"))) continue;
		const [uri] = field("URIs").split(/\s+/);
		if (uri) return uri;
	}
	return undefined;
}

function mirrorInLines(text: string): string | undefined {
	for (const line of text.split("\n")) {
		const [, uri, suite] =
			/^\s*deb\s+(?:\[[^\]]*\]\s+)?(\S+)\s+(\S+)/.exec(line) ?? [];
		if (uri !== undefined && !/security/.test(suite ?? "")) return uri;
	}
	return undefined;
}
