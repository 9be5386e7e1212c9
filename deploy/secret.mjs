// Makes the secret of a fleet that was given none, as a file of variables for
// `node --env-file`, unless it is there: tokens given out stay good.
//
//     node deploy/secret.mjs /var/lib/corkboard/secret.env
import { randomBytes } from "node:crypto";
import { linkSync, rmSync, writeFileSync } from "node:fs";

const [file] = process.argv.slice(2);
if (file === undefined) {
	console.error("expected the path of the secret's file but got: nothing");
	process.exit(2);
}
const unnamed = `${file}.${process.pid}`;
try {
	const line = `CORKBOARD_SECRET=${randomBytes(48).toString("base64url")}\n`;
	writeFileSync(unnamed, line, { mode: 0o600 });
	// It appears whole, or is somebody's already.
	linkSync(unnamed, file);
	console.log(`${file}: made`);
} catch (error) {
	if (error.code !== "EEXIST") throw error;
	console.log(`${file}: is there`);
} finally {
	rmSync(unnamed, { force: true });
}
