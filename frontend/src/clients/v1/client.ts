import {
	type ApprovalDecisionRequest,
	type ApprovalDecisionResponse,
	type CancelResponse,
	type CapabilitiesResponse,
	type CreateSessionRequest,
	type CreateSessionResponse,
	type ErrorBody,
	type ExecutionReceipt,
	type HealthResponse,
	type MeResponse,
	PROTOCOL_PREFIX,
	type ProjectListResponse,
	type SendMessageResponse,
	type SessionDetailResponse,
	type SessionListResponse,
	type V1Event,
} from "./protocol.gen";
import { type FollowOptions, follow } from "./stream";

/** Where the server is, and who asks. */
export interface ClientOptions {
	/** The server's address, such as http://127.0.0.1:7010; "" in a page that comes from it. */
	url: string;
	/** A desktop token; without one the browser's cookie speaks for the person. */
	token?: string;
	/** Instead of the global fetch. */
	fetch?: typeof fetch;
}

/** An answer that says no, as the server words it. */
export class ApiError extends Error {
	override readonly name = "ApiError";
	readonly status: number;
	/** What the server said; absent when the answer was not of this protocol (a proxy's, say). */
	readonly body: ErrorBody | undefined;

	constructor(status: number, body?: ErrorBody) {
		super(body ? `${body.code}: ${body.message}` : `the server answered ${status}`);
		this.status = status;
		this.body = body;
	}

	/** Whether the same request may do better later. */
	get retryable(): boolean {
		return this.body?.retryable ?? (this.status >= 500 || this.status === 429);
	}
}

/** A key that makes a request repeatable: the same key has its effect once. */
export const newKey = (): string => crypto.randomUUID();

type Query = Record<string, string | number | undefined>;

/** Speaks /v1 with one server. Requests throw ApiError, or what fetch throws when there is no line. */
export class Client {
	readonly #url: string;
	readonly #token: string | undefined;
	readonly #fetch: typeof fetch;

	constructor(options: ClientOptions) {
		this.#url = options.url.replace(/\/+$/, "");
		this.#token = options.token;
		this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
	}

	/** Whether the server is well; it answers in this shape with status 503 too. */
	async health(signal?: AbortSignal): Promise<HealthResponse> {
		const answer = await this.#send("GET", "/health", signal);
		if (!answer.ok && answer.status !== 503) throw await failure(answer);
		return answer.json();
	}

	/** Who asks. The first call of a client. */
	me(signal?: AbortSignal): Promise<MeResponse> {
		return this.#get("/me", {}, signal);
	}

	projects(signal?: AbortSignal): Promise<ProjectListResponse> {
		return this.#get("/projects", {}, signal);
	}

	/** Sessions by last activity; `cursor` is the `nextCursor` of the page before. */
	sessions(
		query: { projectId?: string; limit?: number; cursor?: string } = {},
		signal?: AbortSignal,
	): Promise<SessionListResponse> {
		return this.#get("/sessions", query, signal);
	}

	createSession(request: CreateSessionRequest = {}, signal?: AbortSignal) {
		return this.#post<CreateSessionResponse>("/sessions", request, signal);
	}

	/** A session with its newest messages; its `lastSeq` is where `events` goes on. */
	session(id: string, query: { limit?: number } = {}, signal?: AbortSignal) {
		return this.#get<SessionDetailResponse>(`/sessions/${encodeURIComponent(id)}`, query, signal);
	}

	/** What she can do; in a session, what she can do there. */
	capabilities(query: { sessionId?: string } = {}, signal?: AbortSignal) {
		return this.#get<CapabilitiesResponse>("/capabilities", query, signal);
	}

	/** How an execution went. Look here, and never repeat a write, when its errorKind is unknown. */
	execution(id: string, signal?: AbortSignal) {
		return this.#get<ExecutionReceipt>(`/executions/${encodeURIComponent(id)}`, {}, signal);
	}

	/**
	 * Says something. The answer is that it is kept; everything else comes by the events. Repeat a
	 * request whose answer was lost with the same key; a person who tries again gets a new one.
	 */
	send(session: string, text: string, idempotencyKey = newKey(), signal?: AbortSignal) {
		const path = `/sessions/${encodeURIComponent(session)}/messages`;
		return this.#post<SendMessageResponse>(path, { text, idempotencyKey }, signal);
	}

	/** Stops the run that is going on; harmless when none is. */
	cancel(session: string, signal?: AbortSignal) {
		const path = `/sessions/${encodeURIComponent(session)}/cancel`;
		return this.#post<CancelResponse>(path, undefined, signal);
	}

	/** Answers an approval. With the result `expired` nothing was done: ask the person anew. */
	decide(approval: string, request: ApprovalDecisionRequest, signal?: AbortSignal) {
		const path = `/approvals/${encodeURIComponent(approval)}`;
		return this.#post<ApprovalDecisionResponse>(path, request, signal);
	}

	/** Every event of a session once, for ever; see `follow`. */
	events(session: string, options: FollowOptions = {}): AsyncGenerator<V1Event, void, undefined> {
		const path = `/sessions/${encodeURIComponent(session)}/events`;
		const connect = async (after: number, signal: AbortSignal) => {
			const answer = await this.#send("GET", path, signal, undefined, {
				Accept: "text/event-stream",
				"Last-Event-ID": String(after),
			});
			if (!answer.ok) throw await failure(answer);
			return answer;
		};
		return follow(connect, (error) => error instanceof ApiError && !error.retryable, options);
	}

	async #get<T>(path: string, query: Query, signal?: AbortSignal): Promise<T> {
		const search = new URLSearchParams();
		for (const [name, value] of Object.entries(query))
			if (value !== undefined) search.set(name, String(value));
		const answer = await this.#send("GET", search.size ? `${path}?${search}` : path, signal);
		if (!answer.ok) throw await failure(answer);
		return answer.json();
	}

	async #post<T>(path: string, body: unknown, signal?: AbortSignal): Promise<T> {
		const answer = await this.#send("POST", path, signal, body);
		if (!answer.ok) throw await failure(answer);
		return answer.json();
	}

	#send(
		method: "GET" | "POST",
		path: string,
		signal?: AbortSignal,
		body?: unknown,
		headers: Record<string, string> = {},
	): Promise<Response> {
		const init: RequestInit = { method, headers, credentials: "same-origin" };
		if (this.#token !== undefined) headers.Authorization = `Bearer ${this.#token}`;
		if (signal) init.signal = signal;
		if (body !== undefined) {
			headers["Content-Type"] = "application/json";
			init.body = JSON.stringify(body);
		}
		return this.#fetch(this.#url + PROTOCOL_PREFIX + path, init);
	}
}

/** The error of an answer, whatever its body is. */
async function failure(answer: Response): Promise<ApiError> {
	try {
		const { error } = await answer.json();
		if (typeof error?.code === "string" && typeof error.message === "string")
			return new ApiError(answer.status, error);
	} catch {
		// no JSON: not an answer of this protocol
	}
	return new ApiError(answer.status);
}
