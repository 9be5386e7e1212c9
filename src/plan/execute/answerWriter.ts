import type { GraphQLSchema } from "graphql";
import { asCorkboardError, CorkboardError } from "../../errors.ts";
import { quote } from "../../util/json.ts";
import type { BoundPlan } from "../boundPlan.ts";
import { fieldError } from "../errors.ts";
import { executeIntrospection } from "../introspection.ts";
import {
	isNode,
	type LeafShape,
	type ListShape,
	type ObjectShape,
	type PlannedField,
	type Shape,
	selectionOf,
} from "../plan.ts";
import {
	addError,
	checkTextSize,
	type ResponseState,
} from "../responseState.ts";
import { type Column, isIterable, isObject, type Level } from "./column.ts";

/** A list without objects checks the size of the text once for so many items. */
const ITEMS_PER_CHECK = 256;

/** A text checks the size at once if it is longer. */
const LONG_TEXT = 1_000;

/**
 * Completes values and writes them as JSON, depth-first (spec §6.4.3). A method
 * that writes a value returns false if the value must be null and its position
 * cannot be: the null propagates to the nearest nullable position, which takes
 * back everything that was written of it (§6.4.4). So each nulled position has
 * one error, and what follows below it is not completed.
 */
export class AnswerWriter {
	readonly #response: ResponseState;
	readonly #bound: BoundPlan;
	readonly #schema: GraphQLSchema;
	#text = "";
	/** Characters that escaping added to the text. */
	#escapes = 0;
	/** The path of the value being written: the first `#depth` keys. */
	readonly #keys: (string | number)[] = [];
	#depth = 0;
	/** The object of the column that is next: lists write theirs in order. */
	#next = 0;

	constructor(
		response: ResponseState,
		bound: BoundPlan,
		schema: GraphQLSchema,
	) {
		this.#response = response;
		this.#bound = bound;
		this.#schema = schema;
	}

	/** The text of everything that was written. */
	get text(): string {
		return this.#text;
	}

	/** ExecuteSelectionSet (spec §6.3) for one object of a level. */
	writeObject(level: Level, row: number): boolean {
		const { fields, tail } = level.selection;
		for (let index = 0; index < fields.length; index++) {
			const field = fields[index] as PlannedField;
			if (!this.writeField(field, level, row)) return false;
		}
		this.endObject(tail);
		return true;
	}

	endObject(tail: string): void {
		this.#text += tail;
		this.#checkSize();
	}

	writeField(field: PlannedField, level: Level, row: number): boolean {
		this.#text += field.prefix;
		const { column, access, shape } = field;
		if (column >= 0) {
			return this.#writeColumn(level.columns[column] as Column, row);
		}
		if (access.kind !== "value") return this.#writeIntrospection(field);
		let value: unknown;
		try {
			value = access.of(level.sources[row]);
		} catch (thrown) {
			value = asCorkboardError(thrown);
		}
		if (shape.kind === "leaf" && this.#writePlainLeaf(shape, value))
			return true;
		this.#keys[this.#depth++] = field.key;
		const written = this.#writeValue(field, null, shape, value);
		this.#depth--;
		return written;
	}

	#writeColumn(column: Column, row: number): boolean {
		const { field, error, starts } = column;
		const outer = this.#next;
		this.#next = starts === null ? row : (starts[row] as number);
		this.#keys[this.#depth++] = field.key;
		const written =
			error === null
				? this.#writeValue(field, column, field.shape, column.values[row])
				: this.#raise(field, field.shape.nullable, error);
		this.#depth--;
		this.#next = outer;
		return written;
	}

