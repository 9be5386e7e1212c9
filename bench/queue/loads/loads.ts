import { SYSTEM_NAMES } from "../systems.ts";
import { burnDown } from "./burnDown.ts";
import type { Load } from "./load.ts";

export const LOADS = {
	burn: {
		title: "Burn down trivial jobs",
		systems: SYSTEM_NAMES.filter((name) => name !== "corkboard-nohints"),
		variants: [""],
		run: (context) =>
			burnDown(context, { jobs: context.options.jobs, bytes: 100 }),
	},
} as const satisfies Readonly<Record<string, Load>>;

export type LoadName = keyof typeof LOADS;
export const LOAD_NAMES = Object.keys(LOADS) as readonly LoadName[];

export function loadOf(name: LoadName): Load {
	return LOADS[name];
}
