import {
	copyFileSync,
	globSync,
	mkdirSync,
	readFileSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { preview } from "vite";
import { run } from "../examples/pinboard.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
import { COPIES } from "../update.ts";

const ROOT = join(import.meta.dirname, "../..");

/** Clients with a page of their own, which continues where docs/frontends.md ends. */
export const CLIENTS = ["apollo", "relay", "urql", "graphql-request"] as const;
export type ClientName = (typeof CLIENTS)[number];

/** Files of a client, which the pages have copied into the reader's project. */
export interface ClientFile {
	/** In the reader's project. */
	readonly path: string;
	readonly text: string;
}

export const FIRST_PAGE = "docs/frontends.md";

export function pageOf(client: ClientName): string {
	return `docs/frontends/${client}.md`;
}

export function readPage(page: string): string {
	return readFileSync(join(ROOT, page), "utf8");
}

/** The files of one folder of `examples/clients/`. */
export function filesOf(folder: string): readonly ClientFile[] {
	const cwd = join(ROOT, "examples/clients", folder);
	return globSync("**/*.*", { cwd }).map((path) => ({
		path,
		text: readFileSync(join(cwd, path), "utf8"),
	}));
}

/** The folders that the pages have copied for a client. */
export function foldersOf(client: ClientName): readonly string[] {
	return client === "urql"
		? ["shared", client, "urql-persisted"]
		: ["shared", client];
}

/** Needs packages that are not among ours, so it was tried by hand. */
const UNTRIED = "codegen.ts";

/** What the pages have npm install, by name. */
export function installed(markdown: string): ReadonlyMap<string, string> {
	const lines = [...markdown.matchAll(/^ {4}npm install (.*)$/gm)];
	return new Map(
		lines
			.flatMap(([, line = ""]) => line.split(" "))
			.filter((word) => !word.startsWith("-"))
			.map((word) => {
				const at = word.lastIndexOf("@");
				return [word.slice(0, at), word.slice(at + 1)];
			}),
	);
}

/** What `npm create vite@7 -- --template react-ts` makes, as far as it matters. */
const TEMPLATE: Readonly<Record<string, string>> = {
	"package.json": JSON.stringify({ type: "module" }),
	"index.html": `<!doctype html><html><head><link rel="icon" href="data:,"></head>
<body><div id="root"></div><script type="module" src="/src/main.tsx"></script></body></html>`,
	"tsconfig.json": JSON.stringify({
		compilerOptions: {
			target: "ES2022",
			useDefineForClassFields: true,
			lib: ["ES2022", "DOM", "DOM.Iterable"],
			module: "ESNext",
			skipLibCheck: true,
			moduleResolution: "bundler",
			allowImportingTsExtensions: true,
			verbatimModuleSyntax: true,
			moduleDetection: "force",
			noEmit: true,
			jsx: "react-jsx",
			strict: true,
			noUnusedLocals: true,
			noUnusedParameters: true,
			erasableSyntaxOnly: true,
			noFallthroughCasesInSwitch: true,
			noUncheckedSideEffectImports: true,
		},
		include: ["src", "vite.config.ts"],
	}),
	"src/vite-env.d.ts": '/// <reference types="vite/client" />\n',
	"vite.config.ts":
		'import react from "@vitejs/plugin-react";\nexport default { plugins: [react()] };\n',
};
export const TEMPLATE_PACKAGES: readonly string[] = [
	"@types/react",
	"@types/react-dom",
	"@vitejs/plugin-react",
	"react",
	"react-dom",
	"vite",
];

export interface Pasted extends Disposable {
	readonly folder: string;
	/** A module of the project, in this process. */
	load<Module>(path: string): Promise<Module>;
	/** Relay's documents, compiled as the page says. */
	compile(): Promise<void>;
	/** The project's page, built for an API and a token. */
	serve(env: {
		readonly VITE_API_URL: string;
		readonly VITE_TOKEN: string;
	}): Promise<AsyncDisposable & { readonly url: string }>;
}

/** A new project, with the files that the docs have copied into it and no packages but those they have installed. */
export function paste(client: ClientName): Pasted {
	const folder = temporaryFolder();
	const at = (path: string) => {
		const place = join(folder.path, path);
		mkdirSync(dirname(place), { recursive: true });
		return place;
	};
	const files = [
		...Object.entries(TEMPLATE).map(([path, text]) => ({ path, text })),
		...foldersOf(client)
			.flatMap(filesOf)
			.filter(({ path }) => path !== UNTRIED),
	];
	for (const { path, text } of files) writeFileSync(at(path), text);
	copyFileSync(COPIES.publicSchema, at("schema.graphql"));
	const packages = installed(readPage(pageOf(client)));
	for (const name of [...TEMPLATE_PACKAGES, ...packages.keys()]) {
		symlinkSync(
			join(ROOT, "node_modules", name),
			at(join("node_modules", name)),
		);
	}
	return {
		folder: folder.path,
		load: (path) => import(pathToFileURL(join(folder.path, path)).href),
		async compile() {
			mkdirSync(join(folder.path, "src/__generated__"));
			await run("relay-compiler", [], { cwd: folder.path });
		},
		async serve(env) {
			await run("vite", ["build"], {
				cwd: folder.path,
				env: { NODE_ENV: "production", ...env },
			});
			const server = await preview({
				configFile: false,
				root: folder.path,
				preview: { host: "127.0.0.1", port: 0 },
				logLevel: "silent",
			});
			return {
				url: server.resolvedUrls?.local[0] ?? "",
				[Symbol.asyncDispose]: () => server.close(),
			};
		},
		[Symbol.dispose]: () => folder[Symbol.dispose](),
	};
}
