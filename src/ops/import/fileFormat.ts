/** So many bytes, or a first line that is shorter, are enough to recognize a format by. */
export const HEAD_BYTES = 64;

const COMPRESSED: readonly {
	readonly name: string;
	/** Its first bytes. */
	readonly magic: readonly number[];
	readonly unpack: string;
}[] = [
	{ name: "gzip", magic: [0x1f, 0x8b], unpack: "gzip -dc" },
	{ name: "zstd", magic: [0x28, 0xb5, 0x2f, 0xfd], unpack: "zstd -dc" },
	{ name: "bzip2", magic: [0x42, 0x5a, 0x68], unpack: "bzip2 -dc" },
	{
		name: "xz",
		magic: [0xfd, 0x37, 0x7a, 0x58, 0x5a],
		unpack: "xz -dc",
	},
	{ name: "zip", magic: [0x50, 0x4b, 0x03, 0x04], unpack: "unzip -p" },
];

/**
 * Why a file that begins so is not one JSON object per line, and what to do
 * about it; null if it may be. So that it is said once, and not of each line.
 */
export function formatProblem(head: Uint8Array): string | null {
	const packed = COMPRESSED.find(({ magic }) =>
		magic.every((byte, at) => head[at] === byte),
	);
	if (packed !== undefined) {
		return `The file is compressed with ${packed.name}. Unpack it first: ${packed.unpack} FILE | corkboard import -`;
	}
	if (isUtf16(head)) {
		return "The file is UTF-16. Convert it first: iconv -f UTF-16 -t UTF-8 FILE > utf8.ndjson";
	}
	const text = Buffer.from(head).toString("utf8").trimStart();
	if (text.startsWith("[")) {
		return "The file is a JSON array, and import reads one JSON object per line. Convert it first: jq -c '.[]' FILE > lines.ndjson";
	}
	if (/^\{\s*\n/.test(text)) {
		return "The file has JSON over several lines, and import reads one JSON object per line. Convert it first: jq -c . FILE > lines.ndjson";
	}
	return null;
}

/** With its byte order mark; or without it, if a line begins with ASCII characters. */
function isUtf16(head: Uint8Array): boolean {
	const [a, b, c, d] = head;
	if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff)) return true;
	const isZero = [a, b, c, d].map((byte) => byte === 0);
	return (
		(a !== undefined && isZero.join() === "false,true,false,true") ||
		isZero.join() === "true,false,true,false"
	);
}
