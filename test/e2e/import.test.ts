import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, beforeEach, describe, it } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openDataBase } from "../helpers/dataFolder.ts";
import { type Client, client } from "../helpers/client.ts";
import {
	type Environment,
	runProgram,
	serve,
	startProgram,
} from "../helpers/program.ts";
import { temporaryFolder } from "../helpers/temporaryFolder.ts";
