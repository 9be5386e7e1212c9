import { after } from "node:test";
import { mysqlForSuite } from "../helpers/mysqlStorage.ts";
import { startMysql } from "../services/mysql.ts";
import { mysqlStorageSuite } from "../suites/mysqlStorage.ts";
import { storageSuite } from "../suites/storage.ts";

const server = await startMysql();
after(() => server.stop());
const open = await mysqlForSuite(server);

storageSuite("MySQL", open);
mysqlStorageSuite("MySQL", server, open);
