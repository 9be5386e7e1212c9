/** Source without its comments. Strings stay as they are, so that a URL in one starts no comment. */
export function withoutComments(source: string): string {
	return source.replaceAll(
		/("(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|\/\*[\s\S]*?\*\/|\/\/[^\n]*/g,
		(_, string: string | undefined) => string ?? "",
	);
}
