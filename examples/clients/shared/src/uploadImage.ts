/** What your backend returns: an address to send one file to, and the address it has then. */
interface SignedUpload {
	readonly uploadUrl: string;
	readonly url: string;
}

/** An `ImageInput` for `createPin`, `updateUser` and others. */
export interface UploadedImage {
	readonly url: string;
	readonly width: number;
	readonly height: number;
	readonly alt: string;
}

/** Sends a picture to the object store. `sign` asks your backend, which decides type and size. */
export async function uploadImage(
	file: File,
	alt: string,
	sign: (file: {
		readonly type: string;
		readonly size: number;
	}) => Promise<SignedUpload>,
): Promise<UploadedImage> {
	// A file that is no picture is rejected here, before anything is sent.
	const { width, height } = await createImageBitmap(file);
	const { uploadUrl, url } = await sign({ type: file.type, size: file.size });
	const response = await fetch(uploadUrl, {
		method: "PUT",
		headers: { "content-type": file.type },
		body: file,
	});
	if (!response.ok)
		throw new Error(`The object store answered ${response.status}.`);
	return { url, width, height, alt };
}
