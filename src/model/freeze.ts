/** Freeze all that is reachable, maps too: writing to one throws. */
export function deepFreeze<T>(value: T): T {
	if (typeof value !== "object" || value === null || Object.isFrozen(value)) {
		return value;
	}
	if (value instanceof Map) {
		for (const [key, item] of value) {
			deepFreeze(key);
			deepFreeze(item);
		}
		// Object.freeze does not reach what a map holds.
		const refuse = { value: refuseChange };
		Object.defineProperties(value, {
			set: refuse,
			delete: refuse,
			clear: refuse,
		});
	}
	Object.freeze(value);
	for (const item of Object.values(value)) deepFreeze(item);
	return value;
}

function refuseChange(): never {
	throw new TypeError("expected no change to frozen data but got: one");
}
