/** negotiator 1.1.0 has no types of its own: these are of the part in use. */
declare module "negotiator" {
	export default class Negotiator {
		constructor(request: {
			readonly headers: { readonly accept: string };
		});
		/** The one of `available` that is preferred; undefined if none is accepted. */
		mediaType(available: readonly string[]): string | undefined;
	}
}
