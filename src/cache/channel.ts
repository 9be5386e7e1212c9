import { randomUUID } from "node:crypto";
import {
	parseMessage,
	printHeartbeat,
	printMessages,
} from "./channelMessage.ts";
import { Link } from "./link.ts";
import { RedisConnection, redisHost } from "./redisConnection.ts";

/**
 * Processes tell each other over Redis which of their entries to forget
 * (PROTOCOLS §3 "In process"). Redis gives no word when a message is lost, so a
 * process believes that it hears the others only while it hears itself.
 *
 *     lost ──own heartbeat heard──▶ heard ──silent for 1 s, or unsubscribed──▶ lost
 *
 * It begins lost. A message lost in other ways does bounded harm: entries in
 * process live ten seconds.
 */
export interface Channel extends AsyncDisposable {
	/** Never rejects. Answers whether Redis took it. */
	publish(keys: readonly string[]): Promise<boolean>;
	/** Messages that came and were none of ours. */
	readonly ignored: number;
}

export interface Listener {
	/** Another process changed these. */
	onKeys(keys: readonly string[]): void;
	/** From now on others may change things unheard. Also called once at the beginning. */
	onLost(): void;
	/** What others change is heard again; what was read until now may be old. */
	onRestored(): void;
}

export function openChannel(
	options: Listener & {
		/** `redis://…` or `rediss://…` */
		readonly url: string;
		/** For each message, connecting included. */
		readonly deadlineMs?: number;
	},
): Channel {
	const { url, deadlineMs = 100 } = options;
	const me = randomUUID();
	const heartbeat = printHeartbeat(me);
	const link = new Link({
		layer: "redis",
		host: redisHost(url),
		deadlineMs,
		open: (lost) => new RedisConnection(url, deadlineMs, lost),
	});
	let subscription: Subscription | undefined;
	let heard = false;
	let ignored = 0;
	let disposed = false;

	/** Each as one PUBLISH, all in one pipeline. */
	const send = async (messages: readonly string[]): Promise<boolean> => {
		const sent = await link.call(
			"publish",
			messages.length,
			async ({ client, runId }) => {
				await runId;
				await Promise.all(
					messages.map((message) => client.publish(CHANNEL, message)),
				);
				return true;
			},
		);
		return sent ?? false;
	};

	const lose = () => {
		subscription?.connection.close();
		subscription = undefined;
		if (!heard) return;
		heard = false;
		options.onLost();
	};

	const receive = (from: Subscription, text: string) => {
		if (from !== subscription) return;
		const message = parseMessage(text);
		if (message === null) {
			ignored++;
		} else if (message.from !== me) {
			if (message.keys.length > 0) options.onKeys(message.keys);
		} else {
			from.heardAt = performance.now();
			if (heard) return;
			heard = true;
			options.onRestored();
		}
	};

	const subscribe = () => {
		const connection = new RedisConnection(url, SILENCE_MS, () => {
			if (subscription === fresh) lose();
		});
		const fresh: Subscription = { connection, heardAt: performance.now() };
		subscription = fresh;
		connection.client.on("message", (_, text) => receive(fresh, text));
		connection.runId
			.then(() => connection.client.subscribe(CHANNEL))
			// Then it is never heard, and closed for that.
			.catch(() => {});
	};

	const beat = () => {
		if (disposed) return;
		if (subscription === undefined) subscribe();
		else if (performance.now() - subscription.heardAt > SILENCE_MS) lose();
		void send([heartbeat]);
	};
	options.onLost();
	beat();
	// After a busy stretch what was heard meanwhile is read before it is missed: see link.ts.
	const timer = setInterval(() => setImmediate(beat), HEARTBEAT_MS);

	return {
		async publish(keys) {
			if (keys.length === 0) return true;
			const messages = printMessages(me, keys);
			return messages === null ? false : send(messages);
		},
		get ignored() {
			return ignored;
		},
		async [Symbol.asyncDispose]() {
			disposed = true;
			clearInterval(timer);
			lose();
			link[Symbol.dispose]();
		},
	};
}

interface Subscription {
	readonly connection: RedisConnection;
	/** When it last brought a message of our own, or was begun. */
	heardAt: number;
}

const CHANNEL = "corkboard.changed.1";
export const HEARTBEAT_MS = 250;
export const SILENCE_MS = 1_000;
