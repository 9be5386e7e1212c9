/** Runs code in a server, and profiles it, through its inspector. */
export class Inspector implements Disposable {
	readonly #socket: WebSocket;
	readonly #waiting = new Map<number, PromiseWithResolvers<unknown>>();
	#last = 0;

	private constructor(socket: WebSocket) {
		this.#socket = socket;
		socket.addEventListener("message", ({ data }) => {
			const { id, result, error } = JSON.parse(String(data)) as {
				readonly id?: number;
				readonly result?: unknown;
				readonly error?: { readonly message: string };
			};
			if (id === undefined) return;
			const waiting = this.#waiting.get(id);
			this.#waiting.delete(id);
			if (error === undefined) waiting?.resolve(result);
			else waiting?.reject(new Error(error.message));
		});
		socket.addEventListener("close", () => {
			for (const { reject } of this.#waiting.values()) {
				reject(new Error("The inspector closed the connection."));
			}
		});
	}

	static async open(port: number): Promise<Inspector> {
		const response = await fetch(`http://127.0.0.1:${port}/json/list`);
		const [target] = (await response.json()) as readonly {
			readonly webSocketDebuggerUrl: string;
		}[];
		if (target === undefined) throw new Error("There is nothing to inspect.");
		const socket = new WebSocket(target.webSocketDebuggerUrl);
		await new Promise((resolve, reject) => {
			socket.addEventListener("open", resolve);
			socket.addEventListener("error", reject);
		});
		return new Inspector(socket);
	}

	send(method: string, params: object = {}): Promise<unknown> {
		const id = ++this.#last;
		const waiting = Promise.withResolvers<unknown>();
		this.#waiting.set(id, waiting);
		this.#socket.send(JSON.stringify({ id, method, params }));
		return waiting.promise;
	}

	/** The value of an expression. */
	async evaluate(expression: string): Promise<unknown> {
		const answer = (await this.send("Runtime.evaluate", {
			expression,
			returnByValue: true,
		})) as {
			readonly result: { readonly value?: unknown };
			readonly exceptionDetails?: { readonly text: string };
		};
		if (answer.exceptionDetails !== undefined) {
			throw new Error(answer.exceptionDetails.text);
		}
		return answer.result.value;
	}

	[Symbol.dispose](): void {
		this.#socket.close();
	}
}
