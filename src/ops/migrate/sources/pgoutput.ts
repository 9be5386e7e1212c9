import type { RowImage } from "./log.ts";

interface Relation {
	readonly schema: string;
	readonly table: string;
	readonly columns: readonly { readonly name: string; readonly type: number }[];
}

/** One message of `pgoutput`, version 1, as far as following needs it. */
type PgoutputMessage =
	| { readonly kind: "rows"; readonly images: readonly RowImage[] }
	| { readonly kind: "commit"; readonly end: string; readonly at: number }
	| { readonly kind: "truncate"; readonly tables: readonly string[] }
	| { readonly kind: "other" };

const OTHER: PgoutputMessage = { kind: "other" };

/** Milliseconds from 1970 to 2000, where the times of PostgreSQL begin. */
const EPOCH_MS = 946_684_800_000;
/** Types of whole numbers that JavaScript has: int2, int4, oid. The driver gives int8 as a text. */
const NUMBERS = new Set([21, 23, 26]);
const BOOLEAN = 16;

/** Reads the messages of one call of the server, which says what its tables are before it names their rows. */
export class PgoutputReader {
	readonly #schema: string;
	readonly #relations = new Map<number, Relation>();

	constructor(schema: string) {
		this.#schema = schema;
	}

	read(message: Buffer): PgoutputMessage {
		const bytes = new Bytes(message);
		switch (bytes.character()) {
			case "R":
				this.#takeRelation(bytes);
				return OTHER;
			case "C": {
				bytes.skip(1 + 8);
				const end = bytes.lsn();
				return { kind: "commit", end, at: bytes.microseconds() };
			}
			case "I": {
				const relation = this.#relation(bytes);
				bytes.skip(1);
				return rows(this.#image(relation, bytes, false));
			}
			case "U": {
				const relation = this.#relation(bytes);
				const kind = bytes.character();
				if (kind === "N") return rows(this.#image(relation, bytes, false));
				const before = this.#image(relation, bytes, true);
				bytes.skip(1);
				return rows(before, this.#image(relation, bytes, false));
			}
			case "D": {
				const relation = this.#relation(bytes);
				bytes.skip(1);
				return rows(this.#image(relation, bytes, true));
			}
			case "T": {
				const count = bytes.int32();
				bytes.skip(1);
				const tables = Array.from({ length: count }, () =>
					this.#relation(bytes),
				);
				return {
					kind: "truncate",
					tables: tables.flatMap((relation) =>
						relation?.schema === this.#schema ? [relation.table] : [],
					),
				};
			}
			default:
				return OTHER;
		}
	}

	#takeRelation(bytes: Bytes): void {
		const oid = bytes.int32();
		const [schema, table] = [bytes.text(), bytes.text()];
		bytes.skip(1);
		const columns = Array.from({ length: bytes.int16() }, () => {
			bytes.skip(1);
			const [name, type] = [bytes.text(), bytes.int32()];
			bytes.skip(4);
			return { name, type };
		});
		this.#relations.set(oid, { schema, table, columns });
	}

	#relation(bytes: Bytes): Relation | undefined {
		return this.#relations.get(bytes.int32());
	}

	/** Null for a table of another schema. Columns that the message leaves out, because they did not change or are no part of the key, are absent. */
	#image(
		relation: Relation | undefined,
		bytes: Bytes,
		isBefore: boolean,
	): RowImage | null {
		const row: Record<string, unknown> = {};
		const count = bytes.int16();
		for (let at = 0; at < count; at++) {
			const kind = bytes.character();
			const column = relation?.columns[at];
			if (kind === "u" || (kind === "n" && isBefore)) continue;
			const value =
				kind === "n"
					? null
					: readText(bytes.take(bytes.int32()).toString("utf8"), column?.type);
			if (column !== undefined) row[column.name] = value;
		}
		if (relation === undefined || relation.schema !== this.#schema) return null;
		return { table: relation.table, row, isBefore };
	}
}

function rows(...images: readonly (RowImage | null)[]): PgoutputMessage {
	return { kind: "rows", images: images.filter((image) => image !== null) };
}

function readText(text: string, type: number | undefined): unknown {
	if (type === BOOLEAN) return text === "t";
	return type !== undefined && NUMBERS.has(type) ? Number(text) : text;
}

class Bytes {
	readonly #bytes: Buffer;
	#at = 0;

	constructor(bytes: Buffer) {
		this.#bytes = bytes;
	}

	skip(count: number): void {
		this.#at += count;
	}

	take(count: number): Buffer {
		this.#at += count;
		return this.#bytes.subarray(this.#at - count, this.#at);
	}

	character(): string {
		return String.fromCharCode(this.take(1)[0] ?? 0);
	}

	int16(): number {
		return this.take(2).readInt16BE();
	}

	int32(): number {
		return this.take(4).readInt32BE();
	}

	/** `16/B374D848` */
	lsn(): string {
		const value = this.take(8).readBigUInt64BE();
		return formatLsn(value);
	}

	/** A time in microseconds since 2000, given as milliseconds since 1970. */
	microseconds(): number {
		return Number(this.take(8).readBigInt64BE() / 1_000n) + EPOCH_MS;
	}

	text(): string {
		const end = this.#bytes.indexOf(0, this.#at);
		const text = this.#bytes.toString("utf8", this.#at, end);
		this.#at = end + 1;
		return text;
	}
}

function formatLsn(value: bigint): string {
	const part = (half: bigint) => half.toString(16).toUpperCase();
	return `${part(value >> 32n)}/${part(value & 0xffffffffn)}`;
}

export function parseLsn(text: string): bigint {
	const [high = "0", low = "0"] = text.split("/");
	return (BigInt(`0x${high}`) << 32n) | BigInt(`0x${low}`);
}
