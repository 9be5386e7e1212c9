import { after } from "node:test";
import { mysqlJobsForSuite } from "../helpers/mysqlJobs.ts";
import { startMysql } from "../services/mysql.ts";
import { jobStoreSuite } from "../suites/jobStore.ts";
import { mysqlJobsSuite } from "../suites/mysqlJobs.ts";

const server = await startMysql();
after(() => server.stop());

await jobStoreSuite("MySQL", () => mysqlJobsForSuite(server));
await mysqlJobsSuite("MySQL", server);
