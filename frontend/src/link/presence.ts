import type { Link } from "./link";

const REPEAT_MS = 60_000;
const IDLE_MS = 10 * 60_000;

/**
 * Reports whether a person is at this page. Active means visible with keyboard or pointer activity
 * just now (SP-PRES-10); repeated at most once a minute (SP-PRES-11); inactive at once when the page
 * goes to the background, and ten minutes after the last activity (SP-PRES-12).
 */
export class PresenceReporter {
	private lastActivity = Number.NEGATIVE_INFINITY;
	private lastReport = Number.NEGATIVE_INFINITY;
	private reported = false;
	private idle: ReturnType<typeof setTimeout> | undefined;

	constructor(
		private readonly report: (active: boolean) => void,
		private readonly visible: () => boolean,
		private readonly now: () => number = Date.now,
	) {}

	activity(): void {
		if (!this.visible()) return;
		this.lastActivity = this.now();
		clearTimeout(this.idle);
		this.idle = setTimeout(() => this.leave(), IDLE_MS);
		if (!this.reported || this.now() - this.lastReport >= REPEAT_MS) this.tell(true);
	}

	visibility(): void {
		if (!this.visible()) this.leave();
	}

	/** A new connection knows nothing of earlier reports (SP-APPR-13). */
	connected(): void {
		this.reported = false;
		if (this.visible() && this.now() - this.lastActivity < IDLE_MS) this.tell(true);
	}

	stop(): void {
		clearTimeout(this.idle);
	}

	private leave(): void {
		clearTimeout(this.idle);
		if (this.reported) this.tell(false);
	}

	private tell(active: boolean): void {
		this.reported = active;
		this.lastReport = this.now();
		this.report(active);
	}
}

const EVENTS = ["pointerdown", "pointermove", "keydown", "wheel", "touchstart"] as const;

/** Connects a reporter to a page and a link; the result takes it off again. */
export function watchPresence(link: Link, page: Window = window): () => void {
	const reporter = new PresenceReporter(
		(active) => {
			// A report that gets lost is made again after the next handshake.
			link.call("presence/update", { active }).catch(() => undefined);
		},
		() => page.document.visibilityState === "visible",
	);
	const activity = () => reporter.activity();
	const visibility = () => reporter.visibility();
	for (const name of EVENTS)
		page.addEventListener(name, activity, { passive: true, capture: true });
	page.document.addEventListener("visibilitychange", visibility);
	const off = link.onOpen(() => reporter.connected());
	return () => {
		off();
		reporter.stop();
		for (const name of EVENTS) page.removeEventListener(name, activity, { capture: true });
		page.document.removeEventListener("visibilitychange", visibility);
	};
}
