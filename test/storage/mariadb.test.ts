import { after } from "node:test";
import { mysqlForSuite } from "../helpers/mysqlStorage.ts";
import { startMariadb } from "../services/mariadb.ts";
import { mysqlStorageSuite } from "../suites/mysqlStorage.ts";
import { storageSuite } from "../suites/storage.ts";

const server = await startMariadb();
after(() => server.stop());
const open = await mysqlForSuite(server);

storageSuite("MariaDB", open);
mysqlStorageSuite("MariaDB", server, open);
