import { type CallOptions, CHANNELS } from "../diagnostics.ts";

/** Every call of the port begins here: one that nobody waits for any more goes no further. */
export function startCall(
	verb: string,
	keys: number,
	call?: CallOptions,
): void {
	call?.signal?.throwIfAborted();
	if (CHANNELS.storage.hasSubscribers) CHANNELS.storage.publish({ verb, keys });
}
