import { posix } from "node:path";

/**
 * The layers of docs/architecture.md, lowest first. Imports go down only;
 * entries on one line do not import each other. A key names a folder of src/;
 * its entries are subfolders or files, and `.` stands for the files directly in it.
 */
const LAYERS: Readonly<Record<string, readonly (readonly string[])[]>> = {
	"": [
		["util", "errors.ts", "diagnostics.ts", "trace.ts"],
		["id"],
		["model", "topology"],
		["storage", "cache"],
		["queue", "freshness"],
		["graph"],
		["plan", "ops", "feed"],
		["graphql"],
		["resolvers"],
		["traces", "worker"],
		["config"],
		["server"],
		["metrics", "usage"],
		["app"],
		["fleet", "testing", "parts"],
		["dump"],
		["cli"],
		["corkboard.ts", "embed.ts", "parts.ts", "testing.ts", "register.mjs"],
	],
	freshness: [["."], ["channel"]],
	topology: [["."], ["file", "zookeeper", "guards"]],
	storage: [["."], ["statements", "versions"], ["mysql", "sqlite"]],
	"storage/mysql": [
		["driver"],
		["standby", "binlog"],
		["."],
		["transactions"],
		["mysqlStorage.ts"],
	],
	"storage/sqlite": [["driver"], ["."]],
	queue: [
		["."],
		["statements"],
		["verbs"],
		["mysql", "sqlite", "enqueue", "admin"],
		["claim"],
		["openJobStore.ts"],
		["openJobs.ts"],
	],
	"queue/mysql": [
		["ddl.ts", "hostClock.ts"],
		["dialect.ts"],
		["queueCall.ts"],
		["rotation"],
		["."],
	],
	feed: [
		["diagnostics.ts", "scores.ts", "sources.ts"],
		["feedModel.ts"],
		["pools"],
		["candidates"],
		["."],
		["jobs"],
		["openHomeFeeds.ts"],
	],
	plan: [
		["."],
		["compile", "execute"],
		["explain"],
		["answer.ts"],
		["planner.ts"],
	],
	model: [["expand"], ["."], ["lock", "schema"]],
	graph: [["."], ["store"], ["read"], ["outbox"], ["write"]],
	ops: [["."], ["import", "verify", "personal"], ["jobs", "migrate"]],
	"ops/migrate": [["mappingError.ts"], ["mapping.ts"], ["sources"], ["."]],
	fleet: [
		["server"],
		["map"],
		["balance", "ferry"],
		["preflight", "changes"],
		["operations"],
		["move", "salvage"],
		["."],
	],
	server: [
		["diagnostics.ts"],
		["auth", "http", "log.ts"],
		["admin", "limits", "requests"],
		["documents"],
		["graphql"],
		["graphiql"],
		["."],
	],
	cli: [
		["."],
		["completion", "migrate", "move", "queue", "top", "usage"],
		["commands"],
		["main.ts"],
		["launch.mjs"],
	],
};

/** Who may import a package of others. One that is not listed has to be, with its folders. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
	graphql: ["model", "plan", "graphql", "server", "testing", "dump"],
	dataloader: ["graph"],
	"@apollo/server": ["server"],
	"@fastify/proxy-addr": ["server"],
	fastify: ["server"],
	pino: ["server"],
	"prom-client": ["metrics"],
	"@opentelemetry/api": ["traces"],
	"@opentelemetry/exporter-trace-otlp-proto": ["traces"],
	"@opentelemetry/resources": ["traces"],
	"@opentelemetry/sdk-trace": ["traces"],
	jose: ["server"],
	zod: ["queue", "ops", "feed", "fleet", "dump"],
	"@aws-sdk/client-s3": ["dump"],
	esbuild: ["server"],
	graphiql: ["server"],
	"@graphiql/plugin-explorer": ["server"],
	"@graphiql/react": ["server"],
	react: ["server"],
	"react-dom": ["server"],
	ioredis: ["cache"],
	memjs: ["cache"],

	"node:sqlite": ["storage/sqlite/driver", "topology"],
	mysql2: ["storage/mysql/driver", "ops/migrate/sources"],
	pg: ["ops/migrate/sources"],
	"@vlasky/zongji": ["storage/mysql/binlog"],
	negotiator: ["server"],
};

/** What apps and programs import: they export what other files define. */
const PUBLIC: readonly string[] = [
	"corkboard.ts",
	"embed.ts",
	"parts.ts",
	"testing.ts",
];

