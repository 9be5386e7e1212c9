/** Splits CSV (RFC 4180) into records. An empty value is null, and `""` is an empty text. */
export class CsvSplitter {
	#record: (string | null)[] = [];
	#value = "";
	#state: "start" | "plain" | "quoted" | "quote" = "start";

	/** The records that end in this text. */
	split(text: string): (string | null)[][] {
		const records: (string | null)[][] = [];
		for (const char of text) this.#take(char, records);
		return records;
	}

	/** The last record, if no line end follows it. */
	rest(): (string | null)[][] {
		const records: (string | null)[][] = [];
		if (this.#state !== "start" || this.#record.length > 0) {
			this.#take("\n", records);
		}
		return records;
	}

	#take(char: string, records: (string | null)[][]): void {
		if (this.#state === "quoted") {
			if (char === '"') this.#state = "quote";
			else this.#value += char;
			return;
		}
		if (char === '"' && this.#state === "start") this.#state = "quoted";
		else if (char === '"' && this.#state === "quote") {
			this.#value += '"';
			this.#state = "quoted";
		} else if (char === ",") this.#endValue();
		else if (char === "\n") {
			const isBlank = this.#record.length === 0 && this.#state === "start";
			this.#endValue();
			if (!isBlank) records.push(this.#record);
			this.#record = [];
		} else if (char !== "\r" || this.#state === "plain") {
			if (this.#state === "start") this.#state = "plain";
			if (char !== "\r") this.#value += char;
		}
	}

	#endValue(): void {
		this.#record.push(this.#state === "start" ? null : this.#value);
		this.#value = "";
		this.#state = "start";
	}
}
