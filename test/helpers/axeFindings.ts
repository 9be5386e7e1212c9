import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "playwright-core";

const AXE = join(import.meta.dirname, "../../node_modules/axe-core/axe.min.js");

interface Axe {
	run(): Promise<{
		readonly violations: readonly {
			readonly id: string;
			readonly nodes: readonly { readonly html: string }[];
		}[];
	}>;
}

/** What axe-core finds on the page by all its rules, best practices included: the rule and the first element. */
export async function axeFindings(page: Page): Promise<readonly string[]> {
	await page.evaluate(readFileSync(AXE, "utf8"));
	return page.evaluate(async () => {
		const { axe } = globalThis as unknown as { readonly axe: Axe };
		const { violations } = await axe.run();
		return violations.map(({ id, nodes }) => `${id} ${nodes[0]?.html}`);
	});
}
