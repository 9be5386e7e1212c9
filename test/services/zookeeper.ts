import { execFile } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { delimiter, join } from "node:path";
import { promisify } from "node:util";
import { ask } from "./ask.ts";
import { cacheFolder } from "./cache.ts";
import { unpackDebian, unpackedCommand } from "./debian.ts";
import { reservePort } from "./port.ts";
import { Server } from "./server.ts";

/** ZooKeeper itself, and the libraries that its server loads: 3 MB. Its package depends on 280 MB, most of them Maven's and Ant's. */
const PACKAGES = [
	"libzookeeper-java",
	"libslf4j-java",
	"libdropwizard-metrics-java",
	"libsnappy-java",
];
const JARS = [
	"zookeeper",
	"zookeeper-jute",
	"slf4j-api",
	"slf4j-simple",
	"metrics-core",
	"snappy-java",
];
const JAVA_PACKAGE = "openjdk-21-jre-headless";
const LEAST_JAVA = 17;
/** What is unpacked in another way than before gets another folder. */
const LAYOUT = 2;

const MAIN = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
const OPTIONS = [
	"-Xmx64m",
	"-XX:+UseSerialGC",
	"-XX:TieredStopAtLevel=1",
	"-XX:-UsePerfData",
	"-Djava.net.preferIPv4Stack=true",
	"-Dorg.slf4j.simpleLogger.defaultLogLevel=warn",
];
/** The server counts sessions in these; the shortest is two. Milliseconds. */
const TICK_MS = 500;

/** A private, empty ZooKeeper of one server. */
export async function startZookeeper(): Promise<Server> {
	return startServer({ lines: [] });
}

export interface Ensemble extends AsyncDisposable {
	readonly servers: readonly Server[];
	/** The one that leads now; null while none does. */
	leader(): Promise<Server | null>;
}

/** Three servers that elect a leader. Two of them answer. */
export async function startEnsemble(): Promise<Ensemble> {
	await using stack = new AsyncDisposableStack();
	const lines: string[] = [];
	for (const id of [1, 2, 3]) {
		const quorum = stack.use(await reservePort());
		const election = stack.use(await reservePort());
		lines.push(`server.${id}=127.0.0.1:${quorum.port}:${election.port}`);
	}
	const starting = [1, 2, 3].map(async (id) =>
		stack.use(await startServer({ lines, id })),
	);
	await Promise.allSettled(starting);
	const servers = await Promise.all(starting);
	const owned = stack.move();
	return {
		servers,
		async leader() {
			for (const server of servers) {
				const mode = await modeOf(server.port);
				if (mode === "leader") return server;
			}
			return null;
		},
		[Symbol.asyncDispose]: () => owned.disposeAsync(),
	};
}

/** `standalone`, `leader` or `follower`; null if it serves nobody. */
async function modeOf(port: number): Promise<string | null> {
	try {
		const text = await ask(
			{ host: "127.0.0.1", port },
			"srvr",
			/Mode: \w+|not currently serving/,
		);
		return /Mode: (\w+)/.exec(text)?.[1] ?? null;
	} catch {
		return null;
	}
}

async function startServer({
	lines,
	id,
}: {
	readonly lines: readonly string[];
	readonly id?: number;
}): Promise<Server> {
	const [java, jars] = await Promise.all([findJava(), findJars()]);
	const configuration = (folder: string, port: number) =>
		[
			`tickTime=${TICK_MS}`,
			"initLimit=40",
			"syncLimit=20",
			`dataDir=${folder}/data`,
			`clientPort=${port}`,
			"clientPortAddress=127.0.0.1",
			"admin.enableServer=false",
			"4lw.commands.whitelist=srvr,conf",
			// Tests stop servers by force, and their disks stall.
			"forceSync=no",
			...lines,
			"",
		].join("\n");
	return Server.start({
		scheme: "zk",
		folderName: "zookeeper",
		credentials: "",
		async prepare(folder) {
			await mkdir(join(folder, "data"));
			if (id !== undefined) {
				await writeFile(join(folder, "data/myid"), String(id));
			}
		},
		command(folder, port) {
			const file = join(folder, "zoo.cfg");
			return [
				"/bin/sh",
				"-c",
				'printf %s "$1" > "$2"; shift; file=$1; shift; exec "$@" "$file"',
				"sh",
				configuration(folder, port),
				file,
				...java,
				...OPTIONS,
				"-cp",
				jars,
				MAIN,
			];
		},
		async answers({ folder, port }) {
			// Alone, one of an ensemble serves nobody, but it is up.
			const text = await ask(
				{ host: "127.0.0.1", port },
				"conf",
				/dataDir=.*\n|not currently serving/,
			);
			return (
				text.includes(`dataDir=${folder}/data`) ||
				(id !== undefined && text.includes("not currently serving"))
			);
		},
	});
}

async function findJars(): Promise<string> {
	const folder = join(cacheFolder(), `zookeeper-${LAYOUT}-${process.arch}`);
	await unpackDebian(folder, PACKAGES, [], { withDependencies: false });
	const java = join(folder, "usr/share/java");
	return JARS.map((name) => join(java, `${name}.jar`)).join(delimiter);
}

let java: Promise<readonly string[]> | undefined;

/** The words that start a Java of 17 or later: the machine's own, else Debian's, which is downloaded once (about 100 MB). */
function findJava(): Promise<readonly string[]> {
	java ??= searchJava();
	java.catch(() => {
		java = undefined;
	});
	return java;
}

async function searchJava(): Promise<readonly string[]> {
	for (const folder of (process.env.PATH ?? "").split(delimiter)) {
		const file = join(folder, "java");
		if (folder !== "" && existsSync(file) && (await isNewEnough([file]))) {
			return [file];
		}
	}
	const folder = join(cacheFolder(), `java-${LAYOUT}-${process.arch}`);
	await unpackDebian(folder, [JAVA_PACKAGE]);
	const [program] = globSync("usr/lib/jvm/java-21-*/bin/java", { cwd: folder });
	if (program === undefined) throw new Error(`no java in ${folder}`);
	const command = unpackedCommand(folder, program);
	if (await isNewEnough(command)) return command;
	throw new Error(
		`expected a Java of ${LEAST_JAVA} or later to run but got none: install one so that java is on the PATH`,
	);
}

async function isNewEnough([
	file = "",
	...args
]: readonly string[]): Promise<boolean> {
	try {
		const { stderr } = await promisify(execFile)(file, [...args, "-version"], {
			timeout: 60_000,
		});
		return Number(/version "(\d+)/.exec(stderr)?.[1] ?? 0) >= LEAST_JAVA;
	} catch {
		return false;
	}
}
