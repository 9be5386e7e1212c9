import { SECTIONS } from "../src/config/settings.ts";

/** docs/reference/configuration.md with the tables that follow from the settings' declarations; its other text stays. */
export function configurationPage(page: string): string {
	let next = page;
	for (const { title, settings } of SECTIONS) {
		const table = [
			"| name | meaning | default |",
			"|---|---|---|",
			...Object.entries(settings).map(
				([name, { about, shown }]) =>
					`| \`${name}\` | ${cell(about)} | ${cell(shown)} |`,
			),
		].join("\n");
		const place = new RegExp(
			`(^## ${title}\\n(?:(?!## |\\|).*\\n)*)(?:\\|.*\\n)*`,
			"m",
		);
		if (!place.test(next)) {
			throw new Error(
				`docs/reference/configuration.md has no heading ${title}`,
			);
		}
		next = next.replace(place, (_, before) => `${before}${table}\n`);
	}
	return next;
}

function cell(text: string): string {
	return text.replaceAll("|", "\\|");
}
