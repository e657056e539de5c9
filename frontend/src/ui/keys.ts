import type { KeyboardEvent } from "react";

/** What a key press in a box that Enter sends from means. */
export type Intent = "send" | "stop" | "none";

interface KeyPress {
	key: string;
	keyCode: number;
	isComposing: boolean;
	shiftKey: boolean;
	ctrlKey: boolean;
	metaKey: boolean;
	altKey: boolean;
	repeat: boolean;
	timeStamp: number;
}

/** What the reader needs of an event. */
export const keyPress = (event: KeyboardEvent): KeyPress => ({
	key: event.key,
	keyCode: event.keyCode,
	isComposing: event.nativeEvent.isComposing,
	shiftKey: event.shiftKey,
	ctrlKey: event.ctrlKey,
	metaKey: event.metaKey,
	altKey: event.altKey,
	repeat: event.repeat,
	timeStamp: event.timeStamp,
});

/** So soon after a composition its last key still belongs to it. */
const AFTER_COMPOSITION_MS = 100;
/** What browsers report for a key that an input method has taken. */
const TAKEN_BY_INPUT_METHOD = 229;

/**
 * Tells the Enter that sends from the Enter that ends a composition. Engines disagree on the order of
 * that key and `compositionend`, and on isComposing: WebKit ends the composition first and reports
 * keyCode 229; others report a plain Enter right behind it. All of these belong to the input method,
 * and so does the Escape that leaves it.
 */
export class KeyReader {
	private composing = false;
	private endedAt = Number.NEGATIVE_INFINITY;

	compositionStart(): void {
		this.composing = true;
	}

	compositionEnd(timeStamp: number): void {
		this.composing = false;
		this.endedAt = timeStamp;
	}

	read(press: KeyPress): Intent {
		if (press.key !== "Enter" && press.key !== "Escape") return "none";
		if (this.composing || press.isComposing || press.keyCode === TAKEN_BY_INPUT_METHOD)
			return "none";
		if (press.timeStamp - this.endedAt < AFTER_COMPOSITION_MS) return "none";
		// A key held down is one wish.
		if (press.repeat) return "none";
		if (press.key === "Escape") return "stop";
		return press.shiftKey || press.altKey ? "none" : "send";
	}
}
