export const LOAD_NAMES = [
	"burn",
	"steady",
	"bodies",
	"backlog",
	"delayed",
	"idle",
	"life",
	"blocks",
	"snapshot",
] as const;
export type LoadName = (typeof LOAD_NAMES)[number];
