import type { ExplainStep } from "../../../plan/explain/explainOutput.ts";

type Kind = ExplainStep["kind"];

/** What each kind of step does, in the order of the legend. */
export const KINDS: readonly (readonly [Kind, string])[] = [
	["call", "runs a resolver"],
	["scan", "reads lists"],
	["fetch", "reads objects"],
	["write", "changes rows"],
];

/** Each kind has its own shape, so that color is not the only difference. */
export function KindMark({ kind }: { readonly kind: Kind }) {
	return (
		<svg
			className="kind-mark"
			viewBox="0 0 16 16"
			width="14"
			height="14"
			aria-hidden="true"
		>
			{kind === "call" && <path d="M8 .8 15.2 8 8 15.2.8 8z" />}
			{kind === "scan" && <path d="M1 2h14v3H1zM1 6.5h14v3H1zM1 11h14v3H1z" />}
			{kind === "fetch" && <circle cx="8" cy="8" r="7" />}
			{kind === "write" && <path d="M.8 1.5h14.4L8 15z" />}
		</svg>
	);
}

/** Drawn, because not every font has an arrow. */
export function Arrow() {
	return (
		<svg
			className="arrow"
			viewBox="0 0 12 8"
			width="12"
			height="8"
			aria-hidden="true"
		>
			<path d="M0 4h10M7 1l3 3-3 3" />
		</svg>
	);
}
