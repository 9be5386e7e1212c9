import { after } from "node:test";
import { mysqlForSuite } from "../helpers/mysqlStorage.ts";
import { startMariadb } from "../services/mariadb.ts";
import { storageSuite } from "../suites/storage.ts";

const server = await startMariadb();
after(() => server.stop());

storageSuite("MariaDB", await mysqlForSuite(server));
