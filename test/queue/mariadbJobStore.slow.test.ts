import { after } from "node:test";
import { mysqlJobsForSuite } from "../helpers/mysqlJobs.ts";
import { startMariadb } from "../services/mariadb.ts";
import { jobStoreSuite } from "../suites/jobStore.ts";
import { mysqlJobsSuite } from "../suites/mysqlJobs.ts";

const server = await startMariadb();
after(() => server.stop());

await jobStoreSuite("MariaDB", () => mysqlJobsForSuite(server));
await mysqlJobsSuite("MariaDB", server);
