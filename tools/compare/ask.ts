import { existsSync } from "node:fs";
import pinsApp from "../../pins/app.ts";
import { openCorkboard } from "../../src/app/openCorkboard.ts";
import { readConfig } from "../../src/config/config.ts";
import { readQuery } from "../../src/graphql/document.ts";

/** One query's data. Throws when there is an error in the answer: then it cannot be compared. */
export type Ask = (
	query: string,
	variables: Readonly<Record<string, unknown>>,
) => Promise<Data>;

export type Data = Readonly<Record<string, unknown>>;

interface Answer {
	readonly data?: unknown;
	readonly errors?: readonly {
		readonly message: string;
		readonly path?: readonly (string | number)[] | undefined;
		readonly extensions?: { readonly code?: unknown };
	}[];
}

const TIMEOUT_MS = 60_000;
const AT_ONCE = 8;

/** Several addresses, of processes that serve the same graph, are asked in turn. */
export function httpAsk(urls: readonly string[]): Ask {
	let asked = 0;
	return async (query, variables) => {
		const url = urls[asked++ % urls.length];
		if (url === undefined) throw new TypeError("expected an address");
		try {
			const response = await fetch(url, {
				method: "POST",
				headers: { "content-type": "application/json" },
				body: JSON.stringify({ query, variables }),
				signal: AbortSignal.timeout(TIMEOUT_MS),
			});
			return dataOf((await response.json()) as Answer);
		} catch (thrown) {
			const { message, cause } = thrown as Error;
			const why = cause instanceof Error ? ` (${cause.message})` : "";
			throw new Error(`${url}: ${message}${why}`, { cause: thrown });
		}
	};
}

/** The program on an embedded folder, without HTTP. It only reads, and keeps nothing in memory: a server may own the folder meanwhile. */
export async function folderAsk(
	folder: string,
): Promise<AsyncDisposable & { readonly ask: Ask }> {
	if (!existsSync(folder)) {
		throw new Error(`expected a data folder but got: ${folder}`);
	}
	const config = readConfig({ CORKBOARD_DATA: folder, CORKBOARD_DEMO: "off" });
	const corkboard = await openCorkboard(pinsApp, config, "readOnly");
	const documents = new Map<string, ReturnType<typeof readQuery>>();
	return {
		async ask(query, variables) {
			const document =
				documents.get(query) ??
				readQuery(corkboard.schema, query, "the comparison");
			documents.set(query, document);
			const context = corkboard.createContext(null);
			return dataOf(
				await corkboard.planner.execute({ document, variables, context }),
			);
		},
		[Symbol.asyncDispose]: () => corkboard[Symbol.asyncDispose](),
	};
}

/** A few at a time; the first that fails ends it. */
export async function inParallel<T>(
	items: readonly T[],
	work: (item: T) => Promise<void>,
): Promise<void> {
	const waiting = items.values();
	let failed = false;
	await Promise.all(
		Array.from({ length: AT_ONCE }, async () => {
			for (const item of waiting) {
				if (failed) return;
				try {
					await work(item);
				} catch (error) {
					failed = true;
					throw error;
				}
			}
		}),
	);
}

export function inBatches<T>(
	items: readonly T[],
	size: number,
): readonly (readonly T[])[] {
	return Array.from({ length: Math.ceil(items.length / size) }, (_, at) =>
		items.slice(at * size, (at + 1) * size),
	);
}

function dataOf({ data, errors = [] }: Answer): Data {
	const [first] = errors;
	if (first !== undefined) {
		const { message, path, extensions } = first;
		throw new Error(
			`expected an answer without errors but got ${errors.length}: ${extensions?.code} at ${path?.join(".") ?? "the request"}: ${message}`,
		);
	}
	return data as Data;
}
