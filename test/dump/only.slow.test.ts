import { test } from "node:test";
import { bringBoardBack } from "./deletedBoard.ts";

test("a deleted board of 5,000 pins comes back from a dump", () =>
	bringBoardBack(5_000));
