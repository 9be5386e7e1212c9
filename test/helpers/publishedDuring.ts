import { type Channel, listen } from "../../src/diagnostics.ts";

/** The messages published on a diagnostics channel while `body` runs. */
export async function publishedDuring<Message>(
	channel: Channel<Message>,
	body: () => Promise<unknown>,
): Promise<readonly Message[]> {
	const messages: Message[] = [];
	using _ = listen(channel, (message) => void messages.push(message));
	await body();
	return messages;
}
