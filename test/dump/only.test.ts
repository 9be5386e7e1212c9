import { test } from "node:test";
import { bringBoardBack } from "./deletedBoard.ts";

test("a deleted board comes back from a dump with its pins in order, likes and comments, and changes nothing that lives", () =>
	bringBoardBack(120));
