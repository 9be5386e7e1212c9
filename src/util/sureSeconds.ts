/** The part of a difference between two clocks that is sure, of its bounds in milliseconds: 0 if they may agree. */
export function sureSeconds({
	least,
	most,
}: {
	readonly least: number;
	readonly most: number;
}): number {
	return (least > 0 ? least : most < 0 ? most : 0) / 1_000;
}
