// With the suites of statements, faults and frozen servers.
import "./mariadb.test.ts";
