import { setTimeout as sleep } from "node:timers/promises";
import { type Random, seededRandom } from "../../../src/util/random.ts";
import type { Board, Comment, Pin, User } from "./model.ts";
import {
	readNodes,
	readObject,
	readPages,
	readTree,
	readUsername,
} from "./reads.ts";
import { pickServer, type Session } from "./session.ts";
import {
	addComment,
	createBoard,
	createPin,
	createUser,
	deactivateUser,
	type EdgeMutation,
	followInterest,
	movePin,
	remove,
	renameUser,
	setEdge,
	updateBoard,
	updatePin,
} from "./writes.ts";

/** Names that several users want. */
const CONTESTED = 12;
const SLUGS = ["maps", "cats", "bread", "trains", "ferns", "kites"] as const;
const MIN_PAUSE_MS = 20;
const MAX_PAUSE_MS = 220;
/** The most objects of one owner: whole lists stay short enough to be read. */
const MAX_BOARDS = 6;
const MAX_PINS = 24;
const MAX_USERS = 4;

/** A client that acts for users of its own, one request after another, and reads what everyone made. */
export class Actor {
	readonly number: number;
	readonly #session: Session;
	readonly #random: Random;
	readonly #users: User[] = [];
	/** Users whose accounts are closed: their tokens are still tried. */
	readonly #former: User[] = [];
	#names = 0;

	constructor(session: Session, number: number, seed: number) {
		this.#session = session;
		this.number = number;
		this.#random = seededRandom(seed * 7_919 + number);
	}

	get users(): readonly User[] {
		return this.#users;
	}

	/** The first user, with a board and pins. */
	prepare(): Promise<void> {
		return this.#newUser(false);
	}

