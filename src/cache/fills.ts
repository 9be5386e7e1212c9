import { CHANNELS, type SharedFill } from "../diagnostics.ts";

/** Reports what became of keys that were sent to a shared cache; `refused` is null where it did not answer. */
export function reportFills(
	layer: SharedFill["layer"],
	keys: number,
	refused: number | null,
): void {
	if (!CHANNELS.sharedFill.hasSubscribers) return;
	const publish = (result: SharedFill["result"], some: number) => {
		if (some === 0) return;
		CHANNELS.sharedFill.publish({ layer, keys: some, result });
	};
	if (refused === null) {
		publish("failed", keys);
		return;
	}
	publish("filled", keys - refused);
	publish("refused", refused);
}
