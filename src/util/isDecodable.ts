/** Whether each % in a part of a URL begins an escape: if one does not, `decodeURIComponent` throws. */
export function isDecodable(part: string): boolean {
	try {
		decodeURIComponent(part);
		return true;
	} catch {
		return false;
	}
}
