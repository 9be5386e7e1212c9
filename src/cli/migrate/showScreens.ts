import type { Corkboard } from "../../app/openCorkboard.ts";
import { CorkboardError } from "../../errors.ts";
import { readQuery } from "../../graphql/document.ts";
import type { Id } from "../../id/ids.ts";
import type { Screens } from "../../ops/migrate/screens.ts";
import type { ScreenReport, Shown } from "../../ops/migrate/shadow.ts";
import { formatNumber } from "../../util/format.ts";
import type { JsonValue } from "../../util/json.ts";

/** Runs the documents of screens. Throws BAD_USER_INPUT with all that is wrong with one. */
export function showScreens(
	{ schema, planner, createContext }: Corkboard,
	screens: Screens,
): (screen: string, id: Id) => Promise<Shown> {
	const shown = new Map(
		Object.entries(screens).map(([name, { document: text, isViewer }]) => {
			const at = `screens.${name}.document`;
			const document = readQuery(schema, text, at);
			const hasId = document.definitions.some(
				(definition) =>
					definition.kind === "OperationDefinition" &&
					definition.variableDefinitions?.some(
						({ variable }) => variable.name.value === "id",
					),
			);
			if (!hasId) {
				throw new CorkboardError(
					"BAD_USER_INPUT",
					`${at} must have the variable $id, the id of the object that it is shown for: query ($id: ID!) { … }`,
				);
			}
			return [name, { document, isViewer: isViewer === true }];
		}),
	);
	return async (name, id) => {
		const screen = shown.get(name);
		if (screen === undefined)
			throw new TypeError(`There is no screen ${name}.`);
		const { document, isViewer } = screen;
		return await planner.execute({
			document,
			variables: { id },
			context: createContext(isViewer ? id : null),
		});
	};
}

/** How many of each screen are equal, and the first that are not, with both values. */
export function screenLines(
	reports: readonly ScreenReport[],
): readonly string[] {
	return reports.flatMap(
		({ name, samples, equal, differ, notHere, differences }) => [
			`${name}: ${formatNumber(samples)} samples, ${formatNumber(equal)} equal, ${formatNumber(differ)} differ${notHere === 0 ? "" : `, ${formatNumber(notHere)} not here`}`,
			...differences.map((one) => `  ${one.key}: ${differenceText(one)}`),
		],
	);
}

function differenceText({
	kind,
	row,
	field,
	there,
	here,
}: ScreenReport["differences"][number]): string {
	const both = `${shown(there)} there, ${shown(here)} here`;
	switch (kind) {
		case "count":
			return `${both} (rows)`;
		case "order":
			return `the same rows in another order, from row ${row} on: ${both}`;
		case "value":
			return `row ${row}, ${field}: ${both}`;
		case "error":
			return `the document failed: ${here}`;
	}
}

function shown(value: JsonValue): string {
	return JSON.stringify(value);
}
