/** Tells whoever waits what is being done. On stderr: what a command prints is its own. */
export function say(line: string): void {
	process.stderr.write(`services: ${line}\n`);
}
