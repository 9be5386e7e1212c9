import { channelOf } from "../diagnostics.ts";

export const FRESHNESS_CHANNELS = {
	/** Processes published what changed, or could not. */
	invalidation: channelOf<Invalidation>("corkboard.invalidation"),
	/** The shards that a process reads past its own cache have changed. */
	unreadOutboxes: channelOf<UnreadOutboxes>("corkboard.unreadOutboxes"),
};

/**
 * - `sent`: messages with the names of what this process changed; `ok` if Redis took them.
 * - `received`: one of another process.
 * - `missed`: all caches of this process were emptied, because it may have missed something.
 * - `heartbeat`: one of its own came back.
 * - `subscription`: it receives what others send, or does not.
 */
export type Invalidation =
	| {
			readonly kind: "sent";
			readonly messages: number;
			readonly keys: number;
			readonly ok: boolean;
	  }
	| { readonly kind: "received"; readonly keys: number }
	| {
			readonly kind: "missed";
			readonly reason: "gap" | "all" | "unreadable";
	  }
	| { readonly kind: "heartbeat"; readonly ms: number }
	| { readonly kind: "subscription"; readonly isLive: boolean };

export interface UnreadOutboxes {
	/** Shards whose outbox this process could not read for some seconds. */
	readonly shards: readonly number[];
}
