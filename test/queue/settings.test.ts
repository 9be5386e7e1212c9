import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
	applySettings,
	checkedSettings,
	checkNewQueue,
	DEFAULT_SETTINGS,
	newestCopy,
	printDuration,
	printSetting,
	SETTING_NAMES,
	settingsOf,
} from "../../src/queue/settings.ts";

describe("settings of a queue", () => {
	test("are the defaults where nothing is set, and print as they are given", () => {
		assert.deepEqual(settingsOf({}), DEFAULT_SETTINGS);
		const set = applySettings({}, [
			"maxJobsPerSecond=0.1",
			"maxRunning=8",
			"keepFailedMs=90m",
			"paused=true",
		]);
		const settings = settingsOf(set);
		assert.deepEqual(
			SETTING_NAMES.map((name) => `${name}=${printSetting(name, settings)}`),
			[
				"paused=true",
				"maxJobsPerSecond=0.1",
				"burst=1",
				"maxRunning=8",
				"maxPending=10000000",
				"maxBody=65536",
				"attempts=2",
				"claimMs=1m",
				"backoffFirstMs=1s",
				"backoffFactor=2",
				"backoffMostMs=1h",
				"backoffJitter=0.2",
				"keepSucceededMs=24h",
				"keepFailedMs=90m",
			],
		);
		for (const name of SETTING_NAMES) {
			const again = applySettings({}, [
				`${name}=${printSetting(name, settings)}`,
			]);
			assert.deepEqual(settingsOf(again)[name], settings[name], name);
		}
		assert.equal(printDuration(0), "0ms");
		assert.equal(printDuration(1_500), "1500ms");
		assert.equal(printDuration(7 * 86_400_000), "7d");
	});

	test("are unset by default and none, and what a later version knows is kept", () => {
		const set = checkedSettings({
			maxRunning: 4,
			groups: ["a"],
			attempts: 5,
		});
		assert.deepEqual(applySettings(set, ["attempts=default"]), {
			maxRunning: 4,
			groups: ["a"],
		});
		assert.equal(
			settingsOf(applySettings(set, ["maxRunning=none"])).maxRunning,
			null,
		);
		assert.ok(!("groups" in settingsOf(set)));
	});

	test("that are not valid are all named, with what was expected", () => {
		assert.throws(
			() =>
				applySettings({}, [
					"maxJobsPerSecond=fast",
					"maxRuning=3",
					"burst",
					"keepFailedMs=3",
					"attempts=0",
				]),
			{
				code: "BAD_USER_INPUT",
				message: [
					'maxJobsPerSecond must be a number from 0 to 1000000, such as 0.5, or none, or default, got "fast".',
					'There is no setting "maxRuning". Did you mean maxRunning?',
					"burst needs a value: burst=VALUE, a whole number from 1 to 100000.",
					'keepFailedMs must be a duration from 1m to 365d, such as 90s, 15m, 24h or 7d, or default, got "3".',
					'attempts must be a whole number from 1 to 10000, or default, got "0".',
				].join("\n"),
			},
		);
	});

	test("that are stored and not valid count as not set", () => {
		const stored = checkedSettings({
			attempts: "many",
			maxRunning: 3,
			claimMs: 1e99,
			paused: 1,
		});
		assert.deepEqual(stored, { maxRunning: 3 });
	});

	test("of the highest version are in force", () => {
		assert.equal(newestCopy([]), null);
		assert.equal(
			newestCopy([{ version: 2 }, { version: 10 }, { version: 9 }])?.version,
			10,
		);
	});

	test("belong to a queue whose name can be part of a table's", () => {
		for (const name of ["a", "feedItem", `a${"9".repeat(39)}`]) {
			checkNewQueue(name);
		}
		for (const name of ["", "FeedItem", "feed-item", "a`b", "a".repeat(41)]) {
			assert.throws(() => checkNewQueue(name), { code: "BAD_USER_INPUT" });
		}
	});
});
