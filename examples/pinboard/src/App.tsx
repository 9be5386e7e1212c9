import { Suspense, useCallback, useMemo, useState } from "react";
import { RelayEnvironmentProvider } from "react-relay";
import { AccountDialog } from "./AccountDialog.tsx";
import { BoardPage } from "./BoardPage.tsx";
import { createEnvironment } from "./environment.ts";
import { Fallible } from "./Fallible.tsx";
import { HomePage } from "./HomePage.tsx";
import { InterestPage } from "./InterestPage.tsx";
import { PickInterests } from "./PickInterests.tsx";
import { PinDialog } from "./PinView.tsx";
import { type Route, useRoute } from "./route.ts";
import { Skeleton } from "./Skeleton.tsx";
import { type Session, SessionProvider } from "./session.tsx";
import { BareTop, Top } from "./Top.tsx";
import { UserPage } from "./UserPage.tsx";

const KEPT = "pinboard-token";
const FIRST_INTEREST = "gardens";

export function App({ url }: { readonly url: string }) {
	const asked = useRoute();
	const [token, setToken] = useState(() => sessionStorage.getItem(KEPT));
	const [asking, setAsking] = useState(false);
	// For somebody who has just signed up.
	const [isNew, setNew] = useState(false);
	// Another one asks the server again.
	const [attempt, setAttempt] = useState(0);
	const [sentence, setSentence] = useState<string | null>(null);

	const keep = useCallback((token: string | null) => {
		if (token === null) sessionStorage.removeItem(KEPT);
		else sessionStorage.setItem(KEPT, token);
		setToken(token);
		setAsking(false);
	}, []);
	// biome-ignore lint/correctness/useExhaustiveDependencies: another attempt has nothing of the one before
	const environment = useMemo(
		() =>
			createEnvironment({
				url,
				token,
				onRefused() {
					keep(null);
					setSentence("The server did not take that token.");
				},
			}),
		[url, token, keep, attempt],
	);
	const session = useMemo<Session>(
		() => ({
			signedIn: token !== null,
			signIn: () => setAsking(true),
			signOut: () => keep(null),
			say: setSentence,
		}),
		[token, keep],
	);
	// The start page is the home of who is signed in.
	const isHome =
		token !== null && asked.page === "interest" && asked.key === "";
	const route: Route = isHome ? { ...asked, page: "home" } : asked;
	const key = `${token} ${attempt} ${route.page} ${route.key}`;
	const retry = () => setAttempt((count) => count + 1);
	return (
		<SessionProvider value={session}>
			<RelayEnvironmentProvider environment={environment}>
				<button type="button" className="skip" onClick={skipToContent}>
					Skip to the content
				</button>
				<Fallible
					key={`${token} ${attempt}`}
					onRetry={retry}
					fallback={<BareTop />}
				>
					<Suspense fallback={<BareTop />}>
						<Top
							page={route.page}
							current={
								route.page === "interest" ? route.key || FIRST_INTEREST : ""
							}
						/>
					</Suspense>
				</Fallible>
				<main id="content" tabIndex={-1}>
					<Fallible key={key} onRetry={retry}>
						<Suspense fallback={<Skeleton />}>
							<Page route={route} />
						</Suspense>
						{route.pin !== null && <PinDialog key={route.pin} id={route.pin} />}
					</Fallible>
				</main>
				{asking && (
					<AccountDialog
						onToken={(token, isNew) => {
							keep(token);
							setNew(isNew);
						}}
						onClose={() => setAsking(false)}
					/>
				)}
				{isNew && <PickInterests onClose={() => setNew(false)} />}
				{/* Always there, so that screen readers notice what is put into it. */}
				<output className="toast" hidden={sentence === null}>
					{sentence}
					{sentence !== null && (
						<button
							type="button"
							className="quiet"
							onClick={() => setSentence(null)}
						>
							Close
						</button>
					)}
				</output>
			</RelayEnvironmentProvider>
		</SessionProvider>
	);
}

/** Not a link: the address after # is the page. */
function skipToContent(): void {
	document.getElementById("content")?.focus();
}

function Page({ route: { page, key, section } }: { readonly route: Route }) {
	switch (page) {
		case "board":
			return <BoardPage id={key} section={section} />;
		case "user":
			return <UserPage username={key} />;
		case "home":
			return <HomePage />;
		case "interest":
			return <InterestPage slug={key || FIRST_INTEREST} />;
	}
}
