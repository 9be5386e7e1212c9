import { plural } from "../../../util/format.ts";
import type { ResponseError } from "./explainStore.ts";

/** The whole list is in the Response view. */
const MAX_SHOWN = 10;

/** The errors of the response, with their messages: what was refused, where, and why. */
export function ResponseErrors({
	errors,
}: {
	readonly errors: readonly ResponseError[];
}) {
	if (errors.length === 0) return null;
	const more = errors.length - MAX_SHOWN;
	return (
		<ul className="explain-problems" aria-label="Errors of the response">
			{errors.slice(0, MAX_SHOWN).map((error, index) => (
				// biome-ignore lint/suspicious/noArrayIndexKey: errors have no key, and their order is fixed
				<li key={index}>
					<b>{error.extensions?.code ?? "error"}</b> {error.message}{" "}
					<small>{placeOf(error)}</small>
				</li>
			))}
			{more > 0 && <li>and {plural(more, "more error")}</li>}
		</ul>
	);
}

function placeOf({ path, locations = [] }: ResponseError): string {
	if (path !== undefined) return `at ${path.join(".")}`;
	const [first] = locations;
	return first === undefined
		? ""
		: `line ${first.line}, column ${first.column}`;
}
