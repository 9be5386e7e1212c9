// Generates the secret of a fleet as a file for `node --env-file`, unless the
// file exists: tokens that were issued stay valid.
//
//     node deploy/secret.mjs /var/lib/corkboard/secret.env
import { randomBytes } from "node:crypto";
import { linkSync, rmSync, writeFileSync } from "node:fs";

const [file] = process.argv.slice(2);
if (file === undefined) {
	console.error("Missing argument FILE. Usage: node deploy/secret.mjs FILE");
	process.exit(2);
}
// Not the process id: containers on one volume may both be process 1.
const temporary = `${file}.${randomBytes(6).toString("hex")}`;
try {
	const line = `CORKBOARD_SECRET=${randomBytes(48).toString("base64url")}\n`;
	writeFileSync(temporary, line, { mode: 0o600 });
	// Atomic: the file appears complete, or another process has created it.
	linkSync(temporary, file);
	console.log(`${file}: made`);
} catch (error) {
	if (error.code !== "EEXIST") throw error;
	console.log(`${file}: is there`);
} finally {
	rmSync(temporary, { force: true });
}
