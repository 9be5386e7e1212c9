import { type Client, client } from "./client.ts";

type Payload = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** Sends one mutation with its input in a variable. Returns the selected fields of the payload. */
export async function mutate<T = Payload>(
	as: Client,
	name: string,
	input: Readonly<Record<string, unknown>>,
	fields: string,
): Promise<T> {
	const type = `${name[0]?.toUpperCase()}${name.slice(1)}Input`;
	const data = await as.data<Readonly<Record<string, T>>>(
		`mutation ($input: ${type}!) { ${name}(input: $input) { ${fields} } }`,
		{ input },
	);
	return data[name] as T;
}

export interface Member extends Client {
	readonly id: string;
}

/** Creates a user on a server. */
export async function join(
	url: string,
	username: string,
	more: Readonly<Record<string, unknown>> = {},
): Promise<Member> {
	const { user, token } = await mutate<{ user: { id: string }; token: string }>(
		client(url),
		"createUser",
		{ username, ...more },
		"user { id } token",
	);
	return { id: user.id, ...client(url, token) };
}

/** The id of the object that a mutation created or changed. */
export async function made(
	as: Client,
	name: string,
	input: Readonly<Record<string, unknown>>,
	field: string,
): Promise<string> {
	const payload = await mutate(as, name, input, `${field} { id }`);
	return String(payload[field]?.id);
}
