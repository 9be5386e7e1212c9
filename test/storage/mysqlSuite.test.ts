import { after } from "node:test";
import { mysqlForSuite } from "../helpers/mysqlStorage.ts";
import { startMysql } from "../services/mysql.ts";
import { storageSuite } from "../suites/storage.ts";

const server = await startMysql();
after(() => server.stop());

storageSuite("MySQL", await mysqlForSuite(server));
