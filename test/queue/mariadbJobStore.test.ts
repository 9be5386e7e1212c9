import { after } from "node:test";
import { mysqlJobsForSuite } from "../helpers/mysqlJobs.ts";
import { startMariadb } from "../services/mariadb.ts";
import { jobStoreSuite } from "../suites/jobStore.ts";

const server = await startMariadb();
after(() => server.stop());

jobStoreSuite("MariaDB", () => mysqlJobsForSuite(server));
