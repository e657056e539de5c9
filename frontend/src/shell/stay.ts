import { openOutside, outward } from "@/ui/opener";

interface Options {
	/** The desktop window, which has no other pages to open a link in. */
	inWindow: boolean;
	failed(error: unknown): void;
}

/**
 * Keeps the page where it is: whatever is clicked, dropped or sent off, the interface is never left for
 * another address. Links that lead outside go through the one opener (SEC-12).
 */
export function stay(page: Window, options: Options): () => void {
	const follow = (event: MouseEvent) => followLink(event, page, options);
	const over = (event: DragEvent) => {
		if (event.defaultPrevented || takesText(event)) return;
		event.preventDefault();
		if (event.dataTransfer) event.dataTransfer.dropEffect = "none";
	};
	const drop = (event: DragEvent) => {
		if (!takesText(event)) event.preventDefault();
	};
	const submit = (event: SubmitEvent) => event.preventDefault();
	page.addEventListener("click", follow);
	page.addEventListener("auxclick", follow);
	page.addEventListener("dragover", over);
	page.addEventListener("drop", drop);
	page.addEventListener("submit", submit);
	return () => {
		page.removeEventListener("click", follow);
		page.removeEventListener("auxclick", follow);
		page.removeEventListener("dragover", over);
		page.removeEventListener("drop", drop);
		page.removeEventListener("submit", submit);
	};
}

function followLink(event: MouseEvent, page: Window, { inWindow, failed }: Options): void {
	const link = event.target instanceof Element ? event.target.closest("a[href], area[href]") : null;
	// The right button opens a menu.
	if (event.defaultPrevented || !link || event.button > 1) return;
	const href = link.getAttribute("href") ?? "";
	const plain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey);
	if (outward(href)) {
		event.preventDefault();
		openOutside(href).catch(failed);
	} else if (href.startsWith("#")) {
		if (plain || !inWindow) return;
		event.preventDefault();
		page.location.hash = href;
	} else if (inWindow || !link.hasAttribute("download")) {
		event.preventDefault();
	}
}

/** Words may be dropped where words are written; files are taken up by who wants files. */
function takesText(event: DragEvent): boolean {
	if (event.dataTransfer?.types.includes("Files")) return false;
	const field =
		event.target instanceof Element && event.target.closest("textarea, input, [contenteditable]");
	return Boolean(field);
}
