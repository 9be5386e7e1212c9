import { type ReactNode, useEffect, useId, useRef } from "react";
import { createPortal } from "react-dom";

/** A modal dialog: the browser keeps the focus inside, closes it with Escape, and returns the focus. */
export function Dialog(props: {
	readonly title: string;
	readonly className?: string;
	readonly onClose: () => void;
	readonly children: ReactNode;
}) {
	const { title, className = "sheet", onClose, children } = props;
	const dialog = useRef<HTMLDialogElement>(null);
	const heading = useId();
	useEffect(() => dialog.current?.showModal(), []);
	// Not inside the element that opened it, whose styles are not for it.
	return createPortal(
		// biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself
		<dialog
			ref={dialog}
			className={className}
			aria-labelledby={heading}
			// React has it bubble from a dialog inside this one.
			onClose={(event) => event.target === dialog.current && onClose()}
			onClick={(event) => event.target === dialog.current && onClose()}
		>
			<div className="sheet-body">
				<h2 id={heading}>{title}</h2>
				<button
					type="button"
					className="close"
					aria-label="Close"
					onClick={onClose}
				>
					×
				</button>
				{children}
			</div>
		</dialog>,
		document.body,
	);
}
