import { Component, type ReactNode } from "react";
import { isOffline } from "./requestError.ts";

interface Props {
	readonly children: ReactNode;
	/** Asks the server again. */
	readonly onRetry: () => void;
	/** Shown in place of the error. */
	readonly fallback?: ReactNode;
}

/** Shows an error for a part of the page that could not be loaded, with a button to retry. */
export class Fallible extends Component<Props, { readonly fault?: Error }> {
	override state: { readonly fault?: Error } = {};

	static getDerivedStateFromError(fault: Error) {
		return { fault };
	}

	/** Once the browser is online again, nobody has to press the button. */
	readonly #onOnline = () => {
		if (isOffline(this.state.fault)) this.props.onRetry();
	};

	override componentDidMount(): void {
		addEventListener("online", this.#onOnline);
	}

	override componentWillUnmount(): void {
		removeEventListener("online", this.#onOnline);
	}

	override render(): ReactNode {
		const { fault } = this.state;
		const { children, fallback, onRetry } = this.props;
		if (fault === undefined) return children;
		if (fallback !== undefined) return fallback;
		return (
			<div className="missing" role="alert">
				<h1>{isOffline(fault) ? "You are offline." : "That did not work."}</h1>
				<p>
					{isOffline(fault)
						? "This page comes back with your connection."
						: fault.message}
				</p>
				<button type="button" onClick={onRetry}>
					Try again
				</button>
			</div>
		);
	}
}
