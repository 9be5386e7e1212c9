/** FNV-1a of a string's UTF-16 units, 32 bits. It must never change: it decides which memcached host a key is on. */
export function fnv1a(text: string, hash = 0x811c9dc5): number {
	let result = hash;
	for (let at = 0; at < text.length; at++) {
		result = Math.imul(result ^ text.charCodeAt(at), 0x01000193);
	}
	return result >>> 0;
}
