/** Keeps right what GraphiQL and its Field Explorer do not say to screen readers. */
export function watchRoles(root: HTMLElement): void {
	new MutationObserver(() => {
		makeTabsPlain(root);
		labelInputs(root);
	}).observe(root, {
		subtree: true,
		childList: true,
		attributeFilter: ["role", "aria-selected"],
	});
}

/**
 * GraphiQL's tabs are list items with the role of a tab, and have buttons inside,
 * which a tab may not. Makes a list of buttons of them, of which one is the current.
 */
function makeTabsPlain(root: HTMLElement): void {
	root.querySelector('.graphiql-tabs[role="tablist"]')?.removeAttribute("role");
	for (const tab of root.querySelectorAll(".graphiql-tab[aria-selected]")) {
		const selected = tab.getAttribute("aria-selected") ?? "false";
		tab.removeAttribute("role");
		tab.removeAttribute("aria-selected");
		tab
			.querySelector(".graphiql-tab-button")
			?.setAttribute("aria-current", selected);
	}
}

/** The Field Explorer shows an argument's name beside its input, not as its label. */
function labelInputs(root: HTMLElement): void {
	for (const input of root.querySelectorAll(
		".graphiql-explorer-root :is(input, select):not([aria-label])",
	)) {
		const argument = input.closest("[data-arg-name]");
		input.setAttribute(
			"aria-label",
			argument?.getAttribute("data-arg-name") ??
				(input.matches("select")
					? "Kind of operation"
					: "Name of the operation"),
		);
	}
}
