/** A command line that a benchmark does not take. Its usage is printed beside it. */
export class UsageError extends Error {}
