import { type FormEvent, useEffect, useRef, useState } from "react";

/** A dialog to paste an access token into. The server prints one when it starts. */
export function TokenDialog(props: {
	readonly onToken: (token: string) => void;
	readonly onClose: () => void;
}) {
	const dialog = useRef<HTMLDialogElement>(null);
	const [text, setText] = useState("");
	useEffect(() => dialog.current?.showModal(), []);
	function submit(event: FormEvent) {
		event.preventDefault();
		props.onToken(text.trim());
	}
	return (
		<dialog ref={dialog} className="token" onClose={props.onClose}>
			<form onSubmit={submit}>
				<h2>Log in with a token</h2>
				<p>
					The server prints one when it starts, and{" "}
					<code>npm run -s corkboard -- token USERNAME</code> prints another.
				</p>
				<textarea
					aria-label="Token"
					rows={4}
					required
					spellCheck={false}
					value={text}
					onChange={(event) => setText(event.target.value)}
				/>
				<div className="actions">
					<button type="button" className="quiet" onClick={props.onClose}>
						Not now
					</button>
					<button type="submit" className="primary">
						Log in
					</button>
				</div>
			</form>
		</dialog>
	);
}
