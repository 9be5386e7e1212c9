import { SECTIONS } from "../src/config/settings.ts";

/** docs/reference/configuration.md with the tables that follow from the settings' declarations; its other text stays. */
export function configurationPage(page: string): string {
	let next = page;
	for (const { title, settings } of SECTIONS) {
		const table = [
			"| name | meaning | default |",
			"|---|---|---|",
			...rowsOf(settings).map(
				({ names, about, shown }) =>
					`| ${names.map((name) => `\`${name}\``).join(" ")} | ${cell(about)} | ${cell(shown)} |`,
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

interface Row {
	readonly names: readonly string[];
	readonly about: string;
	readonly shown: string;
}

/** One row for each setting, or for those in sequence of which the same is said. */
function rowsOf(settings: (typeof SECTIONS)[number]["settings"]) {
	const rows: Row[] = [];
	for (const [name, { about, shown }] of Object.entries(settings)) {
		const last = rows.at(-1);
		if (last?.about === about && last.shown === shown) {
			rows[rows.length - 1] = { ...last, names: [...last.names, name] };
		} else rows.push({ names: [name], about, shown });
	}
	return rows;
}

function cell(text: string): string {
	return text.replaceAll("|", "\\|");
}
