import { useEffect, useId, useRef } from "react";
import type { FormErrors } from "./form.tsx";

/** One line to say something in, with what the server says is wrong with it. */
export function CommentForm(props: {
	readonly label: string;
	readonly submit: string;
	readonly text: string;
	readonly onText: (text: string) => void;
	readonly errors: FormErrors;
	readonly onSubmit: () => void;
	/** Given where the form is closed again. */
	readonly onCancel?: () => void;
}) {
	const { label, errors, onCancel } = props;
	const id = useId();
	const input = useRef<HTMLInputElement>(null);
	const error = errors.text ?? errors[""];
	const isEditing = onCancel !== undefined;
	useEffect(() => {
		if (isEditing || error !== undefined) input.current?.focus();
	}, [isEditing, error]);
	return (
		<form
			noValidate
			onSubmit={(event) => {
				event.preventDefault();
				props.onSubmit();
			}}
		>
			<span className="said">
				<input
					ref={input}
					aria-label={label}
					aria-invalid={error !== undefined}
					aria-describedby={error === undefined ? undefined : id}
					placeholder="Say something kind"
					value={props.text}
					onChange={(event) => props.onText(event.target.value)}
					onKeyDown={(event) => {
						if (event.key !== "Escape" || !onCancel) return;
						// Not the dialog that this is in.
						event.preventDefault();
						onCancel();
					}}
				/>
				{error !== undefined && (
					<p id={id} className="field-error" role="alert">
						{error}
					</p>
				)}
			</span>
			<button type="submit">{props.submit}</button>
			{onCancel && (
				<button type="button" className="quiet" onClick={onCancel}>
					Cancel
				</button>
			)}
		</form>
	);
}
