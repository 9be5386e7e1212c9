import {
	type CacheHost,
	CHANNELS,
	type DeliveryPass,
	type TopologyEvent,
} from "../diagnostics.ts";
import type { createLog } from "../server/log.ts";

/** What an operator wants to read of, beside requests: told in the log until disposed. */
export function logEvents(log: ReturnType<typeof createLog>): Disposable {
	const listeners = [
		[
			CHANNELS.topology,
			(message: unknown) => {
				const { path, state, version, error } = message as TopologyEvent;
				const told = { path, version, reason: reasonOf(error) };
				if (state === "taken") log.info(told, "topology in use");
				else if (state === "refused") log.error(told, "topology refused");
				else log.warn(told, "no copy of the topology could be kept");
			},
		],
		[
			CHANNELS.cacheHost,
			(message: unknown) => {
				const { layer, host, state, error } = message as CacheHost;
				const told = { layer, host, reason: reasonOf(error) };
				if (state === "down") log.warn(told, "cache does not answer");
				else log.info(told, "cache answers again");
			},
		],
		[
			CHANNELS.deliveryPass,
			(message: unknown) => {
				const {
					delivered: paid,
					undelivered: left,
					error,
				} = message as DeliveryPass;
				if (error === undefined) log.info({ paid }, "swept");
				else
					log.warn(
						{ paid, left, reason: reasonOf(error) },
						"owed and not to be paid yet",
					);
			},
		],
	] as const;
	for (const [channel, listener] of listeners) channel.subscribe(listener);
	return {
		[Symbol.dispose]() {
			for (const [channel, listener] of listeners) {
				channel.unsubscribe(listener);
			}
		},
	};
}

/** Its words: where in our code it was noticed helps no operator. */
function reasonOf(error: unknown): string | undefined {
	return error instanceof Error ? error.message : undefined;
}
