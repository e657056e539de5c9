/**
 * Messages on their way. The server's copy is the truth; an entry lives until the item or the queue
 * entry that carries its clientId back has been seen, or the server said no. The clientId makes a
 * repeated request the same message (FAIL-A17, FAIL-A20).
 */
export interface OutboxEntry {
	readonly clientId: string;
	readonly text: string;
	/** The names of what goes with it. */
	readonly files?: readonly string[];
	/** The page that had the files has been left: it cannot be sent any more. */
	readonly lost?: true;
	readonly at: number;
	/** `sent`: acknowledged, its item is about to arrive. `failed`: only a person decides what next. */
	readonly state: "sending" | "sent" | "failed";
	readonly message?: string;
}

export type OutboxAction =
	| { type: "add"; entry: OutboxEntry }
	| { type: "sending"; clientId: string }
	| { type: "sent"; clientId: string }
	| { type: "failed"; clientId: string; message: string }
	| { type: "discard"; clientId: string }
	| { type: "seen"; clientIds: ReadonlySet<string> };

export function reduceOutbox(
	entries: readonly OutboxEntry[],
	action: OutboxAction,
): readonly OutboxEntry[] {
	switch (action.type) {
		case "add":
			return entries.some((entry) => entry.clientId === action.entry.clientId)
				? entries
				: [...entries, action.entry];
		case "sending":
		case "sent":
			return change(entries, action.clientId, (entry) => {
				const { message: _, ...rest } = entry;
				return { ...rest, state: action.type };
			});
		case "failed":
			return change(entries, action.clientId, (entry) => ({
				...entry,
				state: "failed",
				message: action.message,
			}));
		case "discard":
			return entries.filter((entry) => entry.clientId !== action.clientId);
		case "seen":
			return entries.some((entry) => action.clientIds.has(entry.clientId))
				? entries.filter((entry) => !action.clientIds.has(entry.clientId))
				: entries;
	}
}

function change(
	entries: readonly OutboxEntry[],
	clientId: string,
	next: (entry: OutboxEntry) => OutboxEntry,
): readonly OutboxEntry[] {
	return entries.map((entry) => (entry.clientId === clientId ? next(entry) : entry));
}
