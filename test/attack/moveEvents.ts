import { eventsOf } from "../../src/fleet/operations/moveTable.ts";

const SWITCH = eventsOf("switch");
const COPIED = SWITCH.slice(0, SWITCH.indexOf("cutting over"));
const THERE = [...SWITCH, ...eventsOf("park")];
/** What was copied is there already. */
const BACK = THERE.slice(THERE.indexOf("verified"));
const CLOSE = eventsOf("close");

/** After which the runner of a move can be killed: until it switches, until its way back is open, and on each way from there. */
export const MOVE_EVENTS: Readonly<
	Record<"copy" | "move" | "reverse" | "complete" | "cancel", readonly string[]>
> = {
	copy: ["locked", ...COPIED],
	move: ["locked", ...THERE],
	reverse: [...BACK, ...CLOSE],
	complete: CLOSE,
	cancel: eventsOf("cancel"),
};
