import { useSyncExternalStore } from "react";

/** What screen readers are told. Polite waits for a pause; assertive is for what waits for a person. */
const said = { polite: "", assertive: "" };
const listeners = new Set<() => void>();

export function announce(text: string, how: keyof typeof said = "polite"): void {
	// The same sentence twice in a row is only read when the text differs.
	said[how] = said[how] === text ? `${text}\u{A0}` : text;
	for (const listener of listeners) listener();
}

const subscribe = (listener: () => void) => {
	listeners.add(listener);
	return () => listeners.delete(listener);
};

export function LiveRegions() {
	const polite = useSyncExternalStore(subscribe, () => said.polite);
	const assertive = useSyncExternalStore(subscribe, () => said.assertive);
	return (
		<>
			<div aria-live="polite" className="sr-only">
				{polite}
			</div>
			<div role="alert" aria-live="assertive" className="sr-only">
				{assertive}
			</div>
		</>
	);
}