/** Violations of the import rules in one file of src/, named by its path below src/; each is a sentence. */
export function violationsOf(path: string, source: string): readonly string[] {
	const code = withoutComments(source);
	const violations = importsOf(code).flatMap((specifier) =>
		specifier.startsWith(".")
			? relativeViolation(path, specifier)
			: packageViolation(specifier, path),
	);
	const unplaced = unplacedIn(path);
	if (unplaced !== undefined) violations.push(unplaced);
	if (/^index\.[a-z]+$/.test(posix.basename(path))) {
		violations.push("is an index file: import the file that is meant");
	}
	if (
		/^export\s+default\b/m.test(code) ||
		/^export\s*\{[^}]*\bas\s+default\b/m.test(code)
	) {
		violations.push("has a default export: name it");
	}
	if (
		!PUBLIC.includes(path) &&
		/^export\s+(?:type\s+)?(?:\*|\{[^}]*\})(?:\s+as\s+\w+)?\s*from\b/m.test(
			code,
		)
	) {
		violations.push("exports what another file exports: import it from there");
	}
	return violations.map((violation) => `src/${path}: ${violation}`);
}

/**
 * Groups of files that import each other in a circle, type imports included.
 * `sources` maps a path to its text. Tarjan's strongly connected components.
 */
export function circlesOf(
	sources: ReadonlyMap<string, string>,
): readonly (readonly string[])[] {
	const targets = (path: string) =>
		importsOf(withoutComments(sources.get(path) as string))
			.filter((specifier) => specifier.startsWith("."))
			.map((specifier) => posix.join(posix.dirname(path), specifier))
			.filter((target) => sources.has(target));
	const numbers = new Map<string, number>();
	const lowest = new Map<string, number>();
	const stack: string[] = [];
	const circles: string[][] = [];
	const visit = (path: string) => {
		const number = numbers.size;
		numbers.set(path, number);
		lowest.set(path, number);
		stack.push(path);
		for (const target of targets(path)) {
			if (!numbers.has(target)) visit(target);
			else if (!stack.includes(target)) continue;
			lowest.set(
				path,
				Math.min(lowest.get(path) as number, lowest.get(target) as number),
			);
		}
		if (lowest.get(path) !== number) return;
		const circle = stack.splice(stack.indexOf(path));
		if (circle.length > 1) circles.push(circle.sort());
	};
	for (const path of sources.keys()) if (!numbers.has(path)) visit(path);
	return circles;
}

/**
 * What the folders beside src/ may import of each other; all of them may import
 * src/. The longest folder that holds a file counts. Tests may import everything.
 */
const BESIDE: Readonly<Record<string, readonly string[]>> = {
	deploy: ["deploy"],
	// The app that comes with the program.
	pins: ["pins", "schema"],
	// An app of its own, which takes nothing of ours.
	examples: ["examples"],
	"test/services": ["test/services", "test/helpers", "pins"],
	"test/helpers": ["test/services", "test/helpers", "pins"],
	"test/suites": ["test/suites", "test/services", "test/helpers", "pins"],
	tools: ["tools", "test/services", "test/helpers", "pins"],
	bench: ["bench", "tools", "test/services", "test/helpers", "pins"],
	test: ["test", "tools", "bench", "deploy", "examples", "pins"],
};

/** Violations of the import rules in one file outside src/, named by its path; each is a sentence. */
export function violationsBeside(
	path: string,
	source: string,
): readonly string[] {
	const own = Object.keys(BESIDE)
		.filter((folder) => path.startsWith(`${folder}/`))
		.toSorted((one, other) => other.length - one.length)[0];
	if (own === undefined) return [`${path} is in no folder of test/layers.ts`];
	const allowed = BESIDE[own] ?? [];
	const violations = importsOf(withoutComments(source)).flatMap((specifier) => {
		if (!specifier.startsWith(".")) return [];
		const target = posix.join(posix.dirname(path), specifier);
		// A slow file runs the one that it is named after, with all cases.
		if (
			target.endsWith(".test.ts") &&
			target !== path.replace(".slow.test.ts", ".test.ts")
		) {
			return [`imports ${specifier}: nobody imports a test`];
		}
		const isAllowed =
			(target.startsWith("src/") && own !== "examples") ||
			allowed.some((folder) => target.startsWith(`${folder}/`));
		return isAllowed
			? []
			: [
					`imports ${specifier}: ${own}/ imports ${allowed.join(", ")} and src/`,
				];
	});
	return violations.map((violation) => `${path}: ${violation}`);
}

