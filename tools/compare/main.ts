/**
 * Whether a graph answers what the file says that was imported into it.
 *
 *     npm run -s compare -- FILE --url http://127.0.0.1:4000/graphql
 *     npm run -s compare -- FILE --data FOLDER
 *
 * `--url` may be given several times, for processes that serve one graph;
 * `--data` asks an embedded folder without a server. `--users 300` are drawn by
 * `--seed N`. Exit 1: something did not agree, or could not be asked.
 */
import { parseArgs } from "node:util";
import { folderAsk, httpAsk } from "./ask.ts";
import { compare } from "./compare.ts";
import { readFile } from "./expected.ts";
import type { Summary } from "./findings.ts";

const USAGE =
	"usage: npm run -s compare -- FILE (--url URL... | --data FOLDER) [--users 300] [--seed N]";

async function main(): Promise<number> {
	const { values, positionals } = parseArgs({
		allowPositionals: true,
		options: {
			url: { type: "string", multiple: true },
			data: { type: "string" },
			users: { type: "string", default: "300" },
			seed: { type: "string" },
		},
	});
	const [file, ...more] = positionals;
	const { url: urls, data } = values;
	const one = (urls === undefined) !== (data === undefined);
	if (file === undefined || more.length > 0 || !one) throw new Error(USAGE);
	const users = whole("users", values.users);
	const seed = whole("seed", values.seed ?? String(Date.now() % 2 ** 32));
	console.log(`seed ${seed}`);

	const expectation = await readFile(file);
	for (const [what, lines] of expectation.uncompared) {
		console.log(`not compared: ${what} (${count(lines)} lines)`);
	}
	await using folder = data === undefined ? null : await folderAsk(data);
	const began = performance.now();
	const summary = await compare(
		expectation,
		folder?.ask ?? httpAsk(urls ?? []),
		{ users, seed },
	);
	console.log(spelled(summary));
	console.log(
		`${((performance.now() - began) / 1000).toFixed(1)} s for ${count(summary.requests)} requests`,
	);
	return summary.mismatches === 0 ? 0 : 1;
}

function spelled(summary: Summary): string {
	const { walked, mismatches } = summary;
	const left = mismatches - summary.spelled.length;
	return [
		`${count(summary.users)} users, ${count(summary.boards)} boards and ${count(summary.pins)} pins: ${count(summary.lists)} lists with their counts, ${count(summary.edges)} edges in ${count(summary.pages)} pages, ${count(summary.origins)} origins`,
		`${walked.username}'s ${count(walked.followers)} followers in ${count(walked.pagesForward)} pages forward and ${count(walked.pagesBackward)} backward`,
		...summary.spelled.map((sentence) => `  ✗ ${sentence}`),
		...(left > 0 ? [`  and ${count(left)} more`] : []),
		`${count(mismatches)} mismatches`,
	].join("\n");
}

function count(number: number): string {
	return number.toLocaleString("en-US");
}

function whole(name: string, text: string): number {
	if (/^[0-9]{1,10}$/.test(text)) return Number(text);
	throw new Error(`expected --${name} to be a whole number but got: ${text}`);
}

try {
	process.exitCode = await main();
} catch (error) {
	console.error((error as Error).message);
	process.exitCode = 1;
}
