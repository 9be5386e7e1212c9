import { describe } from "node:test";
import type { OpenStorage } from "../helpers/storageModel.ts";
import { initTests } from "./storageInit.ts";
import { lookupTests } from "./storageLookups.ts";
import { objectTests } from "./storageObjects.ts";
import { outboxTests } from "./storageOutbox.ts";
import { positionTests } from "./storagePositions.ts";
import { refusalTests } from "./storageRefusals.ts";
import { scanTests } from "./storageScans.ts";
import { traceTests } from "./storageTraces.ts";
import { transactionTests } from "./storageTransactions.ts";
import { walkTests } from "./storageWalks.ts";

/** What every implementation of the storage port does. Each kind of shard runs this suite. */
export function storageSuite(name: string, open: OpenStorage): void {
	describe(`storage on ${name}`, () => {
		describe("objects", () => objectTests(open));
		describe("scans and edges", () => scanTests(open));
		describe("transactions", () => transactionTests(open));
		describe("positions in a list", () => positionTests(open));
		describe("refused transactions", () => refusalTests(open));
		describe("lookups", () => lookupTests(open));
		describe("the outbox", () => outboxTests(open));
		describe("creating tables", () => initTests(open));
		describe("the trace of a write", () => traceTests(open));
		describe("walks", () => walkTests(open));
	});
}
