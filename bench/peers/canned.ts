/** node:http that parses the body and sends the same bytes each time: what no server of GraphQL can be cheaper than. `/canned/N` sends N bytes. */
import { createServer } from "node:http";
import { reportPort } from "./serving.ts";

const bodies = new Map<number, Buffer>();

function bodyOf(length: number): Buffer {
	const known = bodies.get(length);
	if (known !== undefined) return known;
	const body = Buffer.from(JSON.stringify({ data: "x".repeat(length) }));
	bodies.set(length, body);
	return body;
}

const server = createServer((request, response) => {
	const parts: Buffer[] = [];
	request.on("data", (part: Buffer) => parts.push(part));
	request.on("end", () => {
		JSON.parse(Buffer.concat(parts).toString());
		const body = bodyOf(Number(request.url?.split("/").at(-1)));
		response.writeHead(200, {
			"content-type": "application/json; charset=utf-8",
			"content-length": body.length,
		});
		response.end(body);
	});
});
server.listen(0, "127.0.0.1", () => reportPort(server.address()));
