import type { Approval, ApprovalSettlement } from "@/contract/session.gen";

/** An approval that waits for a word, and what became of our answer to it. */
export interface PendingApproval {
	readonly approval: Approval;
	readonly answer: "none" | "sending" | "taken" | "refused";
	/** Why the server did not take the answer. */
	readonly message?: string;
}

export interface ApprovalsState {
	/** Oldest first. Only what the server says is pending. */
	readonly pending: ReadonlyMap<string, PendingApproval>;
	/** How approvals ended that were seen pending here; the cards of history carry their own. */
	readonly settled: ReadonlyMap<string, ApprovalSettlement>;
}

export type ApprovalsAction =
	| { type: "requested"; approval: Approval }
	/** A snapshot tells everything that is pending in one session. */
	| { type: "snapshot"; sessionId: string; approvals: Approval[] }
	| { type: "settled"; id: string; settlement: ApprovalSettlement }
	| { type: "answering"; id: string }
	| { type: "answered"; id: string }
	| { type: "refused"; id: string; message: string; gone: boolean }
	/** A new connection is told anew what is pending. */
	| { type: "reset" }
	| { type: "session-removed"; sessionId: string };

export const emptyApprovals: ApprovalsState = { pending: new Map(), settled: new Map() };

export function reduceApprovals(state: ApprovalsState, action: ApprovalsAction): ApprovalsState {
	switch (action.type) {
		case "requested":
			return requested(state, action.approval);
		case "snapshot": {
			const kept = [...state.pending].filter(
				([id, { approval }]) =>
					approval.sessionId !== action.sessionId ||
					action.approvals.some((other) => other.id === id),
			);
			const rest: ApprovalsState = { ...state, pending: new Map(kept) };
			return action.approvals.reduce(requested, rest);
		}
		case "settled":
			return settle(state, action.id, action.settlement);
		case "answering":
			return update(state, action.id, { answer: "sending" });
		case "answered":
			return update(state, action.id, { answer: "taken" });
		case "refused":
			return action.gone
				? { ...state, pending: withoutKey(state.pending, action.id) }
				: update(state, action.id, { answer: "refused", message: action.message });
		case "reset":
			return { ...state, pending: new Map() };
		case "session-removed":
			return {
				...state,
				pending: new Map(
					[...state.pending].filter(([, { approval }]) => approval.sessionId !== action.sessionId),
				),
			};
	}
}

// Spec SP-APPR-09: an approval that is sent again is still one approval. One that is settled stays so:
// its settlement may overtake a snapshot that was read before it.
function requested(state: ApprovalsState, approval: Approval): ApprovalsState {
	if (approval.state !== "pending" || state.settled.has(approval.id)) return state;
	const known = state.pending.get(approval.id);
	const next: PendingApproval = known ? { ...known, approval } : { approval, answer: "none" };
	return { ...state, pending: new Map(state.pending).set(approval.id, next) };
}

function settle(state: ApprovalsState, id: string, settlement: ApprovalSettlement): ApprovalsState {
	if (!state.pending.has(id) && state.settled.has(id)) return state;
	return {
		pending: withoutKey(state.pending, id),
		settled: new Map(state.settled).set(id, settlement),
	};
}

function update(state: ApprovalsState, id: string, part: Partial<PendingApproval>): ApprovalsState {
	const known = state.pending.get(id);
	if (!known) return state;
	return { ...state, pending: new Map(state.pending).set(id, { ...known, ...part }) };
}

function withoutKey<V>(map: ReadonlyMap<string, V>, key: string): ReadonlyMap<string, V> {
	if (!map.has(key)) return map;
	const next = new Map(map);
	next.delete(key);
	return next;
}

/** What still waits for a person, oldest first. An answer the server took no longer waits. */
export const waitingApprovals = (state: ApprovalsState): PendingApproval[] =>
	[...state.pending.values()].filter((pending) => pending.answer !== "taken");
