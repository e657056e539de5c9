import type { Speaker } from "@/contract/session.gen";

/** What to call somebody. */
export const nameOf = (speaker: Speaker): string =>
	speaker.nickname || speaker.userId || speaker.platform;

/** One or two characters that stand for a name. Names without spaces, as Chinese ones, give one. */
export function initialsOf(name: string): string {
	const words = name.match(/[\p{L}\p{N}\p{Emoji_Presentation}][^\s]*/gu) ?? [];
	const first = (word: string | undefined): string =>
		word === undefined ? "" : (Array.from(word)[0] ?? "").toLocaleUpperCase();
	const last = words.length > 1 ? first(words.at(-1)) : "";
	const both = first(words[0]) + (/\p{Script=Han}/u.test(name) ? "" : last);
	return both || "?";
}
