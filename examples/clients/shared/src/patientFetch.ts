const ATTEMPTS = 3;
/** A longer wait is reported as an error instead. Seconds. */
const MAX_WAIT = 10;

/**
 * Retries after a limit (429), at the time that the server names. A rejected
 * request did not run, so a mutation is retried like a query.
 */
export const patientFetch: typeof fetch = async (input, init) => {
	for (let attempt = 1; ; attempt++) {
		const response = await fetch(input, init);
		const seconds = Number(response.headers.get("retry-after"));
		const helps = seconds > 0 && seconds <= MAX_WAIT;
		if (response.status !== 429 || !helps || attempt === ATTEMPTS) {
			return response;
		}
		await response.body?.cancel();
		// Jitter: requests rejected together do not return together.
		const ms = (seconds + Math.random()) * 1_000;
		await new Promise((resolve) => setTimeout(resolve, ms));
	}
};
