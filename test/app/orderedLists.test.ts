import { openTest } from "../../src/testing/openTest.ts";
import { orderedListSuite } from "../suites/orderedLists.ts";

orderedListSuite("SQLite", (app, lines) => openTest(app, lines));
