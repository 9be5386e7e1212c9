import { posix } from "node:path";

/**
 * The layers of docs/architecture.md, lowest first: imports go down only. `cli`
 * starts the program and stands above everything.
 */
const FLOORS: readonly (readonly string[])[] = [
	["util", "errors.ts", "diagnostics.ts"],
	["id"],
	["model", "topology"],
	["storage", "cache"],
	["graph"],
	["plan", "ops"],
	["graphql"],
	["domain"],
	["server", "demo", "config.ts"],
	["app"],
	["cli"],
];

/** Who may import a package of others. One that is not listed has to be, with its folders. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
	graphql: ["model", "plan", "graphql", "server"],
	dataloader: ["graph"],
	"@apollo/server": ["server"],
	"@as-integrations/fastify": ["server"],
	"@fastify/compress": ["server"],
	"@fastify/cors": ["server"],
	"@fastify/rate-limit": ["server"],
	"@fastify/static": ["server"],
	fastify: ["server"],
	pino: ["server"],
	jose: ["server"],
	esbuild: ["server"],
	graphiql: ["server"],
	"@graphiql/react": ["server"],
	"@graphiql/toolkit": ["server"],
	"@graphiql/plugin-history": ["server"],
	"@graphiql/plugin-doc-explorer": ["server"],
	"monaco-editor": ["server"],
	"monaco-graphql": ["server"],
	react: ["server"],
	"react-dom": ["server"],
	ioredis: ["cache"],
	memjs: ["cache"],
	zod: ["topology", "config.ts"],
	"node:sqlite": ["storage/sqlite/driver"],
	mysql2: ["storage/mysql/driver"],
	negotiator: ["server"],
};

/** What one file of src/, named by its path below src/, does against the rules; each as a sentence. */
export function faultsOf(path: string, source: string): readonly string[] {
	const home = path.split("/")[0] ?? "";
	const floor = floorOf(home);
	const code = withoutComments(source);
	const faults = importsOf(code).flatMap((specifier) =>
		specifier.startsWith(".")
			? relativeFault(path, specifier, home, floor)
			: packageFault(specifier, path),
	);
	if (floor === undefined) {
		faults.push(`src/${home} is on no floor of DESIGN "Layout"`);
	}
	if (/^index\.[a-z]+$/.test(posix.basename(path))) {
		faults.push("is an index file: import the file that is meant");
	}
	if (
		/^export\s+default\b/m.test(code) ||
		/^export\s*\{[^}]*\bas\s+default\b/m.test(code)
	) {
		faults.push("has a default export: name it");
	}
	if (
		/^export\s+(?:type\s+)?(?:\*|\{[^}]*\})(?:\s+as\s+\w+)?\s*from\b/m.test(
			code,
		)
	) {
		faults.push("exports what another file exports: import it from there");
	}
	return faults.map((fault) => `src/${path}: ${fault}`);
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

function relativeFault(
	path: string,
	specifier: string,
	home: string,
	floor: number | undefined,
): string[] {
	const target = posix.join(posix.dirname(path), specifier);
	const other = target.split("/")[0] ?? "";
	if (!/\.(?:ts|tsx|css)$/.test(specifier)) {
		return [`imports ${specifier}, which has to end with .ts`];
	}
	if (other === "..") return [`imports ${specifier}, which is outside src/`];
	if (other === home) return [];
	const otherFloor = floorOf(other);
	if (otherFloor === undefined) {
		return [`imports ${specifier}: ${other} is on no floor`];
	}
	if (floor === undefined || otherFloor < floor) return [];
	// What everybody needs stands below the small functions beside it.
	if (otherFloor === 0 && other.endsWith(".ts")) return [];
	return [
		otherFloor === floor
			? `imports ${specifier}: ${home} and ${other} are on one floor, ${floor}`
			: `imports ${specifier}: up from ${home} (floor ${floor}) to ${other} (floor ${otherFloor})`,
	];
}

function packageFault(specifier: string, path: string): string[] {
	const plain =
		specifier.startsWith("node:") && !Object.hasOwn(PACKAGES, specifier);
	if (plain) return [];
	const parts = specifier.split("/");
	const name = specifier.startsWith("@")
		? parts.slice(0, 2).join("/")
		: (parts[0] ?? "");
	const folders = PACKAGES[name];
	if (!folders) return [`imports ${name}, which test/floors.ts does not list`];
	return folders.some(
		(folder) => path === folder || path.startsWith(`${folder}/`),
	)
		? []
		: [`imports ${name}, which only ${folders.join(", ")} may`];
}

function floorOf(home: string): number | undefined {
	const floor = FLOORS.findIndex((names) => names.includes(home));
	return floor === -1 ? undefined : floor;
}

/** Strings stay as they are, so that a URL's slashes begin no comment. */
function withoutComments(source: string): string {
	return source.replaceAll(
		/("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
		(_, string: string | undefined) => string ?? "",
	);
}
