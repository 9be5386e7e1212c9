// Before anything listens, a signal ends a process; but not the first process of
// a container, for which the kernel drops it. The syntax is that of launch.mjs.

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143 };

/** Lets a signal end the first process of a container, until the command listens itself. */
export function obeyFirstSignals(process) {
	if (process.pid !== 1) return;
	for (const name of Object.keys(EXIT_CODES)) {
		process.on(name, () => {
			if (process.listenerCount(name) === 1) process.exit(EXIT_CODES[name]);
		});
	}
}
