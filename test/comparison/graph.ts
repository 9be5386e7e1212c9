import { seededRandom } from "../../src/util/random.ts";

const USERS = 160;
const IMAGES = 240;
const PINS_PER_BOARD = 12;
const WORDS = ["linen", "oak", "copper", "fern", "slate", "saffron", "quilt"];

/**
 * A made-up graph with what is awkward in real ones: a few images, users and
 * pins that nearly everybody saves, follows and likes, so that their lists have
 * several pages; users with nothing; a like and a follow that come again later;
 * a pin saved twice onto one board, which differs from the other only by its id.
 */
export function* generatedGraph(seed: number): Generator<object> {
	const random = seededRandom(seed);
	const users = Array.from({ length: USERS }, (_, n) => n);
	const popular = random.shuffled(users);
	const images = Array.from({ length: IMAGES }, (_, n) => n);
	for (const n of users) {
		yield {
			type: "User",
			key: `u:${n}`,
			fields: { username: `Pinner_${n}`, name: `Pinner ${n}` },
		};
	}
	const firstSaves = new Map<number, string>();
	const likes: object[] = [];
	for (const user of users) {
		const saves =
			user % 11 === 0 ? 0 : Math.round(2 + 180 * random.fraction() ** 12);
		let board = "";
		for (let n = 0; n < saves; n++) {
			if (n % PINS_PER_BOARD === 0) {
				board = `b:${user}:${n / PINS_PER_BOARD}`;
				// Two boards of a user's may have one name, too.
				const name = `Board ${Math.floor(n / PINS_PER_BOARD / 2)}`;
				yield {
					type: "Board",
					key: board,
					fields: { owner: `u:${user}`, name },
				};
			}
			const image = n === 0 ? 0 : random.pickPopular(images, 3);
			const origin = firstSaves.get(image);
			const key = `p:${user}:${n}`;
			if (origin === undefined) firstSaves.set(image, key);
			const fields = {
				board,
				details: `${WORDS[image % WORDS.length]}, image ${image}`,
				link: `https://example.com/image/${image}`,
				...(origin === undefined ? {} : { origin }),
			};
			yield { type: "Pin", key, fields };
			if (origin !== undefined && n % 2 === 0) {
				likes.push({ edge: "likePin", from: `u:${user}`, to: origin });
			}
		}
	}
	for (const [n, like] of likes.entries()) {
		yield like;
		if (n % 5 === 4) yield likes[random.integer(0, n)] ?? like;
	}
	for (let n = 0; n < USERS * 14; n++) {
		const from = random.pick(users);
		const to = random.pickPopular(popular, 1);
		if (from !== to) {
			yield { edge: "followUser", from: `u:${from}`, to: `u:${to}` };
		}
	}
}
