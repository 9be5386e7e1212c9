/** Random numbers seeded by a text: the same picture wherever the pin is shown. */
export function chanceOf(text: string): () => number {
	let state = 2_166_136_261;
	for (const character of text) {
		state = Math.imul(state ^ (character.codePointAt(0) ?? 0), 16_777_619);
	}
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let bits = Math.imul(state ^ (state >>> 15), state | 1);
		bits ^= bits + Math.imul(bits ^ (bits >>> 7), bits | 61);
		return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
	};
}

/** Background, three tones on it, and a light one. */
export type Palette = readonly [string, string, string, string, string];

const PALETTES: readonly Palette[] = [
	["#e9dfcf", "#c8a27c", "#8c6a4f", "#b5533c", "#fbf5ea"],
	["#dbe4dc", "#9db5a0", "#5f7f6c", "#d9a75b", "#f6f4ea"],
	["#d9e2ea", "#9fb8c8", "#5d7f97", "#e0b184", "#f4f6f7"],
	["#ecdcd6", "#d8a48f", "#a8655a", "#6f7f8f", "#fbf3ee"],
	["#e6e0ee", "#b5a6cc", "#7d6d9c", "#e1b97a", "#f7f4fb"],
	["#e8e6d6", "#c3bd8b", "#85804f", "#c97b4e", "#faf8ec"],
	["#d8e5e3", "#8fb9b3", "#43807c", "#e7a98c", "#f2f8f6"],
	["#eee3d0", "#e2b96f", "#b97c3d", "#58718a", "#fcf7ec"],
];

export function paletteOf(chance: () => number): Palette {
	return PALETTES[Math.floor(chance() * PALETTES.length)] as Palette;
}
