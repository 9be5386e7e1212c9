/**
 * `npm run update`: brings the checked-in copies of what follows from the SDL in
 * line with it: the lock (additions only) and the golden files. What they show
 * is for reviewers; the tests hold them against the SDL. It writes Grafana's
 * dashboards too, from `deploy/grafana/dashboards.ts`, docs/reference/commands.md, the
 * types of each app, and the states of a move in docs/consistency/moving-shards.md.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { buildSchema, findBreakingChanges } from "graphql";
import { dashboardFiles } from "../deploy/grafana/dashboards.ts";
import pinsApp from "../pins/app.ts";
import { findApp } from "../src/app/findApp.ts";
import { lockFileOf, readApp } from "../src/app/readApp.ts";
import { updateLock } from "../src/app/updateLock.ts";
import { updateTypes } from "../src/app/updateTypes.ts";
import { CorkboardError } from "../src/errors.ts";
import { printPublicSchema } from "../src/model/publicSchema.ts";
import type { ModelAndSchema } from "../src/model/read.ts";
import { printModel } from "../src/model/schema/print.ts";
import { commandsPage } from "./commandsPage.ts";
import { configurationPage } from "./configurationPage.ts";
import { APPS } from "./helpers/apps.ts";
import { moveStatesPage } from "./moveStatesPage.ts";

export interface Copies {
	readonly lock: string;
	readonly model: string;
	readonly publicSchema: string;
}

/** Paths of the checked-in copies. */
export const COPIES: Copies = {
	lock: lockFileOf(pinsApp),
	model: join(import.meta.dirname, "golden/model.txt"),
	publicSchema: join(import.meta.dirname, "golden/public.graphql"),
};

export interface Updated {
	/** Whether the copies were written: not if the lock refuses the model. */
	readonly written: boolean;
	/** Lines to print. */
	readonly lines: readonly string[];
}

export function update(
	{ model, schema }: ModelAndSchema,
	copies: Copies,
): Updated {
	const { additions, breaks } = updateLock(
		{ app: pinsApp, model },
		copies.lock,
	);
	if (breaks.length > 0) {
		return {
			written: false,
			lines: ["Nothing was written. The lock refuses the SDL:", ...breaks],
		};
	}
	const shipped = buildSchema(readFileSync(copies.publicSchema, "utf8"));
	const breaking = findBreakingChanges(shipped, schema);
	writeFileSync(copies.model, printModel(model));
	writeFileSync(copies.publicSchema, printPublicSchema(schema));
	return {
		written: true,
		lines: [
			...additions.map((addition) => `New in the lock: ${addition}.`),
			...breaking.map(({ description }) => `Breaks clients: ${description}`),
			"The lock and the golden files are up to date.",
		],
	};
}

async function main(): Promise<void> {
	for (const [file, text] of dashboardFiles()) writeFileSync(file, text);
	writeFileSync(
		join(import.meta.dirname, "../docs/reference/commands.md"),
		await commandsPage(),
	);
	const configuration = join(
		import.meta.dirname,
		"../docs/reference/configuration.md",
	);
	writeFileSync(
		configuration,
		configurationPage(readFileSync(configuration, "utf8")),
	);
	const moving = join(
		import.meta.dirname,
		"../docs/consistency/moving-shards.md",
	);
	writeFileSync(moving, moveStatesPage(readFileSync(moving, "utf8")));
	const { written, lines } = await updated();
	(written ? process.stdout : process.stderr).write(`${lines.join("\n")}\n`);
	process.exitCode = written ? 0 : 1;
}

/** The copies, and the types of each app. */
async function updated(): Promise<Updated> {
	try {
		const copies = update(readApp(pinsApp), COPIES);
		if (copies.written) {
			for (const folder of APPS) updateTypes(readApp(await findApp(folder)));
		}
		return copies;
	} catch (error) {
		// The author of the SDL needs the file and the line, not where they were noticed.
		if (error instanceof CorkboardError && error.code === "BAD_MODEL") {
			return { written: false, lines: [error.message] };
		}
		throw error;
	}
}

// Without `await`, so that a test that imports this file can share its process with others.
if (import.meta.main) void main();
