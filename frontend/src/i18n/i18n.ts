import { useStore } from "zustand";
import { createStore } from "zustand/vanilla";
import { en, type MessageKey, type Messages } from "./en";
import { zhCN } from "./zh-CN";

export type { MessageKey } from "./en";
export type Language = "en" | "zh-CN";
/** `host` follows the language that Aalis itself writes in. */
export type LanguageChoice = Language | "host";

const catalogues: Record<Language, Messages> = { en, "zh-CN": zhCN };
const CHOICE_KEY = "aalis.language";
const HOST_KEY = "aalis.language.host";

function kept(key: string): string | undefined {
	try {
		return localStorage.getItem(key) ?? undefined;
	} catch {
		return undefined; // Without storage a choice lasts as long as the page.
	}
}

function keep(key: string, value: string | undefined): void {
	try {
		if (value === undefined) localStorage.removeItem(key);
		else localStorage.setItem(key, value);
	} catch {
		// As above.
	}
}

/** Which of ours a language tag means. */
function ours(tag: string | undefined): Language | undefined {
	if (/^zh\b/i.test(tag ?? "")) return "zh-CN";
	return /^en\b/i.test(tag ?? "") ? "en" : undefined;
}

function browserLanguage(): Language {
	for (const tag of navigator.languages ?? [navigator.language]) {
		const language = ours(tag);
		if (language) return language;
	}
	return "en";
}

interface LanguageState {
	readonly choice: LanguageChoice;
	/** The host's own, as the latest handshake said it, on this page or on the one before. */
	readonly host: Language | undefined;
	readonly language: Language;
}

const stateOf = (choice: LanguageChoice, host: Language | undefined): LanguageState => ({
	choice,
	host,
	language: choice === "host" ? (host ?? browserLanguage()) : choice,
});

function keptState(): LanguageState {
	const choice = kept(CHOICE_KEY);
	return stateOf(choice === "en" || choice === "zh-CN" ? choice : "host", ours(kept(HOST_KEY)));
}

export const languageStore = createStore<LanguageState>(keptState);

export function chooseLanguage(choice: LanguageChoice): void {
	keep(CHOICE_KEY, choice === "host" ? undefined : choice);
	languageStore.setState(stateOf(choice, languageStore.getState().host), true);
}

/**
 * Takes the language tag of a handshake, and remembers it: the next page begins with it instead of
 * changing once it is connected. Without one of ours the browser's languages decide.
 */
export function hearHostLanguage(tag: string | undefined): void {
	const { choice, host: before } = languageStore.getState();
	const host = ours(tag);
	if (host === before) return;
	keep(HOST_KEY, host);
	languageStore.setState(stateOf(choice, host), true);
}

/** Keeps the page's own language in step, which fonts and screen readers go by. */
export function followLanguage(page: Document): () => void {
	const apply = () => {
		page.documentElement.lang = languageStore.getState().language;
	};
	const browser = () => {
		const { choice, host } = languageStore.getState();
		languageStore.setState(stateOf(choice, host), true);
	};
	apply();
	window.addEventListener("languagechange", browser);
	const off = languageStore.subscribe(apply);
	return () => {
		off();
		window.removeEventListener("languagechange", browser);
	};
}

export type Params = Record<string, string | number>;
export type Translate = (key: MessageKey, params?: Params) => string;

export function translate(language: Language, key: MessageKey, params: Params = {}): string {
	const message = catalogues[language][key];
	const text = typeof message === "string" ? message : plural(language, message, params.count);
	return text.replace(/\{(\w+)\}/g, (whole, name: string) => {
		const value = params[name];
		if (value === undefined) return whole;
		return typeof value === "number" ? number(language, value) : value;
	});
}

function plural(
	language: Language,
	forms: { one?: string; other: string },
	count: string | number | undefined,
): string {
	const form = new Intl.PluralRules(language).select(Number(count ?? 0));
	return form === "one" && forms.one !== undefined ? forms.one : forms.other;
}

const numbers = new Map<string, Intl.NumberFormat>();

function number(language: Language, value: number): string {
	const format = numbers.get(language) ?? new Intl.NumberFormat(language);
	numbers.set(language, format);
	return format.format(value);
}

