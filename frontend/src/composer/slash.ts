/** What can be said to the program instead of to her; "/help" says the same in words. */
export const slashWords = ["help", "clear", "model", "compress", "status"] as const;
export type SlashWord = (typeof slashWords)[number];

/** The words that what is in the box may become, none once it is more than a word. */
export function slashChoices(text: string): readonly SlashWord[] {
	const typed = /^\/([a-z]*)$/i.exec(text)?.[1]?.toLowerCase();
	if (typed === undefined) return [];
	const fits = slashWords.filter((word) => word.startsWith(typed));
	return fits.length === 1 && fits[0] === typed ? [] : fits;
}

/** What Tab or a click makes of the box. A word that takes something leaves room for it. */
export const completed = (word: SlashWord): string => (word === "model" ? "/model " : `/${word}`);
