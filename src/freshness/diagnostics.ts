import { channelOf } from "../diagnostics.ts";

export const FRESHNESS_CHANNELS = {
	/** Processes published what changed, or could not. */
	invalidation: channelOf<Invalidation>("corkboard.invalidation"),
	/** The shards that a process reads past its own cache have changed. */
	unreadOutboxes: channelOf<UnreadOutboxes>("corkboard.unreadOutboxes"),
	/** This process speaks to other servers of a shared cache than the fleet agrees on, or to the same again. */
	cacheAgreement: channelOf<CacheAgreementEvent>("corkboard.cacheAgreement"),
};

/**
 * - `sent`: messages with the names of what this process changed; `ok` if Redis took them.
 * - `received`: one of another process.
 * - `missed`: this process dropped what it cached of a channel, or of several, because it may have missed something.
 * - `proof`: so long after it asked Redis for its numbers, it had received all of these messages, or knew which it had missed.
 * - `subscription`: it does not receive what others send over so many channels.
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
	| { readonly kind: "proof"; readonly ms: number }
	| { readonly kind: "subscription"; readonly lost: number };

interface UnreadOutboxes {
	/** Shards whose outbox this process could not read for some seconds. */
	readonly shards: readonly number[];
}

interface CacheAgreementEvent {
	/** `objects` or `lists` of the settings, `lists HOST` of the map. */
	readonly part: string;
	readonly differs: boolean;
	/** The `run_id` of a Redis, or the hash of a list of memcached hosts. */
	readonly own: string | null;
	/** Null: those who used the agreed servers have switched to others, which nobody uses yet. */
	readonly agreed: string | null;
}