export interface Locale {
	language: Language;
	t: Translate;
	number(value: number): string;
	percent(ratio: number): string;
	/** The order of names. */
	compare(a: string, b: string): number;
	/** The time of day. */
	time(at: number): string;
	/** The day, without the year when it is this one. */
	day(at: number, now?: number): string;
	/** Date and time in full, for tips. */
	full(at: number): string;
	/** How long ago, short. */
	ago(at: number, now: number): string;
	/** A number of bytes, rounded up: 512 B, 1.2 KiB, 20 MiB. */
	size(bytes: number): string;
	/** A length of time, short: 0.4 s, 12 s, 3 min 20 s. */
	duration(ms: number): string;
}

const locales = new Map<Language, Locale>();

export function localeOf(language: Language): Locale {
	const known = locales.get(language);
	if (known) return known;
	const made = makeLocale(language);
	locales.set(language, made);
	return made;
}

function makeLocale(language: Language): Locale {
	const date = (options: Intl.DateTimeFormatOptions) => {
		const format = new Intl.DateTimeFormat(language, options);
		return (at: number) => format.format(at);
	};
	const time = date({ hour: "2-digit", minute: "2-digit", hour12: false });
	const short = date({ month: "short", day: "numeric" });
	const long = date({ year: "numeric", month: "short", day: "numeric" });
	const weekday = date({ weekday: "long", month: "long", day: "numeric" });
	const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
	const unit = (name: "second" | "minute" | "hour", digits = 0) => {
		const format = new Intl.NumberFormat(language, {
			style: "unit",
			unit: name,
			unitDisplay: "narrow",
			maximumFractionDigits: digits,
		});
		return (value: number) => format.format(value);
	};
	const seconds = unit("second");
	const tenths = unit("second", 1);
	const minutes = unit("minute");
	const hours = unit("hour");
	const t: Translate = (key, params) => translate(language, key, params);
	return {
		language,
		t,
		number: (value) => number(language, value),
		percent: (ratio) =>
			new Intl.NumberFormat(language, { style: "percent", maximumFractionDigits: 0 }).format(ratio),
		compare: new Intl.Collator(language, { numeric: true, sensitivity: "base" }).compare,
		time,
		day: (at, now = Date.now()) => {
			const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear();
			return sameYear ? weekday(at) : long(at);
		},
		full: date({ dateStyle: "medium", timeStyle: "medium" }),
		ago: (at, now) => {
			const minutesAgo = Math.floor((now - at) / 60_000);
			if (minutesAgo < 1) return t("time.now");
			if (minutesAgo < 60) return relative.format(-minutesAgo, "minute");
			if (minutesAgo < 24 * 60 && new Date(at).getDate() === new Date(now).getDate())
				return time(at);
			if (minutesAgo < 6 * 24 * 60) {
				const midnight = new Date(now).setHours(0, 0, 0, 0);
				return relative.format(-Math.ceil((midnight - at) / 86_400_000), "day");
			}
			return new Date(at).getFullYear() === new Date(now).getFullYear() ? short(at) : long(at);
		},
		size: (bytes) => {
			if (bytes < 1024) return `${number(language, bytes)} B`;
			const [unit, name] = bytes < 2 ** 20 ? [2 ** 10, "KiB"] : [2 ** 20, "MiB"];
			return `${number(language, Math.ceil((bytes * 10) / unit) / 10)} ${name}`;
		},
		duration: (ms) => {
			if (ms < 9_950) return tenths(Math.max(0, ms) / 1000);
			const total = Math.round(ms / 1000);
			if (total < 60) return seconds(total);
			const parts =
				total < 3600
					? [minutes(Math.floor(total / 60)), total % 60 > 0 && seconds(total % 60)]
					: [hours(Math.floor(total / 3600)), minutes(Math.floor((total % 3600) / 60))];
			return parts.filter(Boolean).join(" ");
		},
	};
}

/** The words of the chosen language; a component that uses it follows a change. */
export const useLocale = (): Locale => localeOf(useStore(languageStore, (state) => state.language));
export const useT = (): Translate => useLocale().t;
/** For code outside components. */
export const currentLocale = (): Locale => localeOf(languageStore.getState().language);