	async run(): Promise<void> {
		const { signal } = this.#session;
		while (!signal.aborted) {
			if (this.#users.length === 0) await this.#newUser(false);
			else await this.#act();
			await sleep(this.#random.integer(MIN_PAUSE_MS, MAX_PAUSE_MS));
		}
	}

	async #act(): Promise<void> {
		const random = this.#random;
		const actions: readonly (readonly [number, () => Promise<unknown>])[] = [
			[34, () => this.#read()],
			[10, () => this.#pages()],
			[3, () => this.#former_()],
			[8, () => this.#edge()],
			[6, () => this.#rename()],
			[7, () => this.#privacy()],
			[6, () => this.#edit()],
			[10, () => this.#create()],
			[3, () => this.#delete()],
			[8, () => this.#move()],
			[2, () => this.#squeeze()],
			[1, () => this.#leave()],
			[2, () => this.#both()],
		];
		const total = actions.reduce((sum, [weight]) => sum + weight, 0);
		let at = random.fraction() * total;
		for (const [weight, action] of actions) {
			at -= weight;
			if (at < 0) {
				await action();
				return;
			}
		}
	}

	/** A name of the pool, in some spelling, or one of the user's own. */
	#name(isContested: boolean): string {
		const random = this.#random;
		if (!isContested) return `actor${this.number}_${++this.#names}`;
		const name = `contested_${random.integer(1, CONTESTED)}`;
		return random.chance(0.3) ? name.toUpperCase() : name;
	}

	async #newUser(isContested: boolean): Promise<void> {
		const random = this.#random;
		const name = this.#name(isContested);
		const email = random.chance(0.5)
			? `${random.chance(0.5) ? name : `shared${random.integer(1, 5)}`}@example.com`
			: null;
		const user = await createUser(this.#session, random, name, email);
		if (user === null) return;
		this.#users.push(user);
		const board = await createBoard(this.#session, random, user);
		if (board === null) return;
		for (let n = 0; n < 3; n++) {
			await createPin(this.#session, random, board, this.#slugs());
		}
	}

	#slugs(): readonly string[] {
		const random = this.#random;
		return random.chance(0.4)
			? random.shuffled(SLUGS).slice(0, random.integer(1, 2))
			: [];
	}

	#user(): User {
		return this.#random.pick(this.#users);
	}

	/** Who looks: one of one's own, someone else's user, or nobody. */
	#viewer(owner?: User): User | null {
		const random = this.#random;
		if (random.chance(0.25)) return null;
		// A user whose create has no known outcome has no token to look with.
		if (owner?.token && random.chance(0.2)) return owner;
		if (random.chance(0.4)) return this.#user();
		const users = this.#session.model.users.filter(
			({ token }) => token !== null,
		);
		return users.length === 0 ? null : random.pick(users);
	}

	#boards(user: User): readonly Board[] {
		return this.#session.model.boards.filter(
			(board) =>
				board.owner === user &&
				board.create.outcome === "done" &&
				board.exists.definite() === true,
		);
	}

	#pins(board: Board): readonly Pin[] {
		return this.#session.model.pins.filter(
			(pin) =>
				pin.create.outcome === "done" &&
				pin.exists.definite() === true &&
				pin.board.latest() === board,
		);
	}

	/** Any, recent ones most often. */
	#any<T extends { readonly id: string | null }>(
		things: readonly T[],
	): T | null {
		const known = things.filter(({ id }) => id !== null);
		if (known.length === 0) return null;
		const recent = known.slice(-40);
		return this.#random.pick(this.#random.chance(0.7) ? recent : known);
	}

	async #read(): Promise<void> {
		const random = this.#random;
		const { model } = this.#session;
		const draw = random.fraction();
		if (draw < 0.25) {
			const name = random.chance(0.6)
				? this.#name(true).toLowerCase()
				: (this.#any(model.users)?.username.latest() ?? "nobody");
			if (name !== "")
				await readUsername(this.#session, random, this.#viewer(), name);
			return;
		}
		if (draw < 0.4) {
			const things = [model.users, model.boards, model.pins, model.comments]
				.flatMap((list) => [
					this.#any<User | Board | Pin | Comment>(list),
					this.#any<User | Board | Pin | Comment>(list),
				])
				.filter((thing) => thing !== null);
			if (things.length > 0)
				await readNodes(this.#session, random, this.#viewer(), things);
			return;
		}
		if (draw < 0.55) {
			const user = this.#any(model.users);
			if (user) await readTree(this.#session, random, this.#viewer(user), user);
			return;
		}
		const thing = this.#any<User | Board | Pin | Comment>(
			random.pick([
				model.users,
				model.boards,
				model.boards,
				model.pins,
				model.comments,
			]),
		);
		if (thing === null) return;
		const owner =
			thing.kind === "User"
				? thing
				: thing.kind === "Comment"
					? thing.author
					: thing.owner;
		await readObject(this.#session, random, this.#viewer(owner), thing);
	}

	async #pages(): Promise<void> {
		const random = this.#random;
		const { model } = this.#session;
		const draw = random.fraction();
		if (draw < 0.5) {
			const board = this.#any(model.boards);
			if (board) {
				await readPages(
					this.#session,
					random,
					this.#viewer(board.owner),
					board,
					random.chance(0.85) ? "pins" : "followers",
				);
			}
		} else if (draw < 0.75) {
			const user = this.#any(model.users);
			if (user) {
				await readPages(
					this.#session,
					random,
					this.#viewer(user),
					user,
					random.pick([
						"boards",
						"pins",
						"likes",
						"following",
						"followers",
						"followedBoards",
						"followedInterests",
					]),
				);
			}
		} else if (draw < 0.9) {
			const pin = this.#any(model.pins);
			if (pin) {
				await readPages(
					this.#session,
					random,
					this.#viewer(pin.owner),
					pin,
					random.pick(["likedBy", "comments", "interests"]),
				);
			}
		} else {
			const interest = model.interest(random.pick(SLUGS));
			const { id, slug } = interest;
			if (id !== null) {
				await readPages(
					this.#session,
					random,
					this.#viewer(),
					{ kind: "Interest", id, slug },
					random.pick(["pins", "followers"]),
				);
			}
		}
	}

	async #former_(): Promise<void> {
		const user =
			this.#random.chance(0.7) && this.#former.length > 0
				? this.#random.pick(this.#former)
				: this.#user();
		await readObject(this.#session, this.#random, user, user);
	}

	async #edge(): Promise<void> {
		const random = this.#random;
		const { model } = this.#session;
		const viewer = this.#user();
		const isPresent = random.chance(0.65);
		const draw = random.fraction();
		if (draw < 0.4) {
			const pin = this.#any(model.pins);
			if (pin)
				await setEdge(
					this.#session,
					random,
					isPresent ? "likePin" : "unlikePin",
					viewer,
					pin,
				);
		} else if (draw < 0.65) {
			const user = this.#any(model.users);
			if (user && user !== viewer)
				await setEdge(
					this.#session,
					random,
					isPresent ? "followUser" : "unfollowUser",
					viewer,
					user,
				);
		} else if (draw < 0.85) {
			const board = this.#any(model.boards);
			if (board)
				await setEdge(
					this.#session,
					random,
					isPresent ? "followBoard" : "unfollowBoard",
					viewer,
					board,
				);
		} else {
			await followInterest(
				this.#session,
				random,
				viewer,
				random.pick(SLUGS),
				isPresent,
			);
		}
	}

	async #rename(): Promise<void> {
		const random = this.#random;
		const user = this.#user();
		const draw = random.fraction();
		if (draw < 0.2) {
			await renameUser(this.#session, random, user, {
				email: random.chance(0.3)
					? null
					: `shared${random.integer(1, 5)}@example.com`,
			});
		} else if (draw < 0.4) {
			const before = user.username.latest();
			await renameUser(this.#session, random, user, {
				username: this.#name(random.chance(0.7)),
			});
			await renameUser(this.#session, random, user, { username: before });
		} else if (draw < 0.55 && this.#users.length > 1) {
			const other = random.pick(this.#users.filter((one) => one !== user));
			const [one, two] = [user.username.latest(), other.username.latest()];
			await renameUser(this.#session, random, user, {
				username: this.#name(false),
			});
			await renameUser(this.#session, random, other, { username: one });
			await renameUser(this.#session, random, user, { username: two });
		} else {
			await renameUser(this.#session, random, user, {
				username: this.#name(random.chance(0.75)),
			});
		}
	}

	/** A change that hides something, and looks at it, by others, everywhere. */
	async #privacy(): Promise<void> {
		const random = this.#random;
		const { model } = this.#session;
		const user = this.#user();
		const looks = async (thing: User | Board | Pin, viewer: User | null) => {
			for (let n = random.integer(1, 3); n > 0; n--) {
				await readObject(this.#session, random, viewer, thing);
			}
		};
		if (random.chance(0.6)) {
			const board = this.#any(this.#boards(user));
			if (board === null) return;
			await updateBoard(this.#session, random, board, {
				secret: !board.secret.latest(),
			});
			const pin = this.#any(this.#pins(board));
			await looks(
				pin !== null && random.chance(0.5) ? pin : board,
				this.#viewer(),
			);
			return;
		}
		const other = this.#any(model.users);
		if (other === null || other === user) return;
		const edge = model.edge("blockUser", user.id ?? "", other.id ?? "");
		const name: EdgeMutation = edge.present.latest()
			? "unblockUser"
			: "blockUser";
		await setEdge(this.#session, random, name, user, other);
		await looks(user, other);
	}

	async #edit(): Promise<void> {
		const random = this.#random;
		const user = this.#user();
		const board = this.#any(this.#boards(user));
		const text = `edit ${random.integer(1, 1_000_000_000)}`;
		if (board === null || random.chance(0.25)) {
			await renameUser(this.#session, random, user, { name: text });
			return;
		}
		const pin = this.#any(this.#pins(board));
		if (pin !== null && random.chance(0.4)) {
			await updatePin(this.#session, random, pin, text);
		} else {
			await updateBoard(this.#session, random, board, { name: text });
		}
	}

	async #create(): Promise<void> {
		const random = this.#random;
		const { model } = this.#session;
		const user = this.#user();
		const boards = this.#boards(user);
		const draw = random.fraction();
		if (draw < 0.1 && this.#users.length < MAX_USERS) {
			await this.#newUser(random.chance(0.7));
		} else if (draw < 0.25 && boards.length < MAX_BOARDS) {
			await createBoard(this.#session, random, user);
		} else if (draw < 0.7) {
			const board = this.#any(boards);
			if (board !== null && this.#pins(board).length < MAX_PINS) {
				await createPin(this.#session, random, board, this.#slugs());
			}
		} else {
			const pin = this.#any(model.pins);
			if (pin) await addComment(this.#session, random, user, pin);
		}
	}

	async #delete(): Promise<void> {
		const random = this.#random;
		const user = this.#user();
		const boards = this.#boards(user);
		const board = this.#any(boards);
		const draw = random.fraction();
		if (draw < 0.2 && boards.length > 2 && board) {
			await remove(this.#session, random, board);
		} else if (draw < 0.6 && board) {
			const pin = this.#any(this.#pins(board));
			if (pin) await remove(this.#session, random, pin);
		} else {
			const comment = this.#any(
				this.#session.model.comments.filter(
					({ author, exists }) => author === user && exists.definite() === true,
				),
			);
			if (comment) await remove(this.#session, random, comment);
		}
	}

	async #move(): Promise<void> {
		const random = this.#random;
		const user = this.#user();
		const boards = this.#boards(user);
		const from = this.#any(boards);
		const to = random.chance(0.75) ? from : this.#any(boards);
		if (!from || !to) return;
		const pin = this.#any(this.#pins(from));
		const beside = this.#any(this.#pins(to));
		if (!pin) return;
		await movePin(
			this.#session,
			random,
			pin,
			to,
			beside === null || beside === pin || random.chance(0.2)
				? null
				: { side: random.chance(0.5) ? "before" : "after", pin: beside },
		);
	}

	/** Moves into one gap again and again, until the list has to be renumbered; pages of it are read meanwhile. */
	async #squeeze(): Promise<void> {
		const random = this.#random;
		const board = this.#any(this.#boards(this.#user()));
		if (board === null) return;
		const pins = this.#pins(board);
		if (pins.length < 4) {
			for (let n = 0; n < 4; n++)
				await createPin(this.#session, random, board, [], false);
			return;
		}
		const [fixed, ...others] = random.shuffled(pins);
		if (fixed === undefined) return;
		const moving = others.slice(0, 2);
		let isDone = false;
		const paging = async () => {
			while (!isDone) {
				await readPages(this.#session, random, board.owner, board, "pins", {
					size: random.integer(1, 4),
				});
				await sleep(20);
			}
		};
		const walks = paging();
		try {
			for (let n = 0; n < 24 && !this.#session.signal.aborted; n++) {
				const pin = moving[n % moving.length];
				if (pin === undefined) break;
				const { operation } = await movePin(this.#session, random, pin, board, {
					side: "after",
					pin: fixed,
				});
				if (operation.outcome === "unknown") break;
			}
		} finally {
			isDone = true;
			await walks;
		}
	}

	async #leave(): Promise<void> {
		if (this.#users.length < 2) return;
		const random = this.#random;
		const user = this.#user();
		const others = this.#session.model.users.filter(
			({ token }) => token !== null,
		);
		await deactivateUser(this.#session, random, user);
		this.#users.splice(this.#users.indexOf(user), 1);
		this.#former.push(user);
		const board = this.#any(this.#boards(user));
		for (let n = 0; n < 3; n++) {
			await readObject(this.#session, random, random.pick(others), user);
			await readObject(this.#session, random, user, user);
			if (board !== null) await readObject(this.#session, random, null, board);
		}
	}

	/** Two edits of one object at once: neither is lost. */
	async #both(): Promise<void> {
		const random = this.#random;
		const user = this.#user();
		const board = this.#any(this.#boards(user));
		if (board === null) return;
		const text = `both ${random.integer(1, 1_000_000_000)}`;
		await Promise.all([
			updateBoard(this.#session, random, board, { name: text }),
			updateBoard(this.#session, random, board, { secret: random.chance(0.3) }),
			renameUser(this.#session, random, user, { name: text }),
			renameUser(this.#session, random, user, {
				email: `${text.replace(" ", "")}@example.com`,
			}),
		]);
		await readObject(
			this.#session,
			random,
			user,
			board,
			pickServer(this.#session, random),
		);
	}
}
