export type JsonValue =
	| null
	| boolean
	| number
	| string
	| readonly JsonValue[]
	| JsonObject;

export interface JsonObject {
	readonly [key: string]: JsonValue;
}