	/** CompleteValue (spec §6.4.3). An Error as a value is raised at its position. */
	#writeValue(
		field: PlannedField,
		column: Column | null,
		shape: Shape,
		value: unknown,
	): boolean {
		if (value === null || value === undefined) {
			return this.#writeNull(field, shape);
		}
		if (value instanceof Error) {
			return this.#raise(field, shape.nullable, value);
		}
		switch (shape.kind) {
			case "leaf":
				return (
					this.#writePlainLeaf(shape, value) ||
					this.#writeLeaf(field, shape, value)
				);
			case "list":
				return this.#writeList(field, column, shape, value);
			case "object":
				return this.#writeObjectOf(column as Column, shape, this.#next++);
		}
	}

	/** The common values, which are always themselves. False for others: nothing is written then. */
	#writePlainLeaf({ format }: LeafShape, value: unknown): boolean {
		switch (typeof value) {
			case "string":
				if (format !== "text") return false;
				this.#writeText(value);
				return true;
			case "number":
				// Also whether it is an integer of 32 bits.
				if (format !== "integer" || (value | 0) !== value) return false;
				this.#text += value;
				return true;
			case "boolean":
				if (format !== "boolean") return false;
				this.#text += value ? "true" : "false";
				return true;
			default:
				return false;
		}
	}

	#writeLeaf(field: PlannedField, shape: LeafShape, value: unknown): boolean {
		let error: CorkboardError;
		try {
			const serialized = shape.serialize(value);
			if (typeof serialized === "string") {
				this.#writeText(serialized);
				return true;
			}
			const json = isObject(serialized) && JSON.stringify(serialized);
			if (typeof json === "string") {
				this.#text += json;
				this.#checkSize();
				return true;
			}
			error = new CorkboardError(
				"BAD_DATA",
				`A value of ${field.coordinate} serialized to null.`,
			);
		} catch (cause) {
			// The message of the cause quotes the value, so it is for the log only.
			error = new CorkboardError(
				"BAD_DATA",
				`A value of ${field.coordinate} cannot be serialized.`,
				{ cause },
			);
		}
		return this.#raise(field, shape.nullable, error);
	}

	#writeText(text: string): void {
		const json = quote(text);
		this.#escapes += json.length - text.length - 2;
		this.#text += json;
		if (text.length > LONG_TEXT) this.#checkSize();
	}

	#writeList(
		field: PlannedField,
		column: Column | null,
		shape: ListShape,
		value: unknown,
	): boolean {
		const { of, nullable } = shape;
		if (!isIterable(value)) {
			const error = new CorkboardError(
				"BAD_DATA",
				`${field.coordinate} must be a list, got ${typeof value}.`,
			);
			return this.#raise(field, nullable, error);
		}
		// Iterables with objects are arrays by now.
		const items: readonly unknown[] = Array.isArray(value) ? value : [...value];
		const text = this.#text;
		const escapes = this.#escapes;
		const next = this.#next;
		const depth = this.#depth++;
		this.#text += "[";
		for (let index = 0; index < items.length; index++) {
			if (index > 0) this.#text += ",";
			this.#keys[depth] = index;
			if (!this.#writeValue(field, column, of, items[index])) {
				this.#depth = depth;
				if (!nullable) return false;
				// The lists around this one go on with the objects after its own.
				this.#next = next + countObjects(shape, value);
				return this.#takeBack(text, escapes);
			}
			if (index % ITEMS_PER_CHECK === 0) this.#checkSize();
		}
		this.#text += "]";
		this.#depth = depth;
		return true;
	}

	#writeObjectOf(column: Column, shape: ObjectShape, at: number): boolean {
		const { rows, levelOf, levels, field } = column;
		const row = rows === null ? at : (rows[at] as number);
		if (row < 0) return this.#writeMissing(field, shape, column.objects[at]);
		const text = this.#text;
		const escapes = this.#escapes;
		const level = levels[levelOf === null ? 0 : (levelOf[at] as number)];
		if (this.writeObject(level as Level, row)) return true;
		return shape.nullable && this.#takeBack(text, escapes);
	}

	/** In place of an object: null, or why there is none. */
	#writeMissing(
		field: PlannedField,
		shape: ObjectShape,
		object: unknown,
	): boolean {
		const { nullable, fetch } = shape;
		if (object instanceof Error) return this.#raise(field, nullable, object);
		if (!isObject(object)) return this.#writeNull(field, shape);
		const error = selectionOf(shape, object)?.error ?? null;
		if (error !== null) return this.#raise(field, nullable, error);
		if (fetch !== null && isNode(object)) {
			// An id of an object of another type names nothing here.
			return this.#writeNull(field, shape);
		}
		const noObject = new CorkboardError(
			"BAD_DATA",
			`${field.coordinate} must be an object, got ${typeof object}.`,
		);
		return this.#raise(field, nullable, noObject);
	}

	/** graphql-js completes the value. */
	#writeIntrospection(field: PlannedField): boolean {
		const { access, key, shape } = field;
		if (access.kind !== "introspection") {
			throw new TypeError(`${field.coordinate} has no column`);
		}
		const { value, errors } = executeIntrospection(
			this.#schema,
			access.document,
			this.#bound.variables,
			key,
		);
		for (const error of errors) addError(this.#response, () => error);
		if (value === null && !shape.nullable) return false;
		this.#text += JSON.stringify(value);
		this.#checkSize();
		return true;
	}

	#writeNull(field: PlannedField, shape: Shape): boolean {
		const { nullable } = shape;
		if (shape.kind === "object" && shape.isNullOnlyOnError) {
			// Its parent was visible with it: it was hidden or deleted since.
			const error = new CorkboardError(
				"UNAVAILABLE",
				`${field.coordinate} changed while it was read. Try again.`,
			);
			return this.#raise(field, nullable, error);
		}
		if (nullable) {
			this.#text += "null";
			return true;
		}
		const error = new CorkboardError(
			"INTERNAL",
			`Cannot return null for non-nullable field ${field.coordinate}.`,
		);
		return this.#raise(field, nullable, error);
	}

	/** Raises an execution error at the path. */
	#raise(field: PlannedField, nullable: boolean, thrown: unknown): boolean {
		addError(this.#response, () =>
			fieldError(thrown, field.nodes, this.#keys.slice(0, this.#depth)),
		);
		if (nullable) this.#text += "null";
		return nullable;
	}

	/** Replaces by null what was written since. */
	#takeBack(text: string, escapes: number): true {
		this.#text = `${text}null`;
		this.#escapes = escapes;
		return true;
	}

	#checkSize(): void {
		checkTextSize(this.#response, this.#text.length - this.#escapes);
	}
}

/** How many objects of its column a value has. */
function countObjects(shape: Shape, value: unknown): number {
	if (!isObject(value) || shape.kind === "leaf") return 0;
	if (shape.kind === "object") return 1;
	if (!Array.isArray(value)) return 0;
	return value.reduce<number>(
		(sum, item) => sum + countObjects(shape.of, item),
		0,
	);
}
