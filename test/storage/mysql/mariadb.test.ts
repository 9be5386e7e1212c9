import { after } from "node:test";
import { mysqlForSuite } from "../../helpers/mysqlStorage.ts";
import { IS_SLOW_RUN } from "../../helpers/slowRun.ts";
import { startMariadb } from "../../services/mariadb.ts";
import { mysqlFaultsSuite } from "../../suites/mysqlFaults.ts";
import { mysqlFrozenSuite } from "../../suites/mysqlFrozen.ts";
import { mysqlStatementsSuite } from "../../suites/mysqlStatements.ts";
import { storageSuite } from "../../suites/storage.ts";

const server = await startMariadb();
after(() => server.stop());
const open = await mysqlForSuite(server);

storageSuite("MariaDB", open);
// What MySQL has been asked already: that MariaDB answers it alike is seen by the slow run.
if (IS_SLOW_RUN) {
	mysqlStatementsSuite("MariaDB", server, open);
	mysqlFaultsSuite("MariaDB", server, open);
	mysqlFrozenSuite("MariaDB", server, open);
}
