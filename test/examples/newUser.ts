import { plainly } from "../clients/lists.ts";

export interface NewUser {
	readonly token: string;
	readonly username: string;
	readonly board: string;
	/** The pins of the board, in its order. */
	readonly pins: readonly string[];
}

/** A user of their own for a test, with a board and three pins on it: c, b, a. */
export async function newUser(url: string, username: string): Promise<NewUser> {
	const { createUser } = await plainly(url).data<{
		createUser: { token: string };
	}>(
		"mutation ($input: CreateUserInput!) { createUser(input: $input) { token } }",
		{
			input: { username, name: "Made Up" },
		},
	);
	const { token } = createUser;
	const user = plainly(url, token);
	const { createBoard } = await user.data<{
		createBoard: { board: { id: string } };
	}>('mutation { createBoard(input: { name: "Sheds" }) { board { id } } }');
	const board = createBoard.board.id;
	const pins: string[] = [];
	for (const title of ["Pin a", "Pin b", "Pin c"]) {
		const { createPin } = await user.data<{
			createPin: { pin: { id: string } };
		}>(
			"mutation ($input: CreatePinInput!) { createPin(input: $input) { pin { id } } }",
			{ input: { boardId: board, title } },
		);
		pins.unshift(createPin.pin.id);
	}
	return { token, username, board, pins };
}
