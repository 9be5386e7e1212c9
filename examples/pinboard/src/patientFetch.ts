const ATTEMPTS = 3;
/** Who would have to wait longer is told so instead. Seconds. */
const LONGEST = 10;

/**
 * Asks again after a limit (429), when the server says that it will help. What
 * was refused was not begun, so a mutation may be sent again like a query.
 */
export const patientFetch: typeof fetch = async (input, init) => {
	for (let attempt = 1; ; attempt++) {
		const response = await fetch(input, init);
		const seconds = Number(response.headers.get("retry-after"));
		const helps = seconds > 0 && seconds <= LONGEST;
		if (response.status !== 429 || !helps || attempt === ATTEMPTS) {
			return response;
		}
		await response.body?.cancel();
		// Not all that were refused together come back together.
		const ms = (seconds + Math.random()) * 1_000;
		await new Promise((resolve) => setTimeout(resolve, ms));
	}
};
