import { Component, type ReactNode } from "react";

interface Props {
	readonly children: ReactNode;
}

/** Shows an error for a page that could not be loaded, with a button to retry. */
export class Fallible extends Component<Props, { readonly fault?: Error }> {
	override state: { readonly fault?: Error } = {};

	static getDerivedStateFromError(fault: Error) {
		return { fault };
	}

	override render(): ReactNode {
		const { fault } = this.state;
		if (fault === undefined) return this.props.children;
		return (
			<div className="missing" role="alert">
				<h1>That did not work.</h1>
				<p>{fault.message}</p>
				<button type="button" onClick={() => location.reload()}>
					Try again
				</button>
			</div>
		);
	}
}