/** Every kind of import there is: static, type-only, for its effects, dynamic, of a type in place, `require`. */
export function importsOf(code: string): readonly string[] {
	const kinds = [
		/^[ \t]*(?:import|export)\b[^;"']*?\bfrom\s*["']([^"']+)["']/gm,
		/^[ \t]*import\s*["']([^"']+)["']/gm,
		/\bimport\s*\(\s*["'`]([^"'`]+)["'`]/g,
		/\b(?:require|import\.meta\.resolve)\s*\(\s*["'`]([^"'`]+)["'`]/g,
	];
	return kinds.flatMap((kind) =>
		[...code.matchAll(kind)].map((match) => match[1] ?? ""),
	);
}

/** What Corkboard is built with, by whom it is built for: it stays in use. */
const FIXED = [
	"@apollo/server",
	"graphql",
	"dataloader",
	"mysql2",
	"ioredis",
	"memjs",
];

/** Those of FIXED and PACKAGES that nothing imports. `sources` maps a path below src/ to its text. */
export function unusedPackages(
	sources: ReadonlyMap<string, string>,
): readonly string[] {
	const used = new Set(
		[...sources.values()]
			.flatMap((source) => importsOf(withoutComments(source)))
			.map(packageOf),
	);
	return [...new Set([...FIXED, ...Object.keys(PACKAGES)])].filter(
		(name) => !used.has(name),
	);
}

function relativeViolation(path: string, specifier: string): string[] {
	const target = posix.join(posix.dirname(path), specifier);
	if (!/\.(?:ts|tsx|mjs|css)$/.test(specifier)) {
		return [`imports ${specifier}, which has to end with .ts`];
	}
	if (target.startsWith("../")) {
		return [`imports ${specifier}, which is outside src/`];
	}
	const folder = commonFolder(path, target);
	const layers = LAYERS[folder];
	if (layers === undefined) return [];
	const own = entryIn(folder, path);
	const other = entryIn(folder, target);
	if (own === other) return [];
	const ownLayer = layerOf(layers, own);
	const otherLayer = layerOf(layers, other);
	if (otherLayer === undefined) {
		return [
			`imports ${specifier}: ${posix.join(folder, other)} is in no layer`,
		];
	}
	if (ownLayer === undefined || otherLayer < ownLayer) return [];
	// Errors and diagnostics serve the small functions beside them too.
	if (folder === "" && otherLayer === 0 && other.endsWith(".ts")) return [];
	return [
		otherLayer === ownLayer
			? `imports ${specifier}: ${own} and ${other} are in one layer of src/${folder}`
			: `imports ${specifier}: up from ${own} to ${other} in src/${folder}`,
	];
}

function packageViolation(specifier: string, path: string): string[] {
	const plain =
		specifier.startsWith("node:") && !Object.hasOwn(PACKAGES, specifier);
	if (plain) return [];
	const name = packageOf(specifier);
	const folders = PACKAGES[name];
	if (!folders) return [`imports ${name}, which test/layers.ts does not list`];
	return folders.some(
		(folder) => path === folder || path.startsWith(`${folder}/`),
	)
		? []
		: [`imports ${name}, which only ${folders.join(", ")} may`];
}

/** `name` of `name/file`, `@scope/name` of `@scope/name/file`. */
function packageOf(specifier: string): string {
	const parts = specifier.split("/");
	return specifier.startsWith("@")
		? parts.slice(0, 2).join("/")
		: (parts[0] ?? "");
}

/** The first folder on the way to this file that lists its entries without the one that leads here. */
function unplacedIn(path: string): string | undefined {
	const parts = path.split("/");
	for (let depth = 0; depth < parts.length; depth++) {
		const folder = parts.slice(0, depth).join("/");
		const layers = LAYERS[folder];
		if (layers === undefined) continue;
		const entry = entryIn(folder, path);
		if (layerOf(layers, entry) === undefined) {
			return `src/${posix.join(folder, entry)} is in no layer of test/layers.ts`;
		}
	}
	return undefined;
}

/** The deepest folder that holds both files, "" for src/ itself. */
function commonFolder(one: string, other: string): string {
	const folders = posix.dirname(one).split("/");
	const others = posix.dirname(other).split("/");
	let depth = 0;
	while (depth < folders.length && folders[depth] === others[depth]) depth++;
	const common = folders.slice(0, depth).join("/");
	return common === "." ? "" : common;
}

/** The entry of `folder` that leads to `path`: a subfolder, a file that has a layer of its own, or `.`. */
function entryIn(folder: string, path: string): string {
	const rest = folder === "" ? path : path.slice(folder.length + 1);
	const [entry = "", ...below] = rest.split("/");
	if (below.length > 0 || folder === "") return entry;
	return layerOf(LAYERS[folder] ?? [], entry) === undefined ? "." : entry;
}

function layerOf(
	layers: readonly (readonly string[])[],
	entry: string,
): number | undefined {
	const layer = layers.findIndex((entries) => entries.includes(entry));
	return layer === -1 ? undefined : layer;
}

/** Strings stay as they are, so that a URL's slashes begin no comment. */
function withoutComments(source: string): string {
	return source.replaceAll(
		/("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
		(_, string: string | undefined) => string ?? "",
	);
}
