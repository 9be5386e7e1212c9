import { ask } from "./ask.ts";

/** The connections that a Redis has, without the one that asks and those of its replicas or its master. */
export async function redisClients(server: {
	readonly host: string;
	readonly port: number;
}): Promise<{
	readonly normal: number;
	readonly pubsub: number;
	readonly ids: readonly string[];
}> {
	const text = await ask(server, "CLIENT LIST", /\n\r\n$/);
	const clients = text
		.split("\n")
		.filter(
			(line) =>
				line.includes(" addr=") &&
				!line.includes("cmd=client") &&
				!/ flags=[SM] /.test(line),
		);
	const subscribed = clients.filter((line) => !/ sub=0 /.test(line));
	return {
		normal: clients.length - subscribed.length,
		pubsub: subscribed.length,
		ids: clients.map((line) => /\bid=(\d+)/.exec(line)?.[1] ?? "").sort(),
	};
}
