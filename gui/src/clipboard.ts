// Copies text, also where the clipboard's own interface is not to be had: in frames, and
// in pages that were not served over TLS.

export async function copyText(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		const box = document.createElement("textarea");
		box.value = text;
		// Behind an open dialog nothing can be selected.
		(document.querySelector("dialog[open]") ?? document.body).append(box);
		box.select();
		const isCopied = document.execCommand("copy");
		box.remove();
		return isCopied;
	}
}
