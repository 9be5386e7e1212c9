/** Prints progress on stderr, as stdout belongs to the command. */
export function say(line: string): void {
	process.stderr.write(`services: ${line}\n`);
}
