import { after } from "node:test";
import { startMariadb } from "../services/mariadb.ts";
import { queueRotationSuite } from "../suites/queueRotation.ts";

const server = await startMariadb();
after(() => server.stop());

await queueRotationSuite("MariaDB", server);
