import { fieldError } from "./errors.ts";
import type { PlannedField } from "./plan.ts";
import { addError, type ResponseState } from "./responseState.ts";

/**
 * An object or list of the response. It has its parent, so that a null can
 * propagate upward; a path is built only for an error.
 */
export interface ResultNode {
	/** Null for the root. */
	readonly parent: ResultNode | null;
	/** The response key or list index in the parent. */
	readonly key: string | number;
	readonly nullable: boolean;
	/** The result object or list itself. */
	readonly data: { [key: string | number]: unknown };
	/** The value that fields are read from. */
	readonly source: unknown;
	/** Whether a null propagated to this node. Execution below it then has no effect. */
	isNulled: boolean;
}

/**
 * Raises an execution error at one position (spec §6.4.4). The position becomes
 * null, or the nearest nullable node above it. Each nulled node gets one error:
 * further errors below it are ignored.
 */
export function raiseFieldError(
	response: ResponseState,
	field: PlannedField,
	parent: ResultNode,
	key: string | number,
	nullable: boolean,
	thrown: unknown,
): void {
	for (let node: ResultNode | null = parent; node; node = node.parent) {
		if (node.isNulled) return;
	}
	addError(response, () =>
		fieldError(thrown, field.nodes, [...pathOf(parent), key]),
	);
	if (nullable) parent.data[key] = null;
	else propagateNull(parent);
}

/** Nulls the nearest nullable node, starting with `from`; the whole data if there is none. */
export function propagateNull(from: ResultNode): void {
	let node = from;
	while (!node.nullable && node.parent !== null) node = node.parent;
	node.isNulled = true;
	if (node.parent !== null) node.parent.data[node.key] = null;
}

function pathOf(node: ResultNode): readonly (string | number)[] {
	return node.parent === null ? [] : [...pathOf(node.parent), node.key];
}
