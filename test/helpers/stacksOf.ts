import inspector from "node:inspector";
import { createRequire } from "node:module";

type StackTrace = inspector.Runtime.StackTrace;

interface Mysql2 {
	readonly Connection: {
		readonly prototype: { query(...given: unknown[]): unknown };
	};
}

const SOURCE = /\/src\/(.+)$/;

/**
 * The functions of `src/` that stand between the caller of `body` and each
 * statement that it sends: those of the stack that the debugger shows when
 * mysql2 is called, and of what that stack awaits. The nearest comes first.
 */
export async function stacksOf(
	body: () => Promise<unknown>,
): Promise<readonly { readonly sql: string; readonly own: string[] }[]> {
	const require = createRequire(import.meta.url);
	const { prototype } = (require("mysql2") as Mysql2).Connection;
	const { query } = prototype;
	const session = new inspector.Session();
	session.connect();
	session.post("Runtime.enable");
	session.post("Debugger.enable");
	session.post("Debugger.setAsyncCallStackDepth", { maxDepth: 64 });
	const stacks: { sql: string; own: string[] }[] = [];
	session.on("Runtime.consoleAPICalled", ({ params }) => {
		const sql = String(params.args[0]?.value);
		stacks.push({ sql, own: ownOf(session, params.stackTrace) });
	});
	prototype.query = function (...given) {
		const [{ sql }] = given as [{ readonly sql: string }];
		inspector.console.debug(sql);
		return query.apply(this, given);
	};
	try {
		await body();
	} finally {
		prototype.query = query;
		session.disconnect();
	}
	return stacks;
}

/** Each function once: one that continues after it has waited is in the stack again. */
function ownOf(
	session: inspector.Session,
	stack: StackTrace | undefined,
): string[] {
	const own = new Set<string>();
	for (let part = stack; part !== undefined; part = parentOf(session, part)) {
		for (const { functionName, url } of part.callFrames) {
			const file = SOURCE.exec(url)?.[1];
			if (file !== undefined) own.add(`${functionName} ${file}`);
		}
	}
	return [...own];
}

/** Where the stack was scheduled, or is awaited. */
function parentOf(
	session: inspector.Session,
	{ parent, parentId }: StackTrace,
): StackTrace | undefined {
	let found = parent;
	if (parentId === undefined) return found;
	// A session of its own thread answers before `post` returns.
	session.post(
		"Debugger.getStackTrace",
		{ stackTraceId: parentId },
		(_, answer) => {
			found = answer?.stackTrace;
		},
	);
	return found;
}
