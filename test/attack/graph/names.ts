import type { Report } from "./checks.ts";
import type { Model, User } from "./model.ts";

/** As the lookup compares them. */
export const folded = (name: string): string => name.toLowerCase();

/**
 * At most one of all users holds a name for certain. This needs no reading: two
 * acknowledged renames to one name, neither followed by another rename, are wrong.
 */
export function checkNames(model: Model, user: User, report: Report): void {
	for (const [what, register] of [
		["username", "username"],
		["e-mail address", "email"],
	] as const) {
		const name = user[register].definite();
		if (typeof name !== "string" || name === "") continue;
		for (const other of model.users) {
			if (other === user || other.create.outcome === "refused") continue;
			const held = other[register].definite();
			if (typeof held !== "string" || folded(held) !== folded(name)) continue;
			report({
				kind: "name",
				promised: `one user has the ${what} ${name}`,
				seen: `both ${user.id} and ${other.id} were acknowledged to have it`,
				objects: [user.id, other.id].filter((id) => id !== null),
			});
		}
	}
}
