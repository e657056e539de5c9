import {
	ErrorFrameSchema,
	NotificationFrameSchema,
	ResultFrameSchema,
	type SessionMethodName,
	type SessionMethodResult,
	type SessionNotificationName,
	type SessionNotificationParams,
	sessionMethods,
	sessionNotifications,
} from "@/contract/session.gen";

/** A push, told apart by `method`. */
export type Push = {
	[N in SessionNotificationName]: { method: N; params: SessionNotificationParams<N> };
}[SessionNotificationName];

export type Incoming =
	| { type: "result"; id: string | number; result: unknown }
	| { type: "error"; id: string | number | null; code: number; message: string; reason?: string }
	| { type: "push"; push: Push }
	/** A frame of a newer server that this client has no word for. Nothing is drawn. */
	| { type: "unknown"; method: string };

const itemKinds = new Set<string>([
	"user-message",
	"agent-message",
	"reasoning",
	"tool-call",
	"notice",
	"plan",
	"usage",
	"turn",
	"queue",
]);

const isRecord = (value: unknown): value is Record<string, unknown> =>
	typeof value === "object" && value !== null && !Array.isArray(value);

const isKnownItem = (value: unknown): boolean =>
	!isRecord(value) || typeof value.kind !== "string" || itemKinds.has(value.kind);

/**
 * Reads one frame. Undefined means it is no frame of this protocol. A kind of item that only a newer
 * server knows is left out rather than failing the frame around it.
 */
export function decode(text: string): Incoming | undefined {
	let frame: unknown;
	try {
		frame = JSON.parse(text);
	} catch {
		return undefined;
	}
	if (!isRecord(frame)) return undefined;
	if ("method" in frame && !("id" in frame)) return decodePush(frame);
	if ("error" in frame) {
		const parsed = ErrorFrameSchema.safeParse(frame);
		if (!parsed.success) return decodeForeignError(frame);
		const { code, message, data } = parsed.data.error;
		return {
			type: "error",
			id: parsed.data.id ?? null,
			code,
			message,
			...(data ? { reason: data.code } : {}),
		};
	}
	const parsed = ResultFrameSchema.safeParse(frame);
	if (!parsed.success) return undefined;
	return { type: "result", id: parsed.data.id, result: parsed.data.result };
}

// An error whose reason a newer server has added still ends the request that waits for it.
function decodeForeignError(frame: Record<string, unknown>): Incoming | undefined {
	if (!isRecord(frame.error) || typeof frame.error.code !== "number") return undefined;
	const id = typeof frame.id === "string" || typeof frame.id === "number" ? frame.id : null;
	return { type: "error", id, code: frame.error.code, message: String(frame.error.message ?? "") };
}

function decodePush(frame: Record<string, unknown>): Incoming | undefined {
	const parsed = NotificationFrameSchema.safeParse(frame);
	if (!parsed.success) return undefined;
	const { method, params } = parsed.data;
	if (!(method in sessionNotifications)) return { type: "unknown", method };
	if (isRecord(params) && "item" in params && !isKnownItem(params.item)) {
		return { type: "unknown", method };
	}
	const body = sessionNotifications[method as SessionNotificationName].safeParse(params);
	if (!body.success) return undefined;
	return { type: "push", push: { method, params: body.data } as Push };
}

/** Checks a result against the contract; undefined when it does not fit. */
export function decodeResult<M extends SessionMethodName>(
	method: M,
	result: unknown,
): SessionMethodResult<M> | undefined {
	const known =
		isRecord(result) && Array.isArray(result.items) && method !== "session/config/get"
			? { ...result, items: result.items.filter(isKnownItem) }
			: result;
	const parsed = sessionMethods[method].result.safeParse(known);
	return parsed.success ? (parsed.data as SessionMethodResult<M>) : undefined;
}
