import { createContext, useContext } from "react";

/** The viewer, and the Relay environment with their token. */
export interface Session {
	readonly signedIn: boolean;
	/** Asks for a token. */
	signIn(): void;
	signOut(): void;
	/** Says a sentence at the edge of the page. */
	say(sentence: string): void;
}

const Context = createContext<Session | null>(null);

export const SessionProvider = Context.Provider;

export function useSession(): Session {
	const session = useContext(Context);
	if (session === null) throw new Error("expected a SessionProvider above");
	return session;
}
