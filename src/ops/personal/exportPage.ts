import type { Id } from "../../id/ids.ts";
import type { JsonValue } from "../../util/json.ts";
import type { ExportedEdge, ExportedObject, ExportLine } from "./exportUser.ts";

interface ExportHead {
	readonly user: Id;
	readonly userType: string;
	readonly startedAt: string;
	readonly objects: ReadonlyMap<string, number>;
	readonly edges: ReadonlyMap<string, number>;
}

/** An export as one page to read: no scripts, and nothing that is loaded from elsewhere. */
export async function* exportPage(
	head: ExportHead,
	lines: AsyncIterable<ExportLine>,
): AsyncGenerator<string> {
	yield start(head);
	let list: string | null = null;
	let type: string | null = null;
	for await (const line of lines) {
		if ("edge" in line) {
			const next = `${line.from} ${line.edge}`;
			if (list !== next) {
				if (list !== null) yield "</ul>\n";
				list = next;
				yield `<h3>${escaped(words(line.field))}</h3>\n<ul>\n`;
			}
			yield edge(line);
			continue;
		}
		if (list !== null) yield "</ul>\n";
		list = null;
		if (type !== line.type) {
			type = line.type;
			yield `<h2>${escaped(words(type))}</h2>\n`;
		}
		yield object(line);
	}
	if (list !== null) yield "</ul>\n";
	yield "</main>\n</body>\n</html>\n";
}

function start({
	user,
	userType,
	startedAt,
	objects,
	edges,
}: ExportHead): string {
	const rows = [...objects, ...edges].map(
		([name, count]) =>
			`<tr><td>${escaped(words(name))}</td><td>${count}</td></tr>\n`,
	);
	const title = `${userType} ${user}`;
	return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${escaped(title)}</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 48rem; padding: 0 1rem; }
dl { display: grid; gap: 0 1rem; grid-template-columns: max-content 1fr; border-top: 1px solid #ccc; padding-top: 0.5rem; }
dt { color: #555; } dd { margin: 0; overflow-wrap: anywhere; white-space: pre-wrap; }
td { padding-right: 1rem; } small { color: #555; }
</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
<p>Everything that is stored of this ${escaped(words(userType).toLowerCase())}, as of ${escaped(startedAt)}. The same for programs: data.ndjson.</p>
<table>
${rows.join("")}</table>
`;
}

function object({ id, fields }: ExportedObject): string {
	const rows = [["id", id] as const, ...Object.entries(fields)].flatMap(
		([name, value]) =>
			value === null || value === undefined
				? []
				: [`<dt>${escaped(words(name))}</dt><dd>${shown(value)}</dd>\n`],
	);
	return `<dl id="${escaped(id)}">\n${rows.join("")}</dl>\n`;
}

function edge({ to, at, label }: ExportedEdge): string {
	const time = at === null ? "" : `, ${escaped(at)}`;
	return `<li>${label === null ? "" : `${escaped(label)} `}<small>${escaped(to)}${time}</small></li>\n`;
}

function shown(value: JsonValue): string {
	const text =
		typeof value === "string" ? value : JSON.stringify(value, null, 1);
	// Other schemes could run something.
	return /^https?:\/\/[^\s"<>]+$/i.test(text)
		? `<a href="${escaped(text)}" rel="noreferrer noopener">${escaped(text)}</a>`
		: escaped(text);
}

/** `followedBoards` is `Followed boards`. */
function words(name: string): string {
	const spaced = name.replaceAll(/([a-z\d])([A-Z])/g, "$1 $2").toLowerCase();
	return spaced.charAt(0).toUpperCase() + spaced.slice(1);
}

const ENTITIES: Readonly<Record<string, string>> = {
	"&": "&amp;",
	"<": "&lt;",
	">": "&gt;",
	'"': "&quot;",
	"'": "&#39;",
};

function escaped(text: string): string {
	return text.replaceAll(/[&<>"']/g, (sign) => ENTITIES[sign] as string);
}
