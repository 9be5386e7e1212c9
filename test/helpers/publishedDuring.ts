import type { Channel } from "node:diagnostics_channel";

/** The messages published on a diagnostics channel while `body` runs. */
export async function publishedDuring<Message>(
	channel: Channel,
	body: () => Promise<unknown>,
): Promise<readonly Message[]> {
	const messages: Message[] = [];
	const listen = (message: unknown) => messages.push(message as Message);
	channel.subscribe(listen);
	try {
		await body();
	} finally {
		channel.unsubscribe(listen);
	}
	return messages;
}
