import {
	ABOUT_MOVE_STEPS,
	ABOUT_WAVE_STATES,
	MOVE_STEPS,
	MOVE_TABLE,
	type Transition,
	WAVE_STATES,
} from "../src/fleet/operations/moveTable.ts";

const BEGIN = "<!-- npm run update writes this from moveTable.ts -->";
const END = "<!-- until here -->";
const ROWS: readonly Transition[] = MOVE_TABLE;

const UNDO: Readonly<Record<NonNullable<Transition["undo"]>, string>> = {
	cancel: "`moves cancel`",
	lift: "the runner, or its guard",
	reverse: "`moves reverse`",
	"as before": "as before",
};

/** docs/consistency/moving-shards.md with the picture and the tables of a move's states; its other text stays. */
export function moveStatesPage(page: string): string {
	const from = page.indexOf(BEGIN);
	const to = page.indexOf(END);
	if (from < 0 || to < from) {
		throw new Error(
			`docs/consistency/moving-shards.md has no ${BEGIN} before ${END}`,
		);
	}
	return `${page.slice(0, from + BEGIN.length)}\n\n${written()}\n\n${page.slice(to)}`;
}

function written(): string {
	return [
		"```mermaid",
		"stateDiagram-v2",
		"    [*] --> waiting",
		...ROWS.flatMap(({ event, wave, state }) =>
			state === undefined || wave === undefined
				? []
				: wave.map((from) => `    ${from} --> ${state}: ${event}`),
		),
		...WAVE_STATES.filter((state) => !leaves(state)).map(
			(state) => `    ${state} --> [*]`,
		),
		"```",
		"",
		...table(["a wave is", "when"], WAVE_STATES, ABOUT_WAVE_STATES),
		"",
		...table(["the move is", "when"], MOVE_STEPS, ABOUT_MOVE_STEPS),
		"",
		"| event | the move | the wave | what is done by then | undone by |",
		"|---|---|---|---|---|",
		...ROWS.map(
			({ event, during, step, wave, state, about, undo }) =>
				`| ${event} | ${change(during, step)} | ${change(wave ?? [], state)} | ${about} | ${undo === null ? "" : UNDO[undo]} |`,
		),
	].join("\n");
}

function leaves(state: string): boolean {
	return ROWS.some(
		({ wave, state: next }) =>
			next !== undefined && wave?.some((from) => from === state),
	);
}

function table<Name extends string>(
	head: readonly [string, string],
	names: readonly Name[],
	about: Readonly<Record<Name, string>>,
): readonly string[] {
	return [
		`| ${head.join(" | ")} |`,
		"|---|---|",
		...names.map((name) => `| \`${name}\` | ${about[name]} |`),
	];
}

/** `moving`, or `moving → way open`. */
function change(before: readonly string[], after: string | undefined): string {
	const from = before.join(", ");
	return after === undefined || from === after ? from : `${from} → ${after}`;
}
